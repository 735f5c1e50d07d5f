// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>

#include "plan.hpp"
#include "plan_tiers.hpp"
#include "planned.hpp"
#include "util/printable.hpp"
#include "util/private_file.hpp"

namespace hmkctl {
namespace {

using hmk::TierPlan;
using hmk::policy::Schedule;
using nlohmann::json;

struct ScheduleOptions {
  std::string file, output;
  TierOptions tiers = {};
};

Schedule found_for(const Demand& demand, const PlanInput& input, double& bound_ns) {
  hmk::policy::Forecast forecast = demand.forecast(input.capacity());
  Schedule moves = best_of(forecast);
  bound_ns = demand.bound_ns(moves);
  forecast.is_static = true;
  Schedule stays = best_of(forecast);
  return moves.cost_ns < stays.cost_ns ? moves : stays;
}

/// With the tiers as it was planned for them.
TierPlan plan_of(const PlanInput& input, const Schedule& found, const Outcome& outcome,
                 double bound_ns) {
  TierPlan plan{.made_from = input.frames.target, .machine = input.frames.context->machine};
  plan.windows = static_cast<std::uint32_t>(input.heat.windows());
  plan.window_ns = std::max<std::uint64_t>(input.heat.time_ns() / plan.windows, 1);
  plan.access_ps = static_cast<std::uint64_t>(std::llround(1000 * outcome.latency_ns));
  plan.bound_ps = static_cast<std::uint64_t>(std::llround(1000 * bound_ns));
  plan.mappings = planned(input.heat.pieces(), found, input.frames.context->mappings);
  return plan;
}

double bytes_in(const TierPlan& plan) {
  double bytes = 0;
  for (const hmk::PlannedMapping& mapping : plan.mappings)
    for (const hmk::PlannedPiece& piece : mapping.pieces)
      bytes += static_cast<double>(piece.length);
  return bytes;
}

std::size_t pieces_in(const TierPlan& plan) {
  return std::accumulate(
      plan.mappings.begin(), plan.mappings.end(), std::size_t{0},
      [](std::size_t sum, const hmk::PlannedMapping& one) { return sum + one.pieces.size(); });
}

json answer_of(const PlanInput& input, const TierPlan& plan, const Outcome& outcome,
               double bound_ns) {
  const auto pieces = input.heat.pieces();
  const double all = std::accumulate(
      pieces.begin(), pieces.end(), 0.0,
      [](double sum, const auto& piece) { return sum + static_cast<double>(piece.length); });
  json placements = json::array();
  placements.push_back(
      placement_row("first touch",
                    outcome_row(first_touch(pieces, input.capacity(), input.latency())), bound_ns));
  if (json row = as_recorded_row(input); !row.is_null())
    placements.push_back(placement_row("as recorded", std::move(row), bound_ns));
  placements.push_back(placement_row("as scheduled", outcome_row(outcome), bound_ns));
  return {{"tiers", tier_rows(input.tiers)},
          {"bound_ns", bound_ns},
          {"placements", placements},
          {"windows", plan.windows},
          {"window_ns", plan.window_ns},
          {"move_ns", input.page_ns},
          {"mappings", plan.mappings.size()},
          {"pieces", pieces_in(plan)},
          {"named_percent", 100 * bytes_in(plan) / all}};
}

void print_schedule(const json& answer) {
  const auto text = [&](const char* key, Unit unit) { return to_text(answer.at(key), unit); };
  std::printf(
      "%s (PID %d): %d windows of %s\n\n%s\n%s\nNo placement that changes between windows takes "
      "less than %s an access.\n",
      hmk::printable(answer["comm"].get<std::string>()).c_str(), answer["pid"].get<int>(),
      answer["windows"].get<int>(), text("window_ns", Unit::ns).c_str(),
      to_text(answer, {tier_table()}).c_str(), to_text(answer, {placement_table()}).c_str(),
      text("bound_ns", Unit::ns).c_str());
  if (answer["named_percent"].get<double>() < 99.995)
    std::printf("%s of the memory lies in known mappings; the rest is not in the plan.\n",
                text("named_percent", Unit::percent).c_str());
  if (!answer["file"].is_null())
    std::printf("%s has the plan: %d pieces of %d mappings.\n",
                hmk::printable(answer["file"].get<std::string>()).c_str(),
                answer["pieces"].get<int>(), answer["mappings"].get<int>());
}

int run_schedule(const Context& context, const ScheduleOptions& options) {
  const auto input = plan_input(options.file, options.tiers);
  if (!input) return fail(context, input.error());
  const Demand demand = input->demand();
  double bound_ns = 0;
  Schedule found;
  try {
    found = found_for(demand, *input, bound_ns);
  } catch (const std::invalid_argument& problem) {
    return fail_to_fit(context, problem);
  }
  const Outcome outcome = demand.outcome(found);
  const TierPlan plan = plan_of(*input, found, outcome, bound_ns);
  if (plan.mappings.empty())
    return fail(context, hmk::Error{options.file + ": holds no mappings, so no other run can know "
                                                   "the memory again",
                                    "record again, as the owner of the process or root"});
  if (!options.output.empty())
    if (const auto done = hmk::replace_private_file(options.output, hmk::encode(plan)); !done)
      return fail(context, done.error());
  json answer = answer_of(*input, plan, outcome, bound_ns);
  answer.update(about(input->frames, input->heat));
  answer["file"] = options.output.empty() ? json() : json(options.output);
  return tell(context, answer, print_schedule);
}

}  // namespace

Run make_plan_schedule(CLI::App& verb) {
  auto options = std::make_shared<ScheduleOptions>();
  verb.add_option("FILE", options->file, "what 'hmkctl record' has written")->required();
  verb.add_option("-o,--output", options->output,
                  "write the plan to this file (default: only what it promises is shown)");
  add_tier_options(verb, options->tiers);
  add_move_cost(verb, options->tiers);
  return [options](const Context& context) { return run_schedule(context, *options); };
}

}  // namespace hmkctl

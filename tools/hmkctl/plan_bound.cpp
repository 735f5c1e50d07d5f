// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "plan.hpp"
#include "plan_tiers.hpp"
#include "util/printable.hpp"

namespace hmkctl {
namespace {

using hmk::policy::Schedule;
using nlohmann::json;

struct BoundOptions {
  std::string file;
  TierOptions tiers = {};
};

/// What an access could take less on average with a GiB more of tier 1 all the time, at most.
double worth_of_a_gib(const Schedule& best, const hmk::policy::Forecast& forecast,
                      const Demand& demand, double fastest_ns) {
  double worth = 0;  // of a byte
  for (std::uint32_t w = 0; w < forecast.windows; ++w) worth += best.worth_ns[forecast.cell(w, 0)];
  return std::min(worth * kGiB / demand.accesses(),
                  std::max(demand.bound_ns(best) - fastest_ns, 0.0));
}

json answer_of(const PlanInput& input) {
  const Demand demand = input.demand();
  hmk::policy::Forecast forecast = demand.forecast(input.capacity());
  const Schedule moves = best_of(forecast);
  const double worth = worth_of_a_gib(moves, forecast, demand, input.tiers[0].latency_ns);
  forecast.is_static = true;
  const Schedule stays = best_of(forecast);
  const double bound = demand.bound_ns(moves);
  json placements = json::array();
  const auto add = [&](const char* name, json row) {
    if (!row.is_null()) placements.push_back(placement_row(name, std::move(row), bound));
  };
  add("as recorded", as_recorded_row(input));
  add("best that stays", outcome_row(demand.outcome(stays)));
  add("best that moves",
      outcome_row(demand.outcome(moves.cost_ns < stays.cost_ns ? moves : stays)));
  return {{"tiers", tier_rows(input.tiers)},
          {"bytes", std::llround(demand.bytes())},
          {"bound_ns", bound},
          {"next_gib_ns", worth},
          {"unknown_percent", 100 * input.lay.unknown() / demand.accesses()},
          {"placements", placements}};
}

void print_bound(const json& answer) {
  const auto text = [&](const char* key, Unit unit) { return to_text(answer.at(key), unit); };
  const json window = answer.at("time_ns").get<double>() / answer.at("windows").get<double>();
  std::printf(
      "%s (PID %d): %s, %s in windows of %s\n\n%s\n%s\nNo placement that changes between windows "
      "takes less than %s an access; another GiB of tier 1 would save at most %s of it.\n",
      hmk::printable(answer["comm"].get<std::string>()).c_str(), answer["pid"].get<int>(),
      text("bytes", Unit::bytes).c_str(), text("time_ns", Unit::ns).c_str(),
      to_text(window, Unit::ns).c_str(), to_text(answer, {tier_table()}).c_str(),
      to_text(answer, {placement_table()}).c_str(), text("bound_ns", Unit::ns).c_str(),
      text("next_gib_ns", Unit::ns).c_str());
  if (answer["unknown_percent"].get<double>() >= 0.01)
    std::printf("%s of the accesses were to memory on nodes of no tier.\n",
                text("unknown_percent", Unit::percent).c_str());
}

int run_bound(const Context& context, const BoundOptions& options) {
  const auto input = plan_input(options.file, options.tiers);
  if (!input) return fail(context, input.error());
  json answer;
  try {
    answer = answer_of(*input);
  } catch (const std::invalid_argument& problem) {
    return fail_to_fit(context, problem);
  }
  answer.update(about(input->frames, input->heat));
  answer.update({{"windows", input->heat.windows()}, {"move_ns", input->page_ns}});
  return tell(context, answer, print_bound);
}

}  // namespace

Run make_plan_bound(CLI::App& verb) {
  auto options = std::make_shared<BoundOptions>();
  verb.add_option("FILE", options->file, "what 'hmkctl record' has written")->required();
  add_tier_options(verb, options->tiers);
  add_move_cost(verb, options->tiers);
  return [options](const Context& context) { return run_bound(context, *options); };
}

}  // namespace hmkctl

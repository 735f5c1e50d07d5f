// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "config/pins.hpp"
#include "pin_choice.hpp"
#include "plan.hpp"
#include "plan_tiers.hpp"
#include "planned.hpp"
#include "util/printable.hpp"

namespace hmkctl {
namespace {

using hmk::policy::Schedule;
using nlohmann::json;

struct PinsOptions {
  std::string file;
  TierOptions tiers = {};
  std::size_t most = 16;
};

Schedule best_that_stays(const PlanInput& input, const Demand& demand) {
  hmk::policy::Forecast forecast = demand.forecast(input.capacity());
  forecast.is_static = true;
  return best_of(forecast);
}

json pin_rows(const std::vector<ChosenPin>& pins, double accesses) {
  json rows = json::array();
  for (const ChosenPin& one : pins)
    rows.push_back({{"pin", to_string(one.pin)},
                    {"yaml", yaml_item(one.pin)},
                    {"tier", one.pin.tier + 1},
                    {"bytes", std::llround(one.bytes)},
                    {"accesses_percent", 100 * one.accesses / accesses},
                    {"saves_ns", one.saves_ns / accesses},
                    {"is_address", one.pin.mapping.empty()}});
  return rows;
}

json placement(const char* name, json row, double best_ns) {
  row = placement_row(name, std::move(row), best_ns);
  row.erase("moved_bytes");
  return row;
}

json answer_of(const PlanInput& input, std::size_t most) {
  const Demand demand = input.demand();
  const Schedule best = best_that_stays(input, demand);
  const auto pieces = input.heat.pieces();
  const PinSource source{pieces, best, input.frames.context->mappings, input.frames.target};
  const auto pins = chosen_pins(source, input.capacity(), input.latency(), most);
  const Outcome stays = demand.outcome(best);
  json placements = json::array();
  const auto add = [&](const char* name, json row) {
    if (!row.is_null()) placements.push_back(placement(name, std::move(row), stays.latency_ns));
  };
  add("first touch", outcome_row(first_touch(pieces, input.capacity(), input.latency())));
  add("as recorded", as_recorded_row(input));
  add("as pinned", outcome_row(as_pinned(source, pins, input.capacity(), input.latency())));
  add("best that stays", outcome_row(stays));
  return {{"tiers", tier_rows(input.tiers)},
          {"bytes", std::llround(demand.bytes())},
          {"pins", pin_rows(pins, demand.accesses())},
          {"placements", placements}};
}

const Table& pinned_table() {
  static const Table kTable{"placements",
                            {{"placement", "PLACEMENT"},
                             {"latency_ns", "LATENCY", Unit::ns},
                             {"of_best_percent", "OF BEST THAT STAYS", Unit::percent},
                             {"tier1_percent", "BY TIER 1", Unit::percent}}};
  return kTable;
}

/// What can be written into hmkd.yaml as it stands.
void print_pins(const json& answer) {
  const json& pins = answer["pins"];
  if (pins.empty()) return (void)std::fputs("pins: none\n", stdout);
  std::size_t width = 0;
  for (const json& pin : pins)
    width = std::max(width, pin["yaml"].get_ref<const std::string&>().size());
  std::fputs("pins:\n", stdout);
  for (const json& pin : pins)
    std::printf("%-*s  # %s of the accesses, %s; saves %s an access\n", static_cast<int>(width),
                pin["yaml"].get_ref<const std::string&>().c_str(),
                to_text(pin["accesses_percent"], Unit::percent).c_str(),
                to_text(pin["bytes"], Unit::bytes).c_str(),
                to_text(pin["saves_ns"], Unit::ns).c_str());
  if (std::ranges::any_of(pins, [](const json& pin) { return pin["is_address"].get<bool>(); }))
    std::printf("# The addresses are of PID %d and hold as long as it runs.\n",
                answer["pid"].get<int>());
}

void print_pinning(const json& answer) {
  const auto text = [&](const char* key, Unit unit) { return to_text(answer.at(key), unit); };
  const json& pinned = *std::prev(answer["placements"].end(), 2);
  std::printf(
      "%s (PID %d): %s, %s\n\n%s\n%s\nThe pins alone come to %s of the best placement that stays; "
      "what they do not name lies by first touch.\n\n",
      hmk::printable(answer["comm"].get<std::string>()).c_str(), answer["pid"].get<int>(),
      text("bytes", Unit::bytes).c_str(), text("time_ns", Unit::ns).c_str(),
      to_text(answer, {tier_table()}).c_str(), to_text(answer, {pinned_table()}).c_str(),
      to_text(pinned.at("of_best_percent"), Unit::percent).c_str());
  print_pins(answer);
}

int run_pins(const Context& context, const PinsOptions& options) {
  const auto input = plan_input(options.file, options.tiers);
  if (!input) return fail(context, input.error());
  if (input->frames.context->mappings.empty())
    return fail(context, hmk::Error{options.file + ": holds no mappings, so nothing can be named",
                                    "record again, as the owner of the process or root"});
  json answer;
  try {
    answer = answer_of(*input, options.most);
  } catch (const std::invalid_argument& problem) {
    return fail_to_fit(context, problem);
  }
  answer.update(about(input->frames, input->heat));
  return tell(context, answer, print_pinning);
}

}  // namespace

Run make_plan_pins(CLI::App& verb) {
  auto options = std::make_shared<PinsOptions>();
  verb.add_option("FILE", options->file, "what 'hmkctl record' has written")->required();
  add_tier_options(verb, options->tiers);
  add_move_cost(verb, options->tiers);
  verb.add_option("--most", options->most, "so many pins at most (default: 16)")
      ->check(CLI::Range(1, 256));
  return [options](const Context& context) { return run_pins(context, *options); };
}

}  // namespace hmkctl

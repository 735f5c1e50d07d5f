// SPDX-License-Identifier: MIT
#include "plan_tiers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "status_line.hpp"

namespace hmkctl {

using nlohmann::json;

hmk::policy::Schedule best_of(const hmk::policy::Forecast& forecast) {
  StatusLine line;
  return hmk::policy::schedule(forecast, {.on_progress = [&](double part) {
                                 line.show("looking for the best placement: %.0f %%", 100 * part);
                               }});
}

json tier_rows(const std::vector<PlanTier>& tiers) {
  json rows = json::array();
  for (const PlanTier& tier : tiers)
    rows.push_back(
        {{"tier", rows.size() + 1},
         {"latency_ns", tier.latency_ns},
         {"bytes", std::isfinite(tier.bytes) ? json(std::llround(tier.bytes)) : json(nullptr)}});
  return rows;
}

int fail_to_fit(const Context& context, const std::invalid_argument& problem) {
  return fail(context, hmk::Error{problem.what(), "give one of them more bytes, see --tier"});
}

json placement_row(const char* name, json row, double bound_ns) {
  row["placement"] = name;
  row["of_best_percent"] = 100 * bound_ns / row["latency_ns"].get<double>();
  return row;
}

json as_recorded_row(const PlanInput& input) {
  const auto& accesses = input.lay.accesses();
  const double all = std::accumulate(accesses.begin(), accesses.end(), 0.0);
  double time_ns = 0;
  for (std::size_t i = 0; i < input.tiers.size(); ++i) {
    if (all == 0 || input.lay.peak()[i] > input.tiers[i].bytes) return nullptr;
    time_ns += accesses[i] * input.tiers[i].latency_ns;
  }
  return {
      {"latency_ns", time_ns / all},
      {"tier1_percent", 100 * accesses[0] / all},
      {"moved_bytes", input.frames.tells_moves ? json(4096 * input.lay.moved_pages()) : json()}};
}

json outcome_row(const Outcome& outcome) {
  return {{"latency_ns", outcome.latency_ns},
          {"tier1_percent", 100 * outcome.shares[0]},
          {"moved_bytes", std::llround(outcome.moved_bytes)}};
}

const Table& tier_table() {
  static const Table kTable{
      "tiers",
      {{"tier", "TIER"}, {"latency_ns", "LATENCY", Unit::ns}, {"bytes", "BYTES", Unit::bytes}}};
  return kTable;
}

const Table& placement_table() {
  static const Table kTable{"placements",
                            {{"placement", "PLACEMENT"},
                             {"latency_ns", "LATENCY", Unit::ns},
                             {"of_best_percent", "OF BEST POSSIBLE", Unit::percent},
                             {"tier1_percent", "BY TIER 1", Unit::percent},
                             {"moved_bytes", "MOVED", Unit::bytes}}};
  return kTable;
}

}  // namespace hmkctl

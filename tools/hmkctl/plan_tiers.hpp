// SPDX-License-Identifier: MIT
//
// The tiers that a recorded program is planned for: as recorded, or as asked for.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "as_recorded.hpp"
#include "demand.hpp"
#include "frames.hpp"
#include "recorded_heat.hpp"
#include "table.hpp"
#include "verb.hpp"

namespace hmkctl {

struct TierOptions {
  std::map<std::size_t, std::uint64_t> bytes = {};  ///< by the number of a tier, from 1
  std::map<std::size_t, hmk::Nanoseconds> latency = {};
  double page_ns = 0;  ///< 0: as recorded
};

/// --tier, --latency and --move-cost.
void add_tier_options(CLI::App& verb, TierOptions& options);

struct PlanTier {
  double latency_ns = 0;
  double bytes = 0;  ///< kNoLimit: as much as is wanted
};

/// A recording, read twice, and what it is planned for.
struct PlanInput {
  Frames frames;
  HeatPieces heat;
  AsRecorded lay;
  std::vector<PlanTier> tiers;
  double page_ns = 0;

  std::vector<double> latency() const;
  std::vector<double> capacity() const;
  Demand demand() const { return Demand(heat, latency(), page_ns); }
};

/// What is not given is as recorded: latencies, what a move takes, and the most that the process
/// had of a tier. The last tier is as large as needed.
hmk::Result<PlanInput> plan_input(const std::string& file, const TierOptions& options);

/// The memory does not fit into the tiers, as best_of() says.
int fail_to_fit(const Context& context, const std::invalid_argument& problem);

/// Shows how far it is.
hmk::policy::Schedule best_of(const hmk::policy::Forecast& forecast);

/// Rows of the answer, and how they are shown. A placement has `of_best_percent` of `bound_ns`.
nlohmann::json tier_rows(const std::vector<PlanTier>& tiers);
nlohmann::json placement_row(const char* name, nlohmann::json row, double bound_ns);
/// Without what its moves took; null without accesses to known tiers, and where it had more of a
/// tier than there is to be.
nlohmann::json as_recorded_row(const PlanInput& input);
nlohmann::json outcome_row(const Outcome& outcome);
const Table& tier_table();
const Table& placement_table();

}  // namespace hmkctl

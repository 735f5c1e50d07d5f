// SPDX-License-Identifier: MIT
//
// A recorded program and the tiers that it is planned for: as recorded, or as asked for.
//
//   TierOptions options;
//   add_tier_options(verb, options);
//   const hmk::Result<PlanInput> input = plan_input("run.hmkrec", options);
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "as_recorded.hpp"
#include "demand.hpp"
#include "frames.hpp"
#include "recorded_heat.hpp"
#include "util/units.hpp"

namespace hmkctl {

struct TierOptions {
  std::map<std::size_t, std::uint64_t> bytes = {};  ///< by the number of a tier, from 1
  std::map<std::size_t, hmk::Nanoseconds> latency = {};
  double page_ns = 0;  ///< 0: as recorded
};

/// --tier and --latency.
void add_tier_options(CLI::App& verb, TierOptions& options);
void add_move_cost(CLI::App& verb, TierOptions& options);

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

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
//
// Runs profilers over a scenario and compares what they report with the truth.
//
//   nlohmann::ordered_json list = run({.scenario = s, .layout = l, .means = m}, names);
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "profiler.hpp"
#include "scenario.hpp"

namespace hmk::sim {

/// Bytes found hot against bytes that are hot and bytes reported hot.
struct Score {
  double recall = 0;     // found / true; 1 when nothing is hot
  double precision = 0;  // found / reported; 0 when nothing was reported
};

Score score(const World& world, const std::vector<Range>& reported);

/// Kendall's tau-b of published against true rates, over pieces of 2 MiB: 1 when the order is
/// the true one, 0 when it is chance. What was not published counts as coldest.
double rank_correlation(const World& world, const std::vector<Estimate>& published);

struct RunOptions {
  Scenario scenario;
  Layout layout = Layout::kContiguous;
  Means means;
  std::uint32_t intervals = 0;  // 0: as many as the scenario says
  bool has_ranking = false;     // tell every region of HM-Keeper's last interval
};

/// One object per profiler; the same for the same arguments, to the byte.
nlohmann::ordered_json run(const RunOptions& options, std::span<const std::string> profilers);

}  // namespace hmk::sim

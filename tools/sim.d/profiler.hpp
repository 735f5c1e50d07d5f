// SPDX-License-Identifier: MIT
//
// A way of profiling: sees an interval of a world through accessed bits, and
// says what it takes for hot. All get the same CPU time and the same scan cost.
#pragma once

#include <hmk/core/budget.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <linux/hmk.h>

#include "world.hpp"

namespace hmk::sim {

/// What every profiler is given.
struct Means {
  std::uint64_t seed = 1;
  double interval_s = 10;
  double budget_percent = 5;
  double scan_cost_ns = 500;     // one visit of one leaf: test, clear
  double region_cost_ns = 40;    // HM-Keeper's work per region and interval beside the visits
  double flush_cost_ns = 20000;  // HM-Keeper: of the TLB, once for each group of samples
  double page_cost_ns = 8;       // HM-Keeper: of a page where every page is looked at
  unsigned num_scans = 3;
  unsigned leaf_shift = 12;
  unsigned aim_percent = HMK_BUDGET_AIM_PERCENT;  // share of its budget HM-Keeper plans with
  std::uint32_t num_ps = 0;          // HM-Keeper: forced number of samples; 0: from the budget
  bool equal_windows = false;        // HM-Keeper: chapter 8's windows instead of the ladder
  std::uint32_t switches = 0;        // HM-Keeper: HMK_SWITCH_* (HK-68)
  unsigned damon_samples = 3;        // DAMON: sampling intervals per aggregation interval
  unsigned damon_hot_percent = 50;   // DAMON: share of the samples that makes a region hot
  unsigned damon_regions_ratio = 4;  // DAMON: most regions allowed over least

  double budget_ns() const { return interval_s * 1e9 * budget_percent / 100; }
  /// Visits of a leaf the budget pays for.
  std::uint64_t visits() const { return static_cast<std::uint64_t>(budget_ns() / scan_cost_ns); }
  /// Time between two scans of a sample: the last ends 1/16 before the interval does.
  double window_s() const { return interval_s * 15 / 16 / num_scans; }
  /// Leaves that can be watched: cleared once, then read num_scans times.
  std::uint64_t watched_leaves() const { return visits() / (num_scans + 1); }
};

/// Memory and how hot it was published to be.
struct Estimate {
  std::uint64_t start = 0, end = 0;
  int rate_q8 = 0;  // log2 of the accesses per leaf and second, 8 fraction bits
};

/// What one interval gave.
struct Outcome {
  std::vector<Range> hot;  // what the profiler reports, in address order
  std::uint64_t regions = 0;
  std::uint64_t samples = 0;
  double profiling_ns = 0;
  std::uint64_t state_bytes = 0;

  // HM-Keeper only.
  std::vector<Estimate> rates;    // in address order
  std::vector<hmk_record> table;  // as hmk.ko publishes it; of a world with a census only
  std::uint32_t hotness_max = 0;  // of the table
  std::uint64_t flushes = 0;
  bool dense = false;             // every page was read
  std::uint64_t dense_bytes = 0;  // of the state: what is kept of all pages
  std::uint64_t num_ps = 0, quota_sum = 0, quota_room = 0;
  double tau1 = 0;
  bool degraded = false;
  std::uint64_t splits = 0, merges = 0;
};

class Profiler {
 public:
  virtual ~Profiler() = default;
  virtual std::string_view name() const = 0;
  virtual std::uint64_t bytes_per_region() const = 0;
  virtual Outcome step(const World& world, std::uint32_t interval) = 0;
  /// From the next step on; nothing where the budget is not a profiler's own.
  virtual void set_budget(double /*percent*/) {}
};

std::unique_ptr<Profiler> make_hm_keeper(const Means& means);
std::unique_ptr<Profiler> make_damon(const Means& means);
std::unique_ptr<Profiler> make_random_window(const Means& means);
std::unique_ptr<Profiler> make_thermostat(const Means& means);

const std::vector<std::string>& profiler_names();
/// Throws std::invalid_argument for an unknown name.
std::unique_ptr<Profiler> make_profiler(std::string_view name, const Means& means);

}  // namespace hmk::sim

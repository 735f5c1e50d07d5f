// SPDX-License-Identifier: MIT
//
// What a move is worth and what it costs, in nanoseconds of the application,
// from the latencies and bandwidths of the tiers.
//
//   const GainModel model(tiers, params);
//   if (model.saved_ns(whi, bytes, 3, 0) > model.cost_ns(bytes, 3, 0)) move it
//
// The profiler says how often a leaf of the page table is accessed. Two assumptions
// make misses of the caches out of it:
//  - a visit misses kMissesPerVisit times: a quarter of the lines of a page.
//  - a visit to a huge leaf is one to one of its pages.
#pragma once

#include <span>
#include <vector>

#include "policy/types.hpp"

namespace hmk::policy {

class GainModel {
 public:
  static constexpr double kMissesPerVisit = 16;
  /// Kernel work for a page, and the time the application may wait for it.
  static constexpr double kNsPerPage = 5'000;
  /// One of two alike regions is that much hotter once in 740 times. But the hottest of a tier meet
  /// the coldest of another: of many alike 1.7 % change places at 3 deviations, 14 % at 1.5.
  static constexpr double kDeviations = 3;

  /// `tiers`: by tier, fastest first. Without a latency of each of them, or when they are told in
  /// another order than their latencies', the model knows nothing: moves then cost nothing and
  /// everything that is warmer saves.
  GainModel(std::span<const TierView> tiers, const PolicyParams& params);

  bool knows() const { return knows_; }
  /// Whether `hot` is hotter than `cold` by more than kDeviations standard deviations of the
  /// difference of their rates: what chance can explain is no reason to let two regions change places.
  bool is_surely_hotter(const Heat& hot, const Heat& cold) const;
  /// Time that accesses to `bytes` take less in tier `to` than in tier `from`, over
  /// the horizon. Negative when `to` is the slower one.
  double saved_ns(const Heat& heat, Bytes bytes, std::uint32_t from, std::uint32_t to) const;
  /// Time to move them: the copy at the lesser bandwidth, and kNsPerPage each.
  double cost_ns(Bytes bytes, std::uint32_t from, std::uint32_t to) const;

 private:
  double latency_ns(std::uint32_t tier, const Heat& heat) const;

  std::vector<TierView> tiers_;
  double interval_s_;
  double horizon_;
  bool knows_;
};

/// N by itself: what may be promoted so that moving keeps within `budget_ns` of an interval.
/// Each byte is taken to need a demotion as well, and both to be copied at the least bandwidth of
/// all tiers:
///
///   N = budget / (2 * (1 / least bandwidth + kNsPerPage / page)), in whole pages
Bytes auto_limit(std::span<const TierView> tiers, double budget_ns);

}  // namespace hmk::policy

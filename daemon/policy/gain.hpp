// SPDX-License-Identifier: MIT
//
// What a move is worth and what it costs, in nanoseconds of the application,
// from the latencies and bandwidths of the tiers.
//
//   const GainModel model(tiers, params);
//   if (model.saved_ns(whi, bytes, 3, 0) > model.cost_ns(bytes, 3, 0)) move it
//
// Hotness counts the windows of an interval, num_scans of them, in which a page
// was seen accessed at all. Two assumptions make accesses out of it:
//  - visits to a page are independent of each other, so that a share p of
//    windows with a visit stands for -ln(1 - p) visits per window. Where every
//    window had one, p ends at 1023/1024, 7 visits each: the truth may be far more.
//  - a visit misses the caches kMissesPerVisit times: a quarter of the lines of
//    a page. Each page of a huge leaf counts as visited, an upper estimate.
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
  /// difference: what chance can explain is no reason to let two regions change places. A WHI is a
  /// mean of samples * num_scans looks in each of the 2 / alpha - 1 intervals it remembers.
  bool is_surely_hotter(const Heat& hot, const Heat& cold) const;
  /// Time that accesses to `bytes` take less in tier `to` than in tier `from`, over
  /// the horizon. Negative when `to` is the slower one.
  double saved_ns(const Heat& heat, Bytes bytes, std::uint32_t from, std::uint32_t to) const;
  /// Time to move them: the copy at the lesser bandwidth, and kNsPerPage each.
  double cost_ns(Bytes bytes, std::uint32_t from, std::uint32_t to) const;

 private:
  double variance(const Heat& heat) const;
  double latency_ns(std::uint32_t tier, const Heat& heat) const;

  std::vector<TierView> tiers_;
  double num_scans_;
  double intervals_;  // that WHI remembers
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

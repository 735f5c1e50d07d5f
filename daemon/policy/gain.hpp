// SPDX-License-Identifier: MIT
//
// What a move is worth and what it costs, in nanoseconds of the application,
// from the latencies and bandwidths of the tiers.
//
//   const GainModel model(tiers, params);
//   const HotnessQ16 surely = model.at_least_q16(whi, samples);
//   if (model.saved_ns(surely, bytes, 3, 0) > model.cost_ns(bytes, 3, 0)) move it
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
  static constexpr double kNsPerPage = 10'000;
  static constexpr double kDeviations = 1.5;

  /// `tiers`: by tier, fastest first. Without a latency of each of them the model
  /// knows nothing: moves then cost nothing and everything that is warmer saves.
  GainModel(std::span<const TierView> tiers, const PolicyParams& params);

  bool knows() const { return knows_; }
  /// How hot a region is at least and at most, by what its samples can tell: hotness is a mean of
  /// samples * num_scans looks in each of the 2 / alpha - 1 intervals it remembers, and chance
  /// moves it by no more than kDeviations standard deviations. Regions that are alike change places
  /// no more.
  HotnessQ16 at_least_q16(HotnessQ16 whi_q16, std::uint32_t samples) const;
  HotnessQ16 at_most_q16(HotnessQ16 whi_q16, std::uint32_t samples) const;
  /// Time that accesses to `bytes` take less in tier `to` than in tier `from`, over
  /// the horizon. Negative when `to` is the slower one.
  double saved_ns(HotnessQ16 whi_q16, Bytes bytes, std::uint32_t from, std::uint32_t to) const;
  /// Time to move them: the copy at the lesser bandwidth, and kNsPerPage each.
  double cost_ns(Bytes bytes, std::uint32_t from, std::uint32_t to) const;

 private:
  HotnessQ16 bound_q16(HotnessQ16 whi_q16, std::uint32_t samples, double deviations) const;

  std::vector<TierView> tiers_;
  double num_scans_;
  double intervals_;  // that WHI remembers
  double horizon_;
  bool knows_;
};

}  // namespace hmk::policy

// SPDX-License-Identifier: MIT
//
// What a program says of its memory takes the place of what was measured of it, before the ranking:
// the planner sees regions of another heat, and is itself as it was.
//
//   ranking.update(process, foresee(regions, expectations, horizon_s));
//
// What is said counts for the program's own share only: nothing becomes hotter than the hottest it
// was measured to have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/types.hpp"

namespace hmk::policy {

/// [start, end) of addresses, page aligned, and how often each of its pages is about to be gone
/// through from end to end; 0: not for a while.
struct Expectation {
  std::uint64_t start = 0, end = 0;
  double passes = 0;
  bool written = false;

  bool operator==(const Expectation&) const = default;
};

/// A pass reads each line of a page, and a visit misses GainModel::kMissesPerVisit of them.
inline constexpr double kVisitsPerPass = 4;
/// How well a program knows: three of these are a factor of about three.
inline constexpr std::uint16_t kToldDevQ8 = 128;

/// The regions as they are ranked: cut where `told` begins and ends. What is about to be used is as
/// hot as makes so many passes within the horizon, and no hotter than the hottest region; what is
/// not has no heat. `told` is in address order and disjoint; `regions` as for set_apart(). `scale`
/// is Measured::scale: a pass misses all its lines, however few misses a visit was found to have.
std::vector<RegionView> foresee(std::span<const RegionView> regions,
                                std::span<const Expectation> told, double horizon_s,
                                double scale = 1);

/// Of what is promoted because it is hot: kHint where `told` has it that it is about to be used.
void name_told(std::span<Move> promotions, std::span<const Expectation> told);

}  // namespace hmk::policy

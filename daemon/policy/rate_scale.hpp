// SPDX-License-Identifier: MIT
//
// Which rate a hotness stands for. Only the module knows its windows, but each record says it of
// the smoothed hotness; from enough of them it follows for any.
//
//   RateScale scale;
//   for (each record) scale.learn(record.whi_q16, record.rate_q8);
//   scale.rate_q8(record.hi_q16)
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "policy/types.hpp"

namespace hmk::policy {

class RateScale {
 public:
  void learn(HotnessQ16 hotness, std::int16_t rate_q8);
  /// log2 of the accesses a second and leaf, 8 fraction bits: on the straight line between the
  /// nearest that were learnt, beyond them the nearest. Nothing when none was.
  std::optional<std::int16_t> rate_q8(HotnessQ16 hotness) const;
  /// What the last interval alone says of a region: what is smoothed would still be warm. Where
  /// pages differ both hotnesses are means, which no rate stands for: by as much as they differ.
  Heat last_heat_of(const RegionView& region) const;

 private:
  static constexpr unsigned kStepShift = 12;  // of hotness: a sixteenth
  static constexpr std::size_t kSteps = (16u << (16 - kStepShift)) + 1;
  struct Point {
    HotnessQ16 hotness;
    std::int16_t rate_q8;
  };
  static std::size_t step_of(HotnessQ16 hotness);

  std::array<std::optional<Point>, kSteps> points_;
};

}  // namespace hmk::policy

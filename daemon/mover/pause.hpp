// SPDX-License-Identifier: MIT
//
// How long what went wrong is left alone: one interval, then two, four, at most 64.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hmk {

inline constexpr unsigned kMaxDoublings = 6;
inline constexpr std::uint64_t kLongestPause = 1ull << kMaxDoublings;  ///< intervals

/// Intervals, after it went wrong `times` times before.
inline std::uint64_t pause_after(unsigned times) {
  return 1ull << std::min(times, kMaxDoublings);
}

}  // namespace hmk

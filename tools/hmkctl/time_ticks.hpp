// SPDX-License-Identifier: MIT
//
// Round times along an axis: 0s, 10s, 20s, ...
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hmkctl {

struct TimeTick {
  double at = 0;  ///< part of the axis, 0 .. 1
  std::string label;
};

/// From 0 to `seconds`, at most `most` (at least 2) of them, the first at 0.
std::vector<TimeTick> time_ticks(double seconds, std::size_t most);

}  // namespace hmkctl

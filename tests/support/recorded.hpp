// SPDX-License-Identifier: MIT
//
// Recordings of regions of 8 MiB that lie side by side, a second an interval.
#pragma once

#include <vector>

#include "heat_pieces.hpp"
#include "support/sizes.hpp"

namespace hmk::test {

struct Heat {
  Heat(int log2_rate, int on_node = 0) : rate(log2_rate), node(on_node) {}
  int rate, node;  ///< log2 of the accesses per second and page
};

/// `seconds[frame][region]`.
inline std::vector<RecordedFrame> frames_of(const std::vector<std::vector<Heat>>& seconds) {
  std::vector<RecordedFrame> frames;
  for (std::uint64_t second = 0; second < seconds.size(); ++second) {
    RecordedFrame one{second, second * 1'000'000'000, (second + 1) * 1'000'000'000, 3};
    for (std::size_t i = 0; i < seconds[second].size(); ++i)
      one.regions.push_back({8 * kMiB * (i + 1), 8 * kMiB, 256, 256, seconds[second][i].node, 2048,
                             16 * seconds[second][i].rate});
    frames.push_back(one);
  }
  return frames;
}

inline hmkctl::HeatPieces heat_of(const std::vector<RecordedFrame>& frames) {
  hmkctl::Borders borders;
  for (const RecordedFrame& one : frames) borders.add(one);
  hmkctl::HeatPieces heat(borders, 32, frames.size());
  for (const RecordedFrame& one : frames) heat.add(one);
  return heat;
}

}  // namespace hmk::test

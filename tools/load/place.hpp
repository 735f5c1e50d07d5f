// SPDX-License-Identifier: MIT
// The oracle: a program that knows its hot pages puts them onto the fastest node itself.
//
//   const Placed placed = place(memory, hot, {.nodes = {0, 1, 2, 3}, .reserve_bytes = 24 << 20});
//
// Hot pages go to the first node; if they lack room there, just as many of the program's other
// pages leave it, to the last node that has room. Everything else stays where it is.
#ifndef HMK_LOAD_PLACE_HPP
#define HMK_LOAD_PLACE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "memory.hpp"

namespace hmk::load {

struct Move {
  std::uint64_t page;
  int node;
  bool operator==(const Move&) const = default;
};

/// Where the pages are and what room there is; pages count from the start of the memory.
struct Places {
  std::vector<int> node_of_page;
  std::vector<int> nodes;           // fastest first
  std::vector<std::uint64_t> room;  // pages free on each of `nodes` beyond the reserve
};

/// What has to move, departures first. Throws std::runtime_error if the hot pages do not fit.
std::vector<Move> plan_truth(const Places& places, const std::vector<bool>& is_hot);

struct PlaceOptions {
  std::vector<int> nodes;  // fastest first
  std::uint64_t reserve_bytes = 0;
};

struct Placed {
  std::uint64_t pages;  // that were moved
  double ms;
};

/// Places the calling process's memory. A huge page with a hot byte is hot when `page_bytes` says
/// they are huge. Throws std::runtime_error if the truth does not fit or cannot be moved.
Placed place(Range memory, const std::vector<Range>& hot, std::uint64_t page_bytes,
             const PlaceOptions& options);

}  // namespace hmk::load

#endif

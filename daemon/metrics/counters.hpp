// SPDX-License-Identifier: MIT
//
// What has been moved, between which tiers, and what refused to move and why.
// Filled by the mover, read by the reports; it decides nothing.
#pragma once

#include <linux/hmk.h>

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace hmk {

/// "pinned", "shared", ...: the names of HMK_REFUSED_*, empty beyond the known ones.
std::string_view refusal_name(unsigned reason);

/// Sums over the ranges moved from one tier to another.
struct PairCounters {
  std::uint64_t moved_bytes = 0;
  std::uint64_t ranges = 0;
};

struct MoveCounters {
  std::uint64_t promoted_bytes = 0;
  std::uint64_t demoted_bytes = 0;
  std::array<std::uint64_t, HMK_REFUSED_NR> refused_bytes{};
  std::uint64_t failed_ranges = 0;  ///< refused as a whole, by errno
  std::uint64_t failed_bytes = 0;
  std::uint64_t pages_clean = 0, pages_recopied = 0, pages_sync = 0;
  std::uint64_t chunks = 0, chunks_switched = 0;
  std::uint64_t copy_ns = 0, commit_ns = 0, commit_max_ns = 0;
  std::map<std::pair<int, int>, PairCounters> pairs;  ///< (from tier, to tier)

  struct Moved {
    bool is_promotion;
    int from_tier, to_tier;  ///< index, fastest 0; -1 not known
    std::uint64_t length;    ///< bytes asked for
  };
  void add(const Moved& what, const hmk_range_result& result);
};

/// Pages that arrived on the target node.
std::uint64_t moved_pages(const hmk_range_result& result);
std::uint64_t refused_pages(const hmk_range_result& result);

}  // namespace hmk

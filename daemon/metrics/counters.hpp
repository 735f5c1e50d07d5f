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

#include "policy/types.hpp"

namespace hmk {

/// "pinned", "shared", ...: the names of HMK_REFUSED_*, empty beyond the known ones.
std::string_view refusal_name(unsigned reason);

inline constexpr std::size_t kReasons = 10;  ///< of policy::Reason
/// "hot", "gather", "made_room", "exchange", "share", "put_back", "plan", "pin", "for_pin", "hint".
std::string_view reason_name(policy::Reason reason);

/// Sums over the ranges moved from one tier to another.
struct PairCounters {
  std::uint64_t moved_bytes = 0;
  std::uint64_t ranges = 0;
  std::array<std::uint64_t, kReasons> bytes_by_reason{};  ///< moved
  std::array<std::uint64_t, HMK_REFUSED_NR> refused_bytes{};
};

/// Bytes that stayed in a tier though they were hot there, summed over intervals.
struct StayedCounters {
  std::uint64_t no_gain_bytes = 0, no_room_bytes = 0;  ///< as planned
  std::uint64_t thrash_bytes = 0;                      ///< left alone: came back too often
  std::uint64_t backed_off_bytes = 0;                  ///< left alone: refused to move

  StayedCounters& operator+=(const StayedCounters& other) {
    no_gain_bytes += other.no_gain_bytes;
    no_room_bytes += other.no_room_bytes;
    thrash_bytes += other.thrash_bytes;
    backed_off_bytes += other.backed_off_bytes;
    return *this;
  }
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
  std::uint64_t returned_bytes = 0;                   ///< moved back within PingPong::kSoon
  std::map<std::pair<int, int>, PairCounters> pairs;  ///< (from tier, to tier)

  struct Moved {
    bool is_promotion;
    int from_tier, to_tier;  ///< index, fastest 0; -1 not known
    std::uint64_t length;    ///< bytes asked for
    policy::Reason reason;
  };
  void add(const Moved& what, const hmk_range_result& result);
};

/// Why 2 MiB were not joined into a huge page.
enum class NotJoined : std::uint8_t {
  busy,       ///< pages are pinned, locked or isolated, or the cgroup is full
  no_memory,  ///< the node has no free 2 MiB, or part of it is unmapped by now
  unfit,      ///< it may have no huge page
  denied,     ///< hmkd may not, or the kernel cannot
  gone,       ///< the process has ended
};
inline constexpr std::size_t kNotJoined = 5;  ///< of NotJoined
/// "busy", "no_memory", ...
std::string_view not_joined_name(NotJoined why);
/// Of the errno of a Collapse.
NotJoined why_not_joined(int err);

struct JoinCounters {
  std::uint64_t joined = 0;                            ///< huge pages
  std::array<std::uint64_t, kNotJoined> not_joined{};  ///< tries, by NotJoined
  std::uint64_t ns = 0, longest_ns = 0;                ///< of all tries, joined or not

  void add(int err, std::uint64_t took_ns);
};

struct PageOutCounters {
  std::uint64_t paged_out_bytes = 0;
  std::uint64_t refaults = 0;  ///< pages that came back from swap
  std::uint64_t refused = 0;   ///< calls
  std::uint64_t ns = 0;        ///< CPU time of all calls
};

/// Pages that arrived on the target node.
std::uint64_t moved_pages(const hmk_range_result& result);
std::uint64_t refused_pages(const hmk_range_result& result);

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// The values the policy works on, and nothing else: no device, no clock, no
// random source. The caller translates its own records into these.
//
//   Ranking ranking({.hotness_max = 3}, tier_nodes);
//   ranking.update(process, regions_of_this_interval);
//   Plan plan = make_plan(ranking.histogram(), tiers, params);
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <vector>

namespace hmk::policy {

using Bytes = std::uint64_t;
using NodeId = std::int32_t;       // NUMA node; -1 unknown
using ProcessId = std::uint32_t;   // the caller's number for a process
using HotnessQ16 = std::uint32_t;  // 16 fraction bits, 0 .. hotness_max

inline constexpr NodeId kNoNode = -1;
inline constexpr ProcessId kNobody = ~0u;
inline constexpr std::uint32_t kOneQ16 = 1u << 16;
inline constexpr Bytes kPage = 4096, kHuge = Bytes{2} << 20;

/// One region as the profiler saw it in the last interval, or of one whose pages differ those of
/// one class on one node: then several views have its borders, and `away` is 0.
struct RegionView {
  std::uint64_t start = 0;  // bytes, page aligned
  Bytes length = 0;         // bytes, page aligned
  Bytes resident = 0;       // bytes present; at most length
  Bytes away = 0;           // of these, not on `node`
  HotnessQ16 hi_q16 = 0;    // hotness of the last interval (HI)
  HotnessQ16 whi_q16 = 0;   // smoothed hotness (WHI): what decides
  // What WHI stands for: log2 of accesses per second and leaf, 8 fraction bits.
  std::int16_t rate_q8 = 0;
  std::uint16_t rate_dev_q8 = 0;  // its standard deviation
  std::uint32_t generation = 0;   // with `start`, the identity of a region
  NodeId node = kNoNode;          // holds most of it
  NodeId away_node = kNoNode;     // holds most of `away`
  std::uint8_t leaf_shift = 12;   // largest page-table leaf seen: cuts respect it
  std::uint8_t page_class = 0;    // of its pages + 1, the more the hotter; 0: all pages
  bool movable = true;            // false: in flight, or backing off; takes no part
  bool stale = false;             // not sampled in the last interval: nothing new is known
  bool written = false;           // most samples were of pages written since they came here (HK-58)
};

inline std::uint64_t end_of(const RegionView& region) {
  return region.start + region.length;
}

/// The region of an address, of some in address order; null where there is none.
inline const RegionView* region_at(std::span<const RegionView> regions, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(regions, address, {}, &RegionView::start);
  if (after == regions.begin()) return nullptr;
  const RegionView& region = *std::prev(after);
  return address - region.start < region.length ? &region : nullptr;
}

/// What is known of a region's hotness.
struct Heat {
  HotnessQ16 whi_q16 = 0;
  std::int16_t rate_q8 = 0;  // as in RegionView
  std::uint16_t rate_dev_q8 = 0;
  std::uint8_t leaf_shift = 12;
  bool written = false;  // half of its accesses are taken for writes, else none
};

inline Heat heat_of(const RegionView& region) {
  return {region.whi_q16, region.rate_q8, region.rate_dev_q8, region.leaf_shift, region.written};
}

/// One node of a tier, as the ordered list names them: the fastest tier first, the nodes of one
/// tier side by side.
struct TierView {
  NodeId node = kNoNode;
  Bytes total = 0;
  Bytes free = 0;
  Bytes reserve = 0;                   // kept free by us, above the kernel's watermarks,
                                       // and what the node lacks to those
  std::uint32_t latency_ns = 0;        // of a read, alike in a tier; 0 unknown
  std::uint32_t write_latency_ns = 0;  // 0 unknown, as a read's
  std::uint32_t bandwidth_mib = 0;     // MiB/s; 0 unknown, as if without limit
  bool joins = false;                  // the tier of the node before it in the list
  std::vector<int> distance = {};      // to each node of the list (SLIT); shorter: unknown
  // What moving 4096 bytes to each node of the list takes, as calibrated: in base pages, in huge
  // ones; 0 and shorter: unknown.
  std::vector<double> page_ns = {}, huge_ns = {};
};

/// What an operator can tune about decisions; defaults of the paper and of
/// spec/hm-keeper.md 1.3.
struct PolicyParams {
  std::uint32_t hotness_max = 3;        // upper end of hotness; 1 .. 16
  double interval_s = 1;                // that a region was profiled for, and hotness is of
  std::uint32_t buckets = 64;           // of the histogram; 1 .. 1024
  Bytes promote_limit = 200ull << 20;   // N: promoted bytes per interval, all tiers
  std::uint32_t gain_margin = 1;        // buckets a promoted region is above its victim
  std::uint32_t horizon = 60;           // intervals within which a move has to pay
  std::uint64_t turn = 0;               // number of the interval: see cut.hpp
  HotnessQ16 promote_at_least_q16 = 1;  // smaller WHI is never promoted; 0 acts as 1
  bool tier_by_tier = false;            // promotes one tier up only, to measure what flat is worth
  bool shares_by_weight = true;         // between processes; false: the hottest wins, whose ever
};

/// Why a move is in the plan.
enum class Reason : std::uint8_t {
  kHot,       // hotter than what the faster tier holds, or the faster tier has room
  kGather,    // mostly in the fastest tier already: brings the pages that are not
  kMadeRoom,  // victim: leaves for the next lower tier with room
  kExchange,  // victim: all lower tiers are full, swaps with what replaces it
  kShare,     // victim: another process has less of the tier than its weight gives it
  kPutBack,   // to where it lay before its first move, whatever its hotness
  kPlan,      // to where a plan of `hmkctl plan schedule` has it in this window
  kPin,       // pinned to that tier
  kForPin,    // victim: makes room for what is pinned
  kHint,      // as kHot: the program says that it is about to use it
};

/// Move [start, start + length) of one process from node to node.
struct Move {
  ProcessId process = 0;
  std::uint32_t generation = 0;  // of the region it belongs to
  std::uint64_t start = 0;
  Bytes length = 0;             // page aligned; less than the region's when it was cut
  Bytes bytes = 0;              // expected to move: at most that many are present
  std::uint8_t page_class = 0;  // of the pages that move + 1; 0: all
  NodeId from = kNoNode;        // where most of it is
  NodeId to = kNoNode;
  Reason reason = Reason::kHot;
  std::uint8_t leaf_shift = 12;  // of the region
  HotnessQ16 whi_q16 = 0;        // of the region, for the log and for `hmkctl why`
  // Whose promotion it serves: its own, or another's that needs room; kNobody: it is one of its
  // own.
  ProcessId served = 0;
  std::uint32_t serves = 0;  // index in that process's promotions: itself, or what room is made for
  double saved_ns_per_s = 0;  // expected of `bytes`, per second; what a victim loses is below 0

  bool operator==(const Move&) const = default;
};

/// Bytes of candidates that stay in a tier, by why.
struct Stayed {
  NodeId node = kNoNode;
  Bytes no_gain = 0;
  Bytes no_room = 0;

  bool operator==(const Stayed&) const = default;
};

/// What to do before the next interval. No page is in it twice: no region both rises and falls,
/// nor the pages of one class and node.
struct Plan {
  std::vector<Move> promotions;  // hottest first
  std::vector<Move> demotions;   // in the order the promotions need them
  Bytes promoted = 0;            // sum of promotions[].bytes; at most promote_limit
  Bytes demoted = 0;             // sum of demotions[].bytes
  std::uint64_t cut = 0;         // promotions that take only part of their region
  std::uint64_t no_gain = 0;     // candidates that beat no victim by the margin, or do not pay
  std::uint64_t no_room = 0;     // candidates whose victims had nowhere to go
  bool limit_reached = false;    // candidates were left when promote_limit was spent
  // Promotions that would make room, of a process that only fills (ProcessView): they are not in
  // the plan.
  Bytes waiting = 0;
  double waiting_ns_per_s = 0;  // what they would save, less what their victims lose
  std::vector<Stayed> stayed;   // each node once; without what was not accessed
  // Bytes that are pinned to the tier of a node, and find no room beside what else is pinned there.
  std::map<NodeId, Bytes> pinned_no_room;

  bool operator==(const Plan&) const = default;
};

}  // namespace hmk::policy

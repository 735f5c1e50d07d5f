// SPDX-License-Identifier: MIT
//
// Machines and workloads nobody thought of, for the promises of the policy.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include "policy/cut.hpp"
#include "support/policy.hpp"

namespace hmk::test {

using policy::kNoNode;
using policy::kPage;
using policy::ProcessId;

inline Bytes bytes_of(const std::vector<policy::Move>& moves) {
  Bytes bytes = 0;
  for (const policy::Move& move : moves) bytes += move.bytes;
  return bytes;
}

/// A machine and what its processes have on it.
struct Machine {
  std::vector<TierView> tiers;
  PolicyParams params;
  std::map<ProcessId, std::vector<RegionView>> regions;

  std::vector<NodeId> nodes() const {
    std::vector<NodeId> all;
    for (const TierView& t : tiers) all.push_back(t.node);
    return all;
  }
  /// Index of a node in `tiers`.
  std::size_t index_of(NodeId node) const {
    const auto at = std::ranges::find(tiers, node, &TierView::node);
    return static_cast<std::size_t>(at - tiers.begin());
  }
  std::size_t tier_of(NodeId node) const {
    const auto end = tiers.begin() + static_cast<std::ptrdiff_t>(index_of(node)) + 1;
    return static_cast<std::size_t>(
        std::count_if(tiers.begin() + 1, end, [](const TierView& t) { return !t.joins; }));
  }
  bool rises(const Move& move) const { return tier_of(move.to) < tier_of(move.from); }
  const RegionView& at(const Move& move) const {
    for (const RegionView& r : regions.at(move.process))
      if (r.start <= move.start && move.start < r.start + r.length &&
          r.page_class == move.page_class && (r.page_class == 0 || r.node == move.from))
        return r;
    throw std::logic_error("no such region");
  }
  /// What of a region leaves its node: of what rises at least so much, of what falls and of a class
  /// as much as even spread lets expect.
  Bytes leaves(const Move& move) const {
    const RegionView& r = at(move);
    const Bytes home = r.resident - r.away, offset = move.start - r.start;
    if (r.page_class != 0) return move.bytes;
    return rises(move) ? policy::at_least_in_cut(r.length, home, move.length)
                       : policy::expected_in_piece(r.length, home, offset, offset + move.length);
  }
};

/// The pages of `whole` by class and node, the hottest class first; some of the nodes have none.
inline std::vector<RegionView> in_classes(const RegionView& whole,
                                          const std::vector<TierView>& tiers,
                                          std::uint32_t hotness_max, Random& random) {
  std::vector<RegionView> parts;
  Bytes left = whole.length;
  for (std::uint32_t page_class = 1 + random.below32(2 * hotness_max + 1); page_class > 0;
       --page_class)
    for (const TierView& tier : tiers) {
      RegionView part = whole;
      part.page_class = static_cast<std::uint8_t>(page_class);
      part.hi_q16 = part.whi_q16 = (page_class - 1) * policy::kOneQ16 / 2;
      set_rate(part, 8, hotness_max);
      part.node = tier.node;
      part.away = 0;
      part.away_node = kNoNode;
      part.resident = random.one_in(2) ? 0 : random.below(left / kPage + 1) * kPage;
      left -= part.resident;
      if (part.resident != 0) parts.push_back(part);
    }
  return parts;
}

/// One to eight nodes, of which a third shares the tier of the one before it.
inline std::vector<TierView> random_tiers(Random& random) {
  std::vector<TierView> tiers;
  const std::uint64_t nodes = 1 + random.below(8);
  for (std::uint64_t n = 0; n < nodes; ++n) {
    tiers.push_back({.node = static_cast<NodeId>((n * 3 + 1) % 16),
                     .total = 1024 * kMiB,
                     .free = random.one_in(2) ? 0 : random.below(64 * kMiB) & ~(kPage - 1),
                     .reserve = random.one_in(2) ? 0 : random.below(32 * kMiB) & ~(kPage - 1),
                     .joins = n > 0 && random.one_in(3)});
    for (std::uint64_t to = 0; to < nodes; ++to)
      tiers.back().distance.push_back(static_cast<int>(10 + random.below(20)));
  }
  std::uint32_t latency_ns = 80;
  const bool knows = random.one_in(2);
  for (TierView& tier : tiers) {
    if (!knows) break;
    latency_ns += tier.joins ? 0 : 70;
    tier.latency_ns = latency_ns;
    tier.bandwidth_mib = random.one_in(2) ? 0 : 1 + random.below32(40'000);
  }
  return tiers;
}

inline Machine random_machine(Random& random) {
  Machine m;
  m.tiers = random_tiers(random);
  const std::size_t nodes = m.tiers.size();
  m.params.hotness_max = 1 + random.below32(4);
  m.params.buckets = 1 + random.below32(80);
  m.params.gain_margin = random.below32(4);
  m.params.promote_limit = random.below(128 * kMiB);
  m.params.turn = random.below(100);
  for (ProcessId process = 0; process < 1 + random.below(3); ++process) {
    std::uint64_t page = 0;
    for (std::uint64_t n = random.below(60); n; --n) {
      page += random.one_in(3) ? random.below(1000) : 0;
      const std::uint64_t pages = 1 + random.below(random.one_in(8) ? 8192 : 512);
      RegionView r;
      r.start = page * kPage;
      r.length = pages * kPage;
      r.resident = random.one_in(2) ? r.length : random.below(pages + 1) * kPage;
      r.away = random.one_in(2) ? 0 : random.below(r.resident / kPage + 1) * kPage;
      const HotnessQ16 top = m.params.hotness_max << 16;
      r.hi_q16 = random.below32(top + 1);
      r.whi_q16 = random.one_in(4) ? 0 : random.one_in(4) ? top : random.below32(top + 1);
      r.generation = random.below32(3);
      set_rate(r, static_cast<unsigned>(1 + random.below(8)), m.params.hotness_max);
      r.node = random.one_in(20) ? kNoNode : m.tiers[random.below(nodes)].node;
      if (r.away > 0) r.away_node = random.one_in(8) ? kNoNode : m.tiers[random.below(nodes)].node;
      if (r.away_node == r.node) r.away_node = kNoNode;
      r.leaf_shift = random.one_in(4) ? 21 : 12;
      r.movable = !random.one_in(10);
      std::vector<RegionView>& regions = m.regions[process];
      if (random.one_in(3))
        std::ranges::copy(in_classes(r, m.tiers, m.params.hotness_max, random),
                          std::back_inserter(regions));
      else
        regions.push_back(r);
      page += pages;
    }
  }
  return m;
}

}  // namespace hmk::test

// SPDX-License-Identifier: MIT
#include "region_order.hpp"

#include <algorithm>

#include "metrics/timeline.hpp"

namespace hmk {

std::optional<RegionOrder> region_order(std::string_view word) {
  const auto* const found = std::ranges::find(kRegionOrders, word);
  if (found == kRegionOrders.end()) return std::nullopt;
  return static_cast<RegionOrder>(found - kRegionOrders.begin());
}

std::uint64_t hot_slow_bytes(const hmk_record& record, const HotSet& hot,
                             const std::vector<Tier>& tiers) {
  std::uint64_t pages = 0;
  if (hot.pages(record) != 0)
    by_node(record, [&](int node, std::uint32_t here) {
      if (tier_of_node(tiers, node) > 0) pages += here;
    });
  return pages * HMK_PAGE_SIZE;
}

std::vector<const hmk_record*> ordered(std::span<const hmk_record> records, RegionOrder order,
                                       std::size_t limit, const HotSet& hot,
                                       const std::vector<Tier>& tiers) {
  struct Place {
    std::array<std::int64_t, 2> rank;  // the higher, the earlier
    const hmk_record* record;
  };
  const auto rate = [](const hmk_record& r) {  // of a page, as log2
    return std::int64_t{r.rate_q8} - 256 * std::int64_t{r.leaf_shift};
  };
  const auto rank = [&](const hmk_record& r) -> std::array<std::int64_t, 2> {
    switch (order) {
      case RegionOrder::hotness:
        return {r.whi_q16, r.hi_q16};
      case RegionOrder::hot_slow:
        return {static_cast<std::int64_t>(hot_slow_bytes(r, hot, tiers)), rate(r)};
      case RegionOrder::size:
        return {static_cast<std::int64_t>(r.length), rate(r)};
      case RegionOrder::rate:
        return {rate(r), 0};
      case RegionOrder::tier:
        return {tier_of_node(tiers, r.node), rate(r)};
      case RegionOrder::address:
        break;
    }
    return {0, 0};
  };
  std::vector<Place> places;
  places.reserve(records.size());
  for (const hmk_record& record : records) places.push_back({rank(record), &record});
  const std::size_t shown = limit == 0 ? places.size() : std::min(limit, places.size());
  std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(shown),
                            [](const Place& a, const Place& b) {
                              return a.rank != b.rank ? a.rank > b.rank
                                                      : a.record->start < b.record->start;
                            });
  std::vector<const hmk_record*> first;
  for (std::size_t p = 0; p < shown; ++p) first.push_back(places[p].record);
  return first;
}

}  // namespace hmk

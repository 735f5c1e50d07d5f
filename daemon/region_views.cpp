// SPDX-License-Identifier: MIT
#include "region_views.hpp"

#include <algorithm>
#include <iterator>

#include "page_classes.hpp"

namespace hmk {

policy::RegionView to_view(const hmk_record& record) {
  policy::RegionView view;
  view.start = record.start;
  view.length = record.length;
  view.resident = std::uint64_t{record.resident_pages} * HMK_PAGE_SIZE;
  view.away = std::uint64_t{record.away_pages} * HMK_PAGE_SIZE;
  view.stale = (record.flags & HMK_RECORD_STALE) != 0;
  // Of what was not sampled nothing new is known.
  view.hi_q16 = view.stale ? record.whi_q16 : record.hi_q16;
  view.whi_q16 = record.whi_q16;
  view.generation = record.generation;
  view.node = record.node;
  view.away_node = record.away_node;
  view.rate_q8 = record.rate_q8;
  view.rate_dev_q8 = record.rate_dev_q8;
  view.written = 2 * record.writes > record.samples;
  view.leaf_shift = record.leaf_shift;
  view.page_class = page_class(record);
  return view;
}

void to_views(std::span<const hmk_record> records, std::vector<policy::RegionView>& views) {
  views.resize(records.size());
  std::ranges::transform(records, views.begin(), to_view);
}

std::vector<policy::RegionView> to_views(std::span<const hmk_record> records) {
  std::vector<policy::RegionView> views;
  to_views(records, views);
  return views;
}

const hmk_record* last_at(std::span<const hmk_record> records, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(records, address, {}, &hmk_record::start);
  return after == records.begin() ? nullptr : &*std::prev(after);
}

}  // namespace hmk

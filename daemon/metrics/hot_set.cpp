// SPDX-License-Identifier: MIT
#include "metrics/hot_set.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "metrics/timeline.hpp"

namespace hmk {

HotSet::HotSet(std::span<const hmk_record> records)
    : rate_(std::numeric_limits<double>::infinity()) {
  struct Part {
    double rate, accesses;
  };
  std::vector<Part> parts;
  double all = 0;
  for (const hmk_record& record : records) {
    if (record.whi_q16 == 0 || record.resident_pages == 0) continue;  // its rate is a bound only
    const double rate = rate_per_page(record);
    parts.push_back({rate, rate * record.resident_pages});
    all += parts.back().accesses;
  }
  std::ranges::sort(parts, std::ranges::greater{}, &Part::rate);
  double seen = 0;
  for (const Part& part : parts) {
    rate_ = part.rate;
    if ((seen += part.accesses) >= kShare * all) break;
  }
}

std::uint32_t HotSet::pages(const hmk_record& record) const {
  return record.whi_q16 != 0 && rate_per_page(record) >= rate_ ? record.resident_pages : 0;
}

std::map<int, std::uint64_t> HotSet::bytes_by_node(std::span<const hmk_record> records) const {
  std::map<int, std::uint64_t> bytes;
  for (const hmk_record& record : records)
    if (pages(record) != 0)
      by_node(record, [&](int node, std::uint64_t nr) { bytes[node] += nr * HMK_PAGE_SIZE; });
  return bytes;
}

}  // namespace hmk

// SPDX-License-Identifier: MIT
#include "page_classes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace hmk {
namespace {

/// Of so many pages.
double mean(double sum, double pages, double of_none) {
  return pages > 0 ? sum / pages : of_none;
}

/// Node with most of the pages, and how many.
using Held = std::pair<std::int32_t, std::uint32_t>;
Held most_of(const std::map<std::int32_t, std::uint32_t>& pages) {
  const auto most = std::ranges::max_element(pages, {}, [](auto& held) { return held.second; });
  return most == pages.end() ? Held{-1, 0} : Held{*most};
}

hmk_record folded(std::span<const hmk_record> parts) {
  hmk_record whole = parts.front();
  whole.flags &= static_cast<__u16>(~HMK_RECORD_CLASS_MASK);
  whole.resident_pages = 0;
  std::map<std::int32_t, std::uint32_t> by_node;
  double hi = 0, whi = 0, accesses = 0, bound = 0, most = -1;
  for (const hmk_record& part : parts) {
    const double pages = part.resident_pages,
                 here = pages * std::exp2(part.rate_q8 / 256.0 - part.leaf_shift);
    whole.resident_pages += part.resident_pages;
    by_node[part.node] += part.resident_pages;
    hi += pages * part.hi_q16;
    whi += pages * part.whi_q16;
    bound += here;
    if (part.whi_q16 != 0) accesses += here;  // else its rate is a bound only
    whole.leaf_shift = std::max(whole.leaf_shift, part.leaf_shift);
    whole.writes = std::max(whole.writes, part.writes);
    if (here > most) whole.rate_dev_q8 = part.rate_dev_q8;
    most = std::max(most, here);
  }
  const double pages = whole.resident_pages;
  whole.hi_q16 = static_cast<__u32>(mean(hi, pages, whole.hi_q16));
  whole.whi_q16 = static_cast<__u32>(mean(whi, pages, whole.whi_q16));
  if (const double rate = accesses > 0 ? accesses : bound; rate > 0)
    whole.rate_q8 =
        static_cast<__s16>(std::lround(256 * (std::log2(rate / pages) + whole.leaf_shift)));
  const Held here = most_of(by_node);
  by_node.erase(here.first);
  whole.node = here.first;
  whole.away_pages = whole.resident_pages - here.second;
  whole.away_node = whole.away_pages == 0 ? -1 : most_of(by_node).first;
  return whole;
}

}  // namespace

std::vector<hmk_record> fold(Snapshot& snapshot) {
  const auto is_part = [](const hmk_record& record) { return page_class(record) != 0; };
  if (std::ranges::none_of(snapshot.records, is_part)) return {};
  std::vector<hmk_record> parts = std::exchange(snapshot.records, {});
  for (auto first = parts.begin(); first != parts.end();) {
    const auto end = std::find_if(
        first, parts.end(), [&](const hmk_record& record) { return record.start != first->start; });
    snapshot.records.push_back(is_part(*first) ? folded({first, end}) : *first);
    first = end;
  }
  snapshot.interval.nr_regions = static_cast<__u32>(snapshot.records.size());
  return parts;
}

}  // namespace hmk

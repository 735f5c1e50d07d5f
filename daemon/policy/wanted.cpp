// SPDX-License-Identifier: MIT
#include "policy/wanted.hpp"

#include <algorithm>

#include "policy/cut.hpp"

namespace hmk::policy {
namespace {

/// A part of a region, which is wanted or not.
struct Part {
  std::uint64_t start, end;
  bool is_wanted;
};

/// From the start of the region to its end.
std::vector<Part> parts_of(const RegionView& region, std::span<const Wanted> wanted) {
  const std::uint64_t leaf = std::uint64_t{1} << region.leaf_shift,
                      end = region.start + region.length;
  std::vector<Part> parts;
  std::uint64_t at = region.start;
  const auto add = [&](std::uint64_t until, bool is_wanted) {
    if (until <= at) return;
    if (!parts.empty() && parts.back().is_wanted == is_wanted)
      parts.back().end = until;
    else
      parts.push_back({at, until, is_wanted});
    at = until;
  };
  for (auto one = std::ranges::upper_bound(wanted, region.start, {}, &Wanted::end);
       one != wanted.end() && one->start < end; ++one) {
    add(std::max(one->start & ~(leaf - 1), region.start), false);
    add(std::min((one->end + leaf - 1) & ~(leaf - 1), end), true);
  }
  add(end, false);
  return parts;
}

RegionView cut_out(const RegionView& region, const Part& part) {
  const Bytes from = part.start - region.start, to = part.end - region.start;
  RegionView piece = region;
  piece.start = part.start;
  piece.length = part.end - part.start;
  piece.resident = expected_in_piece(region.length, region.resident, from, to);
  piece.away = std::min(expected_in_piece(region.length, region.away, from, to), piece.resident);
  piece.movable = region.movable && !part.is_wanted;
  return piece;
}

}  // namespace

std::vector<Wanted> joined(std::span<const Wanted> first, std::span<const Wanted> rest) {
  std::vector<Wanted> all(first.begin(), first.end());
  for (const Wanted& one : rest) {
    Wanted left = one;
    for (auto at = std::ranges::upper_bound(first, one.start, {}, &Wanted::end);
         at != first.end() && at->start < one.end; ++at) {
      left.end = at->start;
      if (left.start < left.end) all.push_back(left);
      left.start = std::max(left.start, at->end);
    }
    left.end = one.end;
    if (left.start < left.end) all.push_back(left);
  }
  std::ranges::sort(all, {}, &Wanted::start);
  return all;
}

std::vector<RegionView> set_apart(std::span<const RegionView> regions,
                                  std::span<const Wanted> wanted) {
  std::vector<RegionView> all;
  all.reserve(regions.size() + 2 * wanted.size());
  auto first = wanted.begin();  // that ends beyond the region at hand
  for (auto region = regions.begin(); region != regions.end();) {
    while (first != wanted.end() && first->end <= region->start) ++first;
    if (first == wanted.end() || first->start >= end_of(*region)) {  // as most are
      all.push_back(*region++);
      continue;
    }
    const auto next = std::find_if(
        region, regions.end(), [&](const RegionView& one) { return one.start != region->start; });
    for (const Part& part : parts_of(*region, wanted))
      for (auto of_class = region; of_class != next; ++of_class)
        all.push_back(cut_out(*of_class, part));
    region = next;
  }
  return all;
}

std::optional<Ledger::Displaced> first_part(Ledger::Displaced extent, Bytes bytes) {
  if (extent.bytes <= bytes) return extent;
  const double part = static_cast<double>(bytes) / static_cast<double>(extent.bytes);
  const auto end =
      extent.start + static_cast<std::uint64_t>(part * static_cast<double>(extent.length));
  const std::uint64_t until = end / kHuge * kHuge;
  if (until <= extent.start) return std::nullopt;
  const double share =
      static_cast<double>(until - extent.start) / static_cast<double>(extent.length);
  extent.bytes = static_cast<Bytes>(static_cast<double>(extent.bytes) * share) / kPage * kPage;
  extent.length = until - extent.start;
  return extent;
}

}  // namespace hmk::policy

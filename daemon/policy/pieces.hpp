// SPDX-License-Identifier: MIT
//
// Regions cut where ranges of addresses begin and end. No leaf is cut: one that a range has in part
// belongs to the range.
//
//   cut_by(regions, ranges, [](RegionView& piece, const Range& in) { piece.movable = false; });
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/cut.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

/// In address order and disjoint: of two that meet the one counts that begins first.
template <class Range>
void set_in_order(std::vector<Range>& ranges) {
  std::ranges::stable_sort(ranges, {}, &Range::start);
  std::uint64_t end = 0;
  for (Range& range : ranges) {
    range.start = std::max(range.start, end);
    end = std::max(end, range.end);
  }
  std::erase_if(ranges, [](const Range& range) { return range.start >= range.end; });
}

/// The first range that meets [start, end), of some in address order and disjoint; null where none
/// does.
template <class Range>
const Range* range_in(std::span<const Range> ranges, std::uint64_t start, std::uint64_t end) {
  const auto at = std::ranges::upper_bound(ranges, start, {}, &Range::end);
  return at != ranges.end() && at->start < end ? &*at : nullptr;
}

/// A part of a region; `in` is null where it lies in no range.
template <class Range>
struct Piece {
  std::uint64_t start, end;
  const Range* in;
};

/// From the start of the region to its end. `ranges` have `start` and `end`, are in address order
/// and disjoint.
template <class Range>
std::vector<Piece<Range>> pieces_of(const RegionView& region, std::span<const Range> ranges) {
  const std::uint64_t leaf = std::uint64_t{1} << region.leaf_shift, end = end_of(region);
  std::vector<Piece<Range>> pieces;
  std::uint64_t at = region.start;
  const auto add = [&](std::uint64_t until, const Range* in) {
    if (until <= at) return;
    pieces.push_back({at, until, in});
    at = until;
  };
  for (auto one = std::ranges::upper_bound(ranges, region.start, {}, &Range::end);
       one != ranges.end() && one->start < end; ++one) {
    add(std::max(one->start & ~(leaf - 1), region.start), nullptr);
    add(std::min((one->end + leaf - 1) & ~(leaf - 1), end), &*one);
  }
  add(end, nullptr);
  return pieces;
}

/// [start, end) of a region, with its pages taken as evenly spread.
inline RegionView cut_out(const RegionView& region, std::uint64_t start, std::uint64_t end) {
  const Bytes from = start - region.start, to = end - region.start;
  RegionView piece = region;
  piece.start = start;
  piece.length = end - start;
  piece.resident = expected_in_piece(region.length, region.resident, from, to);
  piece.away = std::min(expected_in_piece(region.length, region.away, from, to), piece.resident);
  return piece;
}

/// All regions, those that meet a range in pieces; `change(piece, range)` is called for what lies
/// in one. `regions` are in address order, the classes of one region side by side, as are those
/// that are returned.
template <class Range, class Change>
std::vector<RegionView> cut_by(std::span<const RegionView> regions, std::span<const Range> ranges,
                               const Change& change) {
  std::vector<RegionView> all;
  all.reserve(regions.size() + 2 * ranges.size());
  auto first = ranges.begin();  // that ends beyond the region at hand
  for (auto region = regions.begin(); region != regions.end();) {
    while (first != ranges.end() && first->end <= region->start) ++first;
    if (first == ranges.end() || first->start >= end_of(*region)) {  // as most are
      all.push_back(*region++);
      continue;
    }
    const auto next = std::find_if(
        region, regions.end(), [&](const RegionView& one) { return one.start != region->start; });
    for (const Piece<Range>& piece : pieces_of(*region, ranges))
      for (auto of_class = region; of_class != next; ++of_class) {
        all.push_back(cut_out(*of_class, piece.start, piece.end));
        if (piece.in != nullptr) change(all.back(), *piece.in);
      }
    region = next;
  }
  return all;
}

}  // namespace hmk::policy

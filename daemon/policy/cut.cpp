// SPDX-License-Identifier: MIT
#include "policy/cut.hpp"

#include <algorithm>

namespace hmk::policy {
namespace {

using Wide = unsigned __int128;

std::uint64_t leaf_of(const Histogram::Entry& region) {
  return std::uint64_t{1} << region.leaf_shift;
}

/// As much of its length as `want` is of all pages of a class.
Cut cut_class(const Histogram::Entry& region, Bytes want, std::uint64_t turn) {
  const std::uint64_t leaf = leaf_of(region), end = region.start + region.length();
  const auto length = static_cast<Bytes>(Wide{region.length()} * want / region.resident());
  std::uint64_t first = region.start + first_cut(region, turn);
  std::uint64_t last = (first + length) & ~(leaf - 1);
  if (last > end) {
    first = (end - length + leaf - 1) & ~(leaf - 1);
    last = end;
  }
  if (last <= first) return {};
  const Bytes offset = first - region.start;
  const Bytes bytes =
      std::min(want & ~(kPage - 1),
               expected_in_piece(region.length(), region.resident(), offset, last - region.start));
  if (bytes == 0) return {};
  return {offset, last - first, bytes, bytes};
}

}  // namespace

Cut cut_for(const Histogram::Entry& region, Bytes all, Bytes want, std::uint64_t turn) {
  if (all <= want) return {0, region.length(), all, region.home()};
  if (region.page_class != 0) return cut_class(region, want, turn);
  const Bytes length = cut_length(region, want);
  return {0, length, std::min(all, length),
          at_least_in_cut(region.length(), region.home(), length)};
}

Bytes first_cut(const Histogram::Entry& region, std::uint64_t turn) {
  if (region.page_class == 0) return 0;
  constexpr std::uint64_t kGoldenRatio = 0x9e37'79b9'7f4a'7c15;  // its fraction, of 2^64
  const std::uint64_t part = turn * kGoldenRatio;  // of the length, of 2^64
  // A shift by 64 in two: cppcheck takes Wide for 64 bits.
  const auto offset = static_cast<Bytes>(Wide{region.length()} * part >> 32 >> 32);
  const std::uint64_t first = (region.start + offset) & ~(leaf_of(region) - 1);
  return first > region.start ? first - region.start : 0;
}

Bytes cut_length(const Histogram::Entry& region, Bytes want) {
  if (want >= region.length()) return region.length();
  const std::uint64_t end = (region.start + want) & ~(leaf_of(region) - 1);
  return end > region.start ? end - region.start : 0;
}

Bytes at_least_in_cut(Bytes length, Bytes held, Bytes cut) {
  if (cut >= length) return held;
  const Bytes elsewhere = length - cut;
  return held > elsewhere ? held - elsewhere : 0;
}

Bytes expected_before(Bytes length, Bytes held, Bytes offset) {
  return static_cast<Bytes>(Wide{held} * offset / length) & ~(kPage - 1);
}

Bytes offset_after(Bytes length, Bytes held, Bytes bytes) {
  return static_cast<Bytes>((Wide{bytes} * length + held - 1) / held);
}

Bytes expected_in_piece(Bytes length, Bytes held, Bytes begin, Bytes end) {
  return expected_before(length, held, end) - expected_before(length, held, begin);
}

}  // namespace hmk::policy

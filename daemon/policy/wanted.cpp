// SPDX-License-Identifier: MIT
#include "policy/wanted.hpp"

#include <algorithm>

#include "policy/pieces.hpp"

namespace hmk::policy {

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
  return cut_by(regions, wanted, [](RegionView& piece, const Wanted&) { piece.movable = false; });
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

// SPDX-License-Identifier: MIT
//
// Memory that belongs in a tier whatever its hotness: what an operator has pinned, and what a plan
// from a recording has there. The ranking decides about the rest.
//
//   ranking.update(process, set_apart(regions, wanted));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/ledger.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

/// Of an extent nobody remembers how large its pages are.
inline constexpr std::uint8_t kLargestLeaf = 21;

/// [start, end) of addresses, page aligned.
struct Wanted {
  std::uint64_t start = 0, end = 0;
  int tier = 0;          ///< from 0, the fastest
  std::uint32_t by = 0;  ///< the caller's number of what wants it

  bool operator==(const Wanted&) const = default;
};

/// `first`, and of `rest` what lies outside of it. Both are in address order and disjoint, as is
/// what is returned.
std::vector<Wanted> joined(std::span<const Wanted> first, std::span<const Wanted> rest);

/// The regions as they are ranked: cut where `wanted` begins and ends, and what lies in it takes no
/// part. No leaf is cut; one that is wanted in part is set apart. `regions` are in address order,
/// the classes of one region side by side, as are those that are returned.
std::vector<RegionView> set_apart(std::span<const RegionView> regions,
                                  std::span<const Wanted> wanted);

/// The first part of an extent, of about so many bytes: up to the end of a huge page. None where no
/// such part is that small.
std::optional<Ledger::Displaced> first_part(Ledger::Displaced extent, Bytes bytes);

}  // namespace hmk::policy

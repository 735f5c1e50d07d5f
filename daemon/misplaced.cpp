// SPDX-License-Identifier: MIT
#include "misplaced.hpp"

#include <algorithm>
#include <optional>

namespace hmk {
namespace {

using Displaced = policy::Ledger::Displaced;
using policy::Wanted;

std::uint64_t part_bytes(std::uint64_t pages, const hmk_record& record, std::uint64_t length) {
  const double share = static_cast<double>(length) / static_cast<double>(record.length);
  return static_cast<std::uint64_t>(static_cast<double>(pages) * share) * HMK_PAGE_SIZE;
}

/// What of a record lies in another tier than it is wanted in: of [start, end) its share.
std::optional<Displaced> displaced(const hmk_record& record, std::uint64_t start, std::uint64_t end,
                                   const TierNodes& tiers, int wanted) {
  const auto away = std::min(record.away_pages, record.resident_pages);
  const int tier = tier_of(tiers, record.node), away_tier = tier_of(tiers, record.away_node);
  std::uint64_t pages = 0;
  if (tier >= 0 && tier != wanted) pages += record.resident_pages - away;
  if (away_tier >= 0 && away_tier != wanted) pages += away;
  const std::uint64_t bytes = part_bytes(pages, record, end - start);
  if (bytes == 0) return std::nullopt;
  return Displaced{start, end - start, bytes, tiers[static_cast<std::size_t>(wanted)][0],
                   tier >= 0 && tier != wanted ? record.node : record.away_node};
}

/// Calls take(record, start, end, wanted) for each part of a record that is wanted in a tier. Both
/// are in address order.
template <class Take>
void for_each_part(std::span<const hmk_record> records, std::span<const Wanted> wanted,
                   Take&& take) {
  auto record = records.begin();
  for (const Wanted& one : wanted) {
    while (record != records.end() && record->start + record->length <= one.start) ++record;
    for (auto at = record; at != records.end() && at->start < one.end; ++at) {
      const std::uint64_t start = at->start, end = start + at->length;
      take(*at, std::max(start, one.start), std::min(end, one.end), one);
    }
  }
}

bool is_there(const TierNodes& tiers, int tier) {
  return tier >= 0 && static_cast<std::size_t>(tier) < tiers.size();
}

}  // namespace

Misplaced misplaced(std::span<const hmk_record> records, std::span<const Wanted> wanted,
                    const TierNodes& tiers, std::uint64_t most) {
  Misplaced found;
  std::uint64_t up = 0, down = 0;
  for_each_part(
      records, wanted,
      [&](const hmk_record& record, std::uint64_t start, std::uint64_t end, const Wanted& one) {
        if (!is_there(tiers, one.tier)) return;  // a node has gone since
        const auto all = displaced(record, start, end, tiers, one.tier);
        if (!all) return;
        found.bytes += all->bytes;
        std::uint64_t& moves = one.tier < tier_of(tiers, all->now) ? up : down;
        const auto now = policy::first_part(*all, most - moves);  // the rest with the next interval
        if (!now) return;
        moves += now->bytes;
        found.extents.push_back(*now);
      });
  return found;
}

std::vector<Presence> presence_of(std::span<const hmk_record> records,
                                  std::span<const Wanted> wanted, const TierNodes& tiers,
                                  std::size_t nr) {
  std::vector<Presence> all(nr);
  for_each_part(
      records, wanted,
      [&](const hmk_record& record, std::uint64_t start, std::uint64_t end, const Wanted& one) {
        Presence& here = all[one.by];
        const std::uint64_t bytes = part_bytes(record.resident_pages, record, end - start);
        here.bytes += bytes;
        if (!is_there(tiers, one.tier))
          here.elsewhere_bytes += bytes;
        else if (const auto other = displaced(record, start, end, tiers, one.tier))
          here.elsewhere_bytes += other->bytes;
      });
  return all;
}

}  // namespace hmk

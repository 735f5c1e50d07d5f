// SPDX-License-Identifier: MIT
#include "region_rows.hpp"

#include <algorithm>
#include <cstdint>

namespace hmkctl {
namespace {

using nlohmann::json;

std::uint64_t whole(const json& row, const char* member) {
  return row.value(member, std::uint64_t{0});
}

double rate_of(const json& row) {
  return row.value("rate", 0.0);
}

int tier_of(const json& row) {
  const json tier = row.value("tier", json());
  return tier.is_number() ? tier.get<int>() : 0;
}

/// Not hot with cold, even where the limit between them parts two that are alike.
bool is_alike(const json& a, const json& b) {
  for (const char* const member :
       {"tier", "node", "away_node", "kind", "leaf_bytes", "state", "mapping"})
    if (a.value(member, json()) != b.value(member, json())) return false;
  const double low = std::min(rate_of(a), rate_of(b)), high = std::max(rate_of(a), rate_of(b));
  return (whole(a, "hot_bytes") > 0) == (whole(b, "hot_bytes") > 0) && high <= 2 * low;
}

void absorb(json& into, const json& row) {
  const auto mine = static_cast<double>(whole(into, "resident_bytes"));
  const auto its = static_cast<double>(whole(row, "resident_bytes"));
  for (const char* const member : {"whi", "hi", "rate", "rate_factor"})
    if (mine + its > 0)
      into[member] = (into.value(member, 0.0) * mine + row.value(member, 0.0) * its) / (mine + its);
  for (const char* const member : {"length", "resident_bytes", "away_bytes", "samples", "writes",
                                   "hot_bytes", "hot_slow_bytes", "joined"})
    into[member] = whole(into, member) + whole(row, member);
}

}  // namespace

RegionRows join_neighbours(RegionRows rows) {
  std::ranges::sort(rows, {}, [](const json& row) { return whole(row, "start"); });
  RegionRows out;
  json first;  // of those joined, so that no chain of small steps joins hot with cold
  for (json& row : rows) {
    row["joined"] = 1;
    if (!out.empty() &&
        whole(out.back(), "start") + whole(out.back(), "length") == whole(row, "start") &&
        is_alike(first, row)) {
      absorb(out.back(), row);
    } else {
      first = row;
      out.push_back(std::move(row));
    }
  }
  return out;
}

void sort_rows(RegionRows& rows, std::string_view order) {
  const auto comes_first = [&](const json& a, const json& b) {
    const auto by = [&](const auto& value) {
      return value(a) == value(b) ? 0 : value(a) > value(b) ? 1 : -1;
    };
    int first = 0;
    if (order == "hot-slow") first = by([](const json& r) { return whole(r, "hot_slow_bytes"); });
    if (order == "size") first = by([](const json& r) { return whole(r, "length"); });
    if (order == "tier") first = by(tier_of);
    if (first == 0 && order != "address") first = by(rate_of);
    return first != 0 ? first > 0 : whole(a, "start") < whole(b, "start");
  };
  std::ranges::sort(rows, comes_first);
}

}  // namespace hmkctl

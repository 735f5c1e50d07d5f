// SPDX-License-Identifier: MIT
//
// Rows of `regions` as `top` shows them: with the name of their mapping, neighbours that are alike
// joined, in one of hmkd's orders. Values in, values out.
//
//   for (json& row : rows) row["mapping"] = mappings.name(row["start"]);
//   sort_rows(rows = join_neighbours(std::move(rows)), "hot-slow");
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hmkctl {

using RegionRows = std::vector<nlohmann::json>;

/// The orders of `regions` of the socket: the word, the key of `top`, and what it means.
struct RegionOrder {
  const char* word;
  char key;
  const char* meaning;
};
inline constexpr std::array kRegionOrders{
    RegionOrder{"hot-slow", 'h', "hot in a slow tier"}, RegionOrder{"size", 's', "size"},
    RegionOrder{"rate", 'r', "rate"}, RegionOrder{"address", 'a', "address"},
    RegionOrder{"tier", 't', "tier"}};

/// What touches and differs in no more than its samples and a factor of two of its rate becomes one
/// row. Sizes and samples are added, hotness and rate are means by resident bytes.
RegionRows join_neighbours(RegionRows rows);

/// As hmkd orders them; by the lowest address where all else is equal.
void sort_rows(RegionRows& rows, std::string_view order);

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include "region_rows.hpp"

#include <gtest/gtest.h>

using namespace hmkctl;
using nlohmann::json;

namespace {

json row(int start, int length, double rate, int tier, int hot = 0) {
  return {{"start", start},
          {"length", length},
          {"rate", rate},
          {"rate_factor", 1.0},
          {"whi", rate},
          {"hi", rate},
          {"tier", tier},
          {"node", tier - 1},
          {"resident_bytes", length},
          {"away_bytes", 0},
          {"away_node", -1},
          {"samples", 4},
          {"writes", 1},
          {"kind", "anon"},
          {"leaf_bytes", 4096},
          {"state", json::array()},
          {"mapping", "a"},
          {"hot_bytes", hot},
          {"hot_slow_bytes", tier > 1 ? hot : 0}};
}

std::string places(const RegionRows& rows) {
  std::string out;
  for (const json& r : rows) out += r["start"].dump() + "+" + r["length"].dump() + " ";
  return out;
}

TEST(RegionRows, JoinNeighboursThatAreAlike) {
  const RegionRows joined =
      join_neighbours({row(30, 10, 2, 1), row(10, 10, 1, 1), row(20, 10, 2, 1)});
  ASSERT_EQ(places(joined), "10+30 ");
  EXPECT_EQ(joined[0]["joined"], 3);
  EXPECT_EQ(joined[0]["samples"], 12);
  EXPECT_EQ(joined[0]["resident_bytes"], 30);
  EXPECT_NEAR(joined[0]["rate"].get<double>(), 5.0 / 3, 1e-9) << "the mean by bytes";
}

TEST(RegionRows, AreNotJoinedOverAHoleOrByMoreThanAFactorOfTwo) {
  EXPECT_EQ(places(join_neighbours({row(10, 10, 1, 1), row(21, 10, 1, 1)})), "10+10 21+10 ");
  EXPECT_EQ(places(join_neighbours({row(10, 10, 1, 1), row(20, 10, 2.01, 1)})), "10+10 20+10 ");
  EXPECT_EQ(places(join_neighbours({row(10, 10, 1, 1), row(20, 10, 1.9, 1), row(30, 10, 3, 1)})),
            "10+20 30+10 ")
      << "as compared with the first of them";
}

TEST(RegionRows, AreNotJoinedOverABorderOfAnythingShown) {
  for (const char* const member :
       {"tier", "node", "kind", "leaf_bytes", "state", "mapping", "away_node"}) {
    json other = row(20, 10, 1, 1);
    other[member] = "another";
    EXPECT_EQ(join_neighbours({row(10, 10, 1, 1), other}).size(), 2u) << member;
  }
  EXPECT_EQ(join_neighbours({row(10, 10, 1, 1, 10), row(20, 10, 1, 1, 0)}).size(), 2u)
      << "hot with cold";
}

TEST(RegionRows, OfNoResidentByteAreJoinedWithoutAMean) {
  json empty = row(10, 10, 1, 1), too = row(20, 10, 1, 1);
  empty["resident_bytes"] = too["resident_bytes"] = 0;
  EXPECT_EQ(join_neighbours({empty, too})[0]["rate"], 1.0);
}

TEST(RegionRows, AreSortedByEachOrder) {
  // 10: hot, fast. 40, 60: hot, slow. 80: cold, slow, largest. 300: its tier is not known.
  RegionRows rows{row(10, 20, 8, 1, 20), row(40, 4, 2, 2, 4), row(60, 9, 1, 2, 9),
                  row(80, 99, 0.1, 3), row(300, 1, 0.1, 1)};
  rows[4]["tier"] = json();
  const auto sorted = [&](const char* order) {
    sort_rows(rows, order);
    std::string out;
    for (const json& r : rows) out += r["start"].dump() + " ";
    return out;
  };
  EXPECT_EQ(sorted("hot-slow"), "60 40 10 80 300 ");
  EXPECT_EQ(sorted("size"), "80 10 60 40 300 ");
  EXPECT_EQ(sorted("rate"), "10 40 60 80 300 ");
  EXPECT_EQ(sorted("address"), "10 40 60 80 300 ");
  EXPECT_EQ(sorted("tier"), "80 40 60 10 300 ");
}

}  // namespace

// SPDX-License-Identifier: MIT
#include "metrics/groups.hpp"

#include <gtest/gtest.h>

namespace hmk {
namespace {

using nlohmann::json;

TEST(Groups, AddNumbersAndKeepTheLargestOfTimesAndOfWhatIsTheMachines) {
  const json rows = grouped(
      {{{"rule", "comm=a"}, {"moved", 1}, {"longest_ns", 5}, {"saved", -3}, {"share", 0.5}},
       {{"rule", "comm=a"}, {"moved", 2}, {"longest_ns", 4}, {"saved", 1}, {"share", 0.25}}});
  EXPECT_EQ(
      rows,
      json(
          {{{"rule", "comm=a"}, {"moved", 3}, {"longest_ns", 5}, {"saved", -2}, {"share", 0.75}}}));
}

TEST(Groups, WhatIsNotKnownOfOneIsThatOfTheOther) {
  const json one{{"rule", "comm=a"}, {"waits", nullptr}, {"intervals", 3}};
  const json other{{"rule", "comm=a"}, {"waits", {{"count", 2}}}};
  for (const json& rows : {grouped({one, other}), grouped({other, one})})
    EXPECT_EQ(rows, json({{{"rule", "comm=a"}, {"waits", {{"count", 2}}}, {"intervals", 3}}}));
}

TEST(Groups, ListsAreJoinedByWhatTellsTheirRowsApart) {
  const auto pair = [](const json& from, int to, int bytes) {
    return json{{"from_tier", from}, {"to_tier", to}, {"moved_bytes", bytes}};
  };
  const json rows =
      grouped({{{"rule", "r"}, {"pairs", {pair(2, 1, 10), pair(nullptr, 1, 1)}}},
               {{"rule", "r"}, {"pairs", {pair(1, 2, 5), pair(2, 1, 7), pair(nullptr, 1, 1)}}}});
  EXPECT_EQ(rows[0]["pairs"], json({pair(2, 1, 17), pair(nullptr, 1, 2), pair(1, 2, 5)}));
  const json tiers = grouped(
      {{{"rule", "r"},
        {"tiers", {{{"tier", 1}, {"nodes", {0}}, {"free_bytes", 9}, {"resident_bytes", 1}}}}},
       {{"rule", "r"},
        {"tiers",
         {{{"tier", 1}, {"nodes", {1}}, {"free_bytes", 8}, {"resident_bytes", 2}},
          {{"tier", 1}, {"nodes", {0}}, {"free_bytes", 7}, {"resident_bytes", 4}}}}}});
  ASSERT_EQ(tiers[0]["tiers"].size(), 2u)
      << "what is tier 1 of one process is another's for the next";
  EXPECT_EQ(tiers[0]["tiers"][0]["resident_bytes"], 5);
  EXPECT_EQ(tiers[0]["tiers"][0]["free_bytes"], 9) << "of the node, once";
}

TEST(Groups, AreByClassAndRuleAndByPidWhereAsked) {
  const json rows{{{"pid", 1}, {"comm", "a"}, {"rule", "1"}, {"class", "comm=a"}},
                  {{"pid", 2}, {"comm", "b"}, {"rule", "2"}, {"class", nullptr}},
                  {{"pid", 3}, {"comm", "b"}, {"rule", "user=7"}, {"class", nullptr}}};
  const json together = grouped(rows);
  ASSERT_EQ(together.size(), 3u);
  for (const json& row : together) EXPECT_FALSE(row.contains("pid") || row.contains("comm")) << row;
  EXPECT_EQ(std::count_if(together.begin(), together.end(),
                          [](const json& row) { return row["rule"] == "pid"; }),
            2);
  EXPECT_EQ(grouped(rows, true).size(), 3u);
  EXPECT_EQ(grouped(rows, true)[0].value("pid", 0), 2) << "without a class first";
}

TEST(EndedProcesses, AreBoundedHoweverManyRulesThereWere) {
  EndedProcesses ended;
  for (std::uint64_t i = 0; i < 3 * EndedProcesses::kMost; ++i)
    ended.add({{"pid", i},
               {"rule", "comm=x" + std::to_string(i)},
               {"class", "c"},
               {"promoted_bytes", 1}});
  EXPECT_LE(ended.rows().size(), EndedProcesses::kMost);
  std::uint64_t all = 0;
  for (const json& row : ended.rows()) all += row["promoted_bytes"].get<std::uint64_t>();
  EXPECT_EQ(all, 3 * EndedProcesses::kMost) << "none is lost";
}

}  // namespace
}  // namespace hmk

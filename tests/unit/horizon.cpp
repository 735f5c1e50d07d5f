// SPDX-License-Identifier: MIT
#include "policy/horizon.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace hmk::policy;

namespace {

/// A byte costs 1 ns in the fast tier and 3 in the slow one for each time it is used.
Forecast::Group used(double bytes, double count, const std::vector<double>& uses) {
  Forecast::Group group{.bytes = bytes, .count = count};
  for (const double times : uses)
    group.cost_ns.insert(group.cost_ns.end(), {bytes * times, 3 * bytes * times});
  return group;
}

/// Two tiers, of which the fast one holds so much in each window.
Forecast machine(std::uint32_t windows, double fast, double move_ns) {
  Forecast forecast{.windows = windows, .tiers = 2, .move_ns = {0, move_ns, move_ns, 0}};
  for (std::uint32_t w = 0; w < windows; ++w)
    forecast.capacity.insert(forecast.capacity.end(), {fast, 1000});
  return forecast;
}

TEST(Horizon, PutsWhatIsUsedMostIntoTheFastTierAndKnowsThatNothingIsBetter) {
  Forecast forecast = machine(1, 20, 0);
  forecast.groups = {used(10, 1, {1}), used(10, 1, {5}), used(10, 1, {2}), used(10, 1, {4})};
  const Schedule best = schedule(forecast, {.gap = 0});
  EXPECT_DOUBLE_EQ(best.cost_ns, 10 * (5 + 4) + 30 * (2 + 1));
  EXPECT_NEAR(best.bound_ns, best.cost_ns, 1e-6 * best.cost_ns);
  EXPECT_NEAR(best.worth_ns[0], 2 * 2, 2.01) << "between what is in and what is out: 4 to 8";
  EXPECT_EQ(best.worth_ns[1], 0) << "there is room";
}

TEST(Horizon, AlikeRegionsThatDoNotAllFitAreDivided) {
  Forecast forecast = machine(1, 30, 0);
  forecast.groups = {used(10, 100, {1})};
  forecast.capacity[1] = 970;
  const Schedule best = schedule(forecast);
  ASSERT_EQ(best.parts.size(), 2u);
  EXPECT_EQ(best.parts[0].count + best.parts[1].count, 100);
  EXPECT_DOUBLE_EQ(best.cost_ns, 3 * 10 + 97 * 30);
  EXPECT_LT(best.gap(), 0.01);
}

TEST(Horizon, WhatIsUsedInTurnsChangesPlacesWhereThatPays) {
  Forecast forecast = machine(4, 10, 4);
  forecast.groups = {used(10, 1, {9, 0, 9, 0}), used(10, 1, {0, 9, 0, 9})};
  const Schedule turns = schedule(forecast, {.gap = 0});
  EXPECT_DOUBLE_EQ(turns.cost_ns, 4 * 90 + 6 * 40) << "all in the fast tier, and six moves";
  forecast.move_ns = {0, 20, 20, 0};
  const Schedule stays = schedule(forecast, {.gap = 0});
  EXPECT_DOUBLE_EQ(stays.cost_ns, 2 * 90 + 2 * 270) << "200 ns for a move save 180";
  EXPECT_LE(stays.bound_ns, stays.cost_ns);
}

TEST(Horizon, StaticNeverMoves) {
  Forecast forecast = machine(2, 10, 0);
  forecast.groups = {used(10, 1, {9, 0}), used(10, 1, {0, 8})};
  EXPECT_DOUBLE_EQ(schedule(forecast).cost_ns, 90 + 80);
  forecast.is_static = true;
  const Schedule stays = schedule(forecast, {.gap = 0});
  EXPECT_DOUBLE_EQ(stays.cost_ns, 90 + 240);
  for (const Schedule::Part& part : stays.parts) EXPECT_EQ(part.tier[0], part.tier[1]);
}

TEST(Horizon, SaysWhatDoesNotFit) {
  Forecast forecast = machine(1, 10, 0);
  forecast.groups = {used(10, 102, {1})};
  EXPECT_THROW(schedule(forecast), std::invalid_argument);
  forecast.groups = {used(10, 101, {1})};
  EXPECT_NO_THROW(schedule(forecast));
  forecast.groups[0].cost_ns.pop_back();
  EXPECT_THROW(schedule(forecast), std::invalid_argument);
  forecast.groups.clear();
  EXPECT_EQ(schedule(forecast).cost_ns, 0);
  forecast.move_ns.pop_back();
  EXPECT_THROW(schedule(forecast), std::invalid_argument);
}

}  // namespace

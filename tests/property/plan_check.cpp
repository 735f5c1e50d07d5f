// SPDX-License-Identifier: MIT
//
// The check of the planner itself: its program by hand, and all its promises on a part of its
// cases.
#include "check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "everything.hpp"
#include "linear_program.hpp"
#include "solver.hpp"

using namespace hmk::plan;
using hmk::policy::Forecast;

namespace {

/// One window: the fast tier has room for one and a half of two regions of 2 bytes; an access costs
/// 1 or 3, and the second region has twice as many.
Forecast one_and_a_half() {
  return {.windows = 1,
          .tiers = 2,
          .capacity = {3, 100},
          .move_ns = {0, 1, 1, 0},
          .groups = {{.bytes = 2, .cost_ns = {10, 30}}, {.bytes = 2, .cost_ns = {20, 60}}}};
}

/// Two regions of a byte that are used in turns; the fast tier has room for one of them.
Forecast turns(double move_ns) {
  return {
      .windows = 2,
      .tiers = 2,
      .capacity = {1, 9, 1, 9},
      .move_ns = {0, move_ns, move_ns, 0},
      .groups = {{.bytes = 1, .cost_ns = {10, 30, 1, 3}}, {.bytes = 1, .cost_ns = {1, 3, 10, 30}}}};
}

TEST(PlanCheck, FractionsOfARegionLieWhereWholeOnesDoNot) {
  const LinearProgram program = linear_program(one_and_a_half());
  EXPECT_NEAR(least_in_whole_numbers(program), 30 + 20, 1e-6);
  EXPECT_NEAR(least_in_fractions(program), 20 + (10 + 30) / 2.0, 1e-6);
  EXPECT_EQ(least_of_everything(one_and_a_half()), 50);
}

TEST(PlanCheck, AMoveIsPaidOnceForEachByteAndNotMadeWhereItCostsMore) {
  for (const auto& [move_ns, least] :
       {std::pair(5.0, 10 + 3 + 3 + 10 + 2 * 5.0), {15.0, 10 + 3 + 1 + 30.0}}) {
    const LinearProgram program = linear_program(turns(move_ns));
    EXPECT_NEAR(least_in_whole_numbers(program), least, 1e-6) << move_ns;
    EXPECT_EQ(least_of_everything(turns(move_ns)), least) << move_ns;
  }
}

TEST(PlanCheck, NothingMovesInAStaticForecast) {
  Forecast forecast = turns(0);
  forecast.is_static = true;
  EXPECT_NEAR(least_in_whole_numbers(linear_program(forecast)), 10 + 1 + 3 + 30, 1e-6);
  EXPECT_EQ(least_of_everything(forecast), 44);
}

TEST(PlanCheck, MemoryThatFitsNowhereIsRefused) {
  Forecast forecast = one_and_a_half();
  forecast.capacity = {1, 1};
  const LinearProgram program = linear_program(forecast);
  EXPECT_THROW(least_in_whole_numbers(program), std::runtime_error);
  EXPECT_THROW(least_in_fractions(program), std::runtime_error);
  EXPECT_TRUE(std::isinf(least_of_everything(forecast)));
}

TEST(PlanCheck, ThePlannerKeepsItsPromises) {
  const auto result = check({.small = 200, .phased = 5, .large = false});
  EXPECT_TRUE(result["ok"]);
  ASSERT_EQ(result["rows"].size(), 6u);
  EXPECT_EQ(result["rows"][0]["cases"], 200);
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// The promises of policy/horizon.hpp against every placement there is.
#include "policy/horizon.hpp"

#include <gtest/gtest.h>

#include "cases.hpp"
#include "everything.hpp"
#include "support/random.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr std::uint64_t kForecasts = rounds(400);

TEST(HorizonProperties, TheBoundIsBelowAndTheScheduleAboveTheLeastOfAllPlacements) {
  double over = 0;
  for (std::uint64_t seed = 0; seed < kForecasts; ++seed) {
    SCOPED_TRACE(seed);
    const Forecast forecast = hmk::plan::small_case(seed);
    const double least = hmk::plan::least_of_everything(forecast);
    const Schedule found = schedule(forecast, {.gap = 0});
    ASSERT_LE(found.bound_ns, least * (1 + 1e-9));
    ASSERT_GE(found.cost_ns, least * (1 - 1e-9));
    over += (found.cost_ns / least - 1) / static_cast<double>(kForecasts);
  }
  EXPECT_LT(over, 0.01) << "a part of the least cost";
}

TEST(HorizonProperties, AScheduleFitsCostsWhatItSaysAndPlacesEachRegionOnce) {
  for (std::uint64_t seed = 0; seed < kForecasts; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Forecast forecast = hmk::plan::small_case(seed);
    for (Forecast::Group& group : forecast.groups)
      group.count = static_cast<double>(1 + random.below(9));
    const Schedule found = schedule(forecast, {.steps = 60});
    std::vector<double> used(forecast.capacity.size()), count(forecast.groups.size());
    double cost = 0;
    for (const Schedule::Part& part : found.parts) {
      count[part.group] += part.count;
      cost += part.count * hmk::plan::cost_of(forecast, forecast.groups[part.group], part.tier);
      for (std::size_t w = 0; w < forecast.windows; ++w)
        used[forecast.cell(w, part.tier[w])] += part.count * forecast.groups[part.group].bytes;
    }
    for (std::size_t i = 0; i < count.size(); ++i) ASSERT_EQ(count[i], forecast.groups[i].count);
    for (std::size_t i = 0; i < used.size(); ++i) ASSERT_LE(used[i], forecast.capacity[i]);
    ASSERT_NEAR(cost, found.cost_ns, 1e-9 * cost);
    ASSERT_LE(found.bound_ns, found.cost_ns * (1 + 1e-9));
  }
}

}  // namespace

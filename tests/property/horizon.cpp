// SPDX-License-Identifier: MIT
//
// The promises of policy/horizon.hpp against every placement there is.
#include "policy/horizon.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/random.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr std::uint64_t kForecasts = rounds(400);

/// A few regions of the same size over up to three windows and tiers; they always fit.
Forecast random_forecast(Random& random) {
  Forecast forecast{.windows = 1 + random.below32(3), .tiers = 2 + random.below32(2)};
  const std::size_t regions = 2 + random.below(4);
  for (std::uint32_t w = 0; w < forecast.windows; ++w)
    for (std::uint32_t m = 0; m < forecast.tiers; ++m)
      forecast.capacity.push_back(m + 1 == forecast.tiers ? 100
                                                          : static_cast<double>(random.below(4)));
  for (std::uint32_t from = 0; from < forecast.tiers; ++from)
    for (std::uint32_t to = 0; to < forecast.tiers; ++to)
      forecast.move_ns.push_back(from == to ? 0 : static_cast<double>(random.below(60)));
  for (std::size_t i = 0; i < regions; ++i) {
    Forecast::Group group{.bytes = 1};
    for (std::uint32_t w = 0; w < forecast.windows; ++w) {
      const auto uses = static_cast<double>(1 + random.below(50));
      for (std::uint32_t m = 0; m < forecast.tiers; ++m) group.cost_ns.push_back(uses * (1 + m));
    }
    forecast.groups.push_back(std::move(group));
  }
  return forecast;
}

double cost_of(const Forecast& forecast, const Forecast::Group& group,
               const std::vector<std::uint8_t>& tier) {
  double cost = 0;
  for (std::size_t w = 0; w < forecast.windows; ++w) {
    cost += group.cost_ns[forecast.cell(w, tier[w])];
    if (w > 0) cost += group.bytes * forecast.move_ns[tier[w - 1] * forecast.tiers + tier[w]];
  }
  return cost;
}

/// Tries every way of every region, one region after the other.
class Everything {
 public:
  explicit Everything(const Forecast& forecast) : forecast_(forecast), room_(forecast.capacity) {
    std::vector<std::uint8_t> way(forecast.windows);
    for (;;) {
      ways_.push_back(way);
      std::size_t w = 0;
      while (w < way.size() && ++way[w] == forecast.tiers) way[w++] = 0;
      if (w == way.size()) break;
    }
  }

  double least(std::size_t group = 0) {
    if (group == forecast_.groups.size()) return 0;
    double best = std::numeric_limits<double>::infinity();
    for (const auto& way : ways_) {
      if (!take(way, -1)) continue;
      best = std::min(best, cost_of(forecast_, forecast_.groups[group], way) + least(group + 1));
      take(way, 1);
    }
    return best;
  }

 private:
  bool take(const std::vector<std::uint8_t>& way, double sign) {
    const auto room = [&](std::size_t w) -> double& { return room_[forecast_.cell(w, way[w])]; };
    for (std::size_t w = 0; sign < 0 && w < way.size(); ++w)
      if (room(w) < 1) return false;
    for (std::size_t w = 0; w < way.size(); ++w) room(w) += sign;
    return true;
  }

  const Forecast& forecast_;
  std::vector<double> room_;
  std::vector<std::vector<std::uint8_t>> ways_;
};

TEST(HorizonProperties, TheBoundIsBelowAndTheScheduleAboveTheLeastOfAllPlacements) {
  double gap = 0;
  for (std::uint64_t seed = 0; seed < kForecasts; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Forecast forecast = random_forecast(random);
    const double least = Everything(forecast).least();
    const Schedule found = schedule(forecast, {.gap = 0});
    ASSERT_LE(found.bound_ns, least * (1 + 1e-9));
    ASSERT_GE(found.cost_ns, least * (1 - 1e-9));
    gap += found.gap() / static_cast<double>(kForecasts);
  }
  EXPECT_LT(gap, 0.05) << "of a handful of regions, which cannot be divided";
}

TEST(HorizonProperties, AScheduleFitsCostsWhatItSaysAndPlacesEachRegionOnce) {
  for (std::uint64_t seed = 0; seed < kForecasts; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Forecast forecast = random_forecast(random);
    for (Forecast::Group& group : forecast.groups)
      group.count = static_cast<double>(1 + random.below(9));
    forecast.is_static = random.one_in(4);
    const Schedule found = schedule(forecast, {.steps = 60});
    std::vector<double> used(forecast.capacity.size()), count(forecast.groups.size());
    double cost = 0;
    for (const Schedule::Part& part : found.parts) {
      count[part.group] += part.count;
      cost += part.count * cost_of(forecast, forecast.groups[part.group], part.tier);
      for (std::size_t w = 0; w < forecast.windows; ++w)
        used[forecast.cell(w, part.tier[w])] += part.count;
    }
    for (std::size_t i = 0; i < count.size(); ++i) ASSERT_EQ(count[i], forecast.groups[i].count);
    for (std::size_t i = 0; i < used.size(); ++i) ASSERT_LE(used[i], forecast.capacity[i]);
    ASSERT_NEAR(cost, found.cost_ns, 1e-9 * cost);
    ASSERT_LE(found.bound_ns, found.cost_ns * (1 + 1e-9));
  }
}

}  // namespace

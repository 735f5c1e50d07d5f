// SPDX-License-Identifier: MIT
#include "policy/exchanges.hpp"

#include <gtest/gtest.h>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr unsigned kMemory = static_cast<unsigned>(Exchanges::kMemory);
constexpr int kHot = 4, kWarm = 0;  // log2 of accesses a second to each page

/// `count` pairs side by side: of each one region on node 0 and one on node 1.
std::vector<RegionView> pairs(std::size_t count, int log_fast, int log_slow) {
  std::vector<RegionView> regions;
  for (std::size_t i = 0; i < count; ++i) {
    regions.push_back(warm(4 * i, 0, log_fast));
    regions.push_back(warm(4 * i + 2, 1, log_slow));
  }
  return regions;
}

/// What lies on node 1 is hotter by chance, and changes places.
Plan exchange(std::uint32_t count, const GainModel& model) {
  Plan plan;
  const auto move = [&](const RegionView& r, NodeId to, Reason reason, std::uint32_t serves) {
    return Move{.start = r.start,
                .length = r.length,
                .bytes = r.resident,
                .from = r.node,
                .to = to,
                .reason = reason,
                .serves = serves,
                .saved_ns_per_s =
                    model.saved_ns_per_s(heat_of(r), r.resident, static_cast<std::uint32_t>(r.node),
                                         static_cast<std::uint32_t>(to))};
  };
  const auto regions = pairs(count, kWarm, kHot);
  for (std::uint32_t i = 0; i < count; ++i) {
    plan.promotions.push_back(move(regions[2 * std::size_t{i} + 1], 0, Reason::kHot, i));
    plan.demotions.push_back(move(regions[2 * std::size_t{i}], 1, Reason::kExchange, i));
  }
  return plan;
}

class ExchangesTest : public testing::Test {
 protected:
  void see(const Plan& plan, const std::vector<RegionView>& then) {
    RateScale scale;
    for (const RegionView& region : then) scale.learn(region.whi_q16, region.rate_q8);
    exchanges.planned(plan);
    exchanges.saw(then, scale, model);
  }
  void see(unsigned count, int log_fast, int log_slow) {
    see(exchange(count, model), pairs(count, log_fast, log_slow));
  }

  GainModel model{two_tiers(), {}};
  Exchanges exchanges;
};

TEST_F(ExchangesTest, AtFirstAFewDeviationsAreJustEnough) {
  EXPECT_EQ(exchanges.kept(), Exchanges::kEnough);
  EXPECT_EQ(exchanges.deviations(), kDeviations);
  see({}, pairs(1, kWarm, kHot));
  EXPECT_EQ(exchanges.kept(), Exchanges::kEnough) << "nothing was exchanged";
}

TEST_F(ExchangesTest, WhatStaysHotterKeepsThem) {
  see(kMemory, kWarm, kHot);
  EXPECT_DOUBLE_EQ(exchanges.kept(), 0.75);
  for (int k = 0; k < 20; ++k) see(kMemory, kWarm, kHot + 3);
  EXPECT_LE(exchanges.kept(), 1) << "no more than was promised counts";
  EXPECT_EQ(exchanges.deviations(), kDeviations);
}

TEST_F(ExchangesTest, WhatTurnsOutToBeAlikeTakesMore) {
  see(kMemory, kWarm, kWarm);
  EXPECT_DOUBLE_EQ(exchanges.kept(), 0.25) << "as many as the average remembers";
  EXPECT_DOUBLE_EQ(exchanges.deviations(), (kDeviations + Exchanges::kMostDeviations) / 2);
  for (int k = 0; k < 20; ++k) see(kMemory, kHot, kWarm);
  EXPECT_NEAR(exchanges.kept(), -1, 1e-5) << "the victim was the hotter one";
  EXPECT_EQ(exchanges.deviations(), Exchanges::kMostDeviations);
  for (int k = 0; k < 20; ++k) see(kMemory, kWarm, kHot);
  EXPECT_EQ(exchanges.deviations(), kDeviations) << "it comes back with what is kept";
}

TEST_F(ExchangesTest, CountsTheLastIntervalAlone) {
  auto smoothed = pairs(kMemory, kWarm, kHot);
  RateScale scale;
  scale.learn(q16(1), 256 * kWarm);
  scale.learn(q16(2), 256 * kHot);
  for (RegionView& region : smoothed) region.hi_q16 = q16(1);
  for (std::size_t i = 0; i < smoothed.size(); i += 2) smoothed[i].whi_q16 = q16(1);
  exchanges.planned(exchange(kMemory, model));
  exchanges.saw(smoothed, scale, model);
  EXPECT_DOUBLE_EQ(exchanges.kept(), 0.25) << "WHI still differs, HI does not";
}

TEST_F(ExchangesTest, AreAskedForOnce) {
  see(kMemory, kWarm, kWarm);
  exchanges.saw(pairs(kMemory, kWarm, kWarm), {}, model);
  EXPECT_DOUBLE_EQ(exchanges.kept(), 0.25);
}

TEST_F(ExchangesTest, OnlyExchangesCount) {
  const auto kept_after = [&](auto&& change) {
    Plan plan = exchange(kMemory, model);
    for (std::size_t i = 0; i < kMemory; ++i) change(plan.promotions[i], plan.demotions[i]);
    exchanges = {};
    see(plan, pairs(kMemory, kWarm, kWarm));
    return exchanges.kept();
  };
  EXPECT_EQ(kept_after([](Move&, Move&) {}), 0.25);
  EXPECT_EQ(kept_after([](Move&, Move& falls) { falls.reason = Reason::kMadeRoom; }), 0.25);
  EXPECT_EQ(kept_after([](Move&, Move& falls) { falls.reason = Reason::kShare; }), 0.5);
  EXPECT_EQ(kept_after([](Move&, Move& falls) { falls.reason = Reason::kForPin; }), 0.5);
  EXPECT_EQ(kept_after([](Move& rises, Move&) { rises.reason = Reason::kPin; }), 0.5);
  EXPECT_EQ(kept_after([](Move& rises, Move&) { rises.page_class = 1; }), 0.5) << "not told apart";
  EXPECT_EQ(kept_after([](Move&, Move& falls) { falls.page_class = 1; }), 0.5);
  EXPECT_EQ(kept_after([](Move&, Move& falls) { falls.served = 1; }), 0.5) << "another process";
  EXPECT_EQ(kept_after([](Move&, Move& falls) { falls.serves = kMemory; }), 0.5)
      << "no such promotion";
  Plan fills = exchange(kMemory, model);
  fills.demotions.clear();
  exchanges = {};
  see(fills, pairs(kMemory, kWarm, kWarm));
  EXPECT_EQ(exchanges.kept(), 0.5) << "what moves into free room";
}

TEST_F(ExchangesTest, WhatIsGoneOrWasNotReadSaysNothing) {
  auto regions = pairs(kMemory, kWarm, kWarm);
  for (RegionView& region : regions) region.stale = region.node == 0;
  see(exchange(kMemory, model), regions);
  EXPECT_EQ(exchanges.kept(), 0.5);
  std::erase_if(regions, [](const RegionView& region) { return region.stale; });
  see(exchange(kMemory, model), regions);
  EXPECT_EQ(exchanges.kept(), 0.5);
  see(exchange(kMemory, model), {});
  EXPECT_EQ(exchanges.kept(), 0.5);
}

TEST_F(ExchangesTest, AVictimInPiecesIsOneExchange) {
  Plan plan = exchange(kMemory, model);
  for (Move& falls : plan.demotions) {
    falls.bytes /= 2;
    falls.saved_ns_per_s /= 2;
  }
  const auto firsts = plan.demotions;
  plan.demotions.insert(plan.demotions.end(), firsts.begin(), firsts.end());
  see(plan, pairs(kMemory, kWarm, kWarm));
  EXPECT_DOUBLE_EQ(exchanges.kept(), 0.25);
}

TEST_F(ExchangesTest, LooksAtSoManyInAnInterval) {
  const unsigned most = Exchanges::kMost;
  auto regions = pairs(most + 8, kWarm, kHot);
  for (std::size_t i = 2 * std::size_t{most}; i < regions.size(); ++i) regions[i].rate_q8 = 0;
  see(exchange(most + 8, model), regions);
  EXPECT_NEAR(exchanges.kept(), 1, 0.01) << "the hottest come first";
}

}  // namespace

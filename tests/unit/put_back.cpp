// SPDX-License-Identifier: MIT
#include "policy/put_back.hpp"

#include <gtest/gtest.h>

#include <array>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

const std::array kTiers{tier(0, 0), tier(2, 0), tier(3, 0)};

Ledger::Displaced extent(std::uint64_t mib, Bytes length_mib, NodeId first, NodeId now) {
  return {mib * kMiB, length_mib * kMiB, length_mib * kMiB, first, now};
}

TEST(PutBack, WhatRoseFallsAndWhatMadeRoomRises) {
  const Plan plan = put_back(std::array{extent(0, 4, 3, 0), extent(8, 2, 0, 2)}, kTiers);
  ASSERT_EQ(plan.demotions.size(), 1u);
  ASSERT_EQ(plan.promotions.size(), 1u);
  EXPECT_EQ(plan.demotions[0].from, 0);
  EXPECT_EQ(plan.demotions[0].to, 3);
  EXPECT_EQ(plan.promotions[0].from, 2);
  EXPECT_EQ(plan.promotions[0].to, 0);
  EXPECT_EQ(plan.promotions[0].reason, Reason::kPutBack);
  EXPECT_EQ(plan.demoted, 4 * kMiB);
  EXPECT_EQ(plan.promoted, 2 * kMiB);
  EXPECT_EQ(plan.promotions[0].leaf_shift, 21) << "its pages may be huge";
  EXPECT_EQ(plan.demotions[0].process, plan.demotions[0].served);
}

TEST(PutBack, RoomIsMadeForEachBytesThatFollow) {
  const Plan plan = put_back(std::array{extent(0, 2, 3, 0), extent(2, 2, 3, 0), extent(4, 2, 3, 0),
                                        extent(10, 3, 0, 3), extent(20, 3, 0, 3)},
                             kTiers);
  ASSERT_EQ(plan.demotions.size(), 3u);
  EXPECT_EQ(plan.demotions[0].serves, 0u);
  EXPECT_EQ(plan.demotions[1].serves, 0u) << "three MiB rise into two and one";
  EXPECT_EQ(plan.demotions[2].serves, 1u);
}

TEST(PutBack, WhatOnlyFallsIsMadeRoomForOthers) {
  const Plan plan = put_back(std::array{extent(0, 2, 3, 0)}, kTiers);
  ASSERT_EQ(plan.demotions.size(), 1u);
  EXPECT_NE(plan.demotions[0].process, plan.demotions[0].served) << "or the mover drops it";
}

TEST(PutBack, AnUnknownNodeIsLeftOut) {
  const Plan plan = put_back(std::array{extent(0, 2, 1, 0), extent(2, 2, 0, 1)}, kTiers);
  EXPECT_EQ(plan, Plan{});
}

TEST(PutBack, ALedgerTellsWhatLiesElsewhere) {
  Ledger ledger;
  ledger.moved({.start = 0, .length = 4 * kMiB, .bytes = 2 * kMiB, .from = 3, .to = 2});
  ledger.moved({.start = 0, .length = 4 * kMiB, .bytes = 2 * kMiB, .from = 2, .to = 0});
  ASSERT_EQ(ledger.displaced().size(), 1u);
  EXPECT_EQ(ledger.displaced()[0].first, 3);
  EXPECT_EQ(ledger.displaced()[0].now, 0);
  EXPECT_EQ(ledger.displaced()[0].bytes, 2 * kMiB);
  ledger.moved({.start = 0, .length = 4 * kMiB, .bytes = 2 * kMiB, .from = 0, .to = 3});
  EXPECT_TRUE(ledger.displaced().empty());
}

/// Of 64 MiB at 0 so many MiB of a class.
Ledger::Displaced of_class(Bytes mib, NodeId first, NodeId now) {
  return {0,     64 * kMiB, mib * kMiB,
          first, now,       now < first ? Ledger::Of::risen : Ledger::Of::fallen};
}

TEST(PutBack, OfAClassAsManyAsRoseFallTheHottestFirstAndTheColdestRise) {
  const std::vector<RegionView> parts = {class_of(0, 64, 0, 7, 6), class_of(0, 64, 0, 5, 4),
                                         class_of(0, 64, 2, 3, 20), class_of(0, 64, 2, 1, 7),
                                         region(64, 2, 2, 1)};
  const Plan plan = put_back(std::array{of_class(7, 2, 0), of_class(9, 0, 2)}, kTiers, parts);
  ASSERT_EQ(plan.demotions.size(), 1u);
  EXPECT_EQ(plan.demotions[0].page_class, 7) << "and one MiB is less than half of the next";
  EXPECT_EQ(plan.demotions[0].from, 0);
  EXPECT_EQ(plan.demotions[0].to, 2);
  EXPECT_EQ(plan.demotions[0].length, 64 * kMiB);
  EXPECT_EQ(plan.demotions[0].bytes, 6 * kMiB);
  ASSERT_EQ(plan.promotions.size(), 1u);
  EXPECT_EQ(plan.promotions[0].page_class, 1);
  EXPECT_EQ(plan.promotions[0].bytes, 7 * kMiB);
}

TEST(PutBack, NoClassGoesBackTwoWays) {
  const std::vector<RegionView> parts = {class_of(0, 64, 0, 7, 6), class_of(0, 64, 0, 5, 4)};
  const Plan plan = put_back(std::array{of_class(6, 2, 0), of_class(9, 3, 0)}, kTiers, parts);
  ASSERT_EQ(plan.demotions.size(), 2u);
  EXPECT_EQ(plan.demotions[0].to, 2);
  EXPECT_EQ(plan.demotions[1].to, 3);
  EXPECT_EQ(plan.demotions[1].page_class, 5);
}

// Else all pages of the range would go, wherever they lay.
TEST(PutBack, PagesOfAClassStayWhereTheirRegionIsToldAsAWhole) {
  EXPECT_EQ(put_back(std::array{of_class(7, 2, 0)}, kTiers, std::array{region(0, 64, 0, 1)}),
            Plan{});
  const std::array mixed{class_of(0, 64, 0, 7, 6)};
  const Plan plan = put_back(std::array{extent(0, 64, 3, 0)}, kTiers, mixed);
  ASSERT_EQ(plan.demotions.size(), 1u) << "a range that was moved as a whole";
  EXPECT_EQ(plan.demotions[0].page_class, 7) << "ranges of one plan do not overlap";
}

}  // namespace

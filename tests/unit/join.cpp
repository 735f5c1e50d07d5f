// SPDX-License-Identifier: MIT
#include "policy/join.hpp"

#include <gtest/gtest.h>

#include <array>

#include "policy/gain.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr double kPagesOfOne = 512;

class JoinTest : public ::testing::Test {
 protected:
  /// Hot on node 0: each page 2^10 times a second.
  static RegionView hot(std::uint64_t at_mib, Bytes mib) {
    RegionView r = region(at_mib, mib, 0, 3);
    r.rate_q8 = 10 * 256;
    return r;
  }
  std::vector<Join> see(std::vector<RegionView> regions) {
    return joins_.choose(regions, {.seq = ++seq_,
                                   .horizon_s = 10,
                                   .scale = scale_,
                                   .ns_per_page = GainModel::kNsPerPage,
                                   .tiers = tiers_,
                                   .areas = areas_});
  }
  /// After as many intervals as it takes.
  std::vector<Join> see_long(const std::vector<RegionView>& regions) {
    for (unsigned n = 1; n < Joins::kSteady; ++n) EXPECT_TRUE(see(regions).empty()) << n;
    return see(regions);
  }
  std::vector<std::uint64_t> starts(const std::vector<Join>& chosen) {
    std::vector<std::uint64_t> mib;
    mib.reserve(chosen.size());
    for (const Join& join : chosen) mib.push_back(join.start / kMiB);
    return mib;
  }
  using Starts = std::vector<std::uint64_t>;

  Joins joins_;
  std::vector<TierView> tiers_ = two_tiers(1024);
  std::optional<Joins::Areas> areas_;
  double scale_ = 1;
  std::uint64_t seq_ = 0;
};

TEST_F(JoinTest, WhatHasBeenHotAndAlikeForLongIsJoinedAndNotAnIntervalSooner) {
  EXPECT_EQ(starts(see_long({hot(4, 2)})), (Starts{4}));
  EXPECT_EQ(starts(see({hot(4, 2)})), (Starts{4})) << "until it is told what came of it";
}

TEST_F(JoinTest, OnlyStretchesOfWhichAllIsMapped) {
  RegionView odd = hot(3, 6);  // from 3 to 9: two stretches
  EXPECT_EQ(starts(see_long({odd})), (Starts{4, 6}));
}

// After it was split its halves are regions of their own; those of its neighbours may be one
// sooner.
TEST_F(JoinTest, AStretchOfSeveralRegionsIsAsHotAsTheColdestOfThem) {
  const RegionView hotter = hot(5, 1);
  RegionView colder = hot(2, 3);
  colder.rate_q8 -= 256;
  const auto chosen = see_long({hot(0, 1), hot(1, 1), colder, hotter});
  EXPECT_EQ(starts(chosen), (Starts{0, 2, 4}));
  EXPECT_DOUBLE_EQ(chosen[0].saved_ns_per_s, 2 * chosen[2].saved_ns_per_s);
  colder.rate_q8 = -20 * 256;
  EXPECT_TRUE(see_long({hot(0, 1), hot(7, 1), colder, hotter}).empty()) << "and all must be there";
}

TEST_F(JoinTest, EachOfItsRegionsMustBeWholeOnOneNodeAndOfSmallEntries) {
  RegionView absent = hot(1, 1), away = hot(1, 1), elsewhere = hot(1, 1), moving = hot(1, 1),
             part = hot(1, 1), huge = hot(1, 3);
  absent.resident -= kPage;
  away.away = kPage;
  elsewhere.node = 1;
  moving.movable = false;
  part.page_class = 1;
  huge.leaf_shift = 21;
  tiers_[1].joins = true;
  for (const RegionView& second : {absent, away, elsewhere, moving, part, huge}) {
    joins_ = {};
    EXPECT_TRUE(see_long({hot(0, 1), second}).empty());
    EXPECT_TRUE(see({hot(0, 1), second}).empty());
  }
}

TEST_F(JoinTest, ABorderThatComesOrGoesInsideItChangesNothing) {
  RegionView right = hot(3, 1), huge = hot(3, 3);
  huge.leaf_shift = 21;
  for (unsigned n = 1; n < Joins::kSteady; ++n)
    (void)(n % 3 == 0   ? see({hot(2, 2)})
           : n % 3 == 1 ? see({hot(2, 1), right})
                        : see({hot(2, 1), huge}));
  EXPECT_EQ(starts(see({hot(2, 2)})), (Starts{2}));
}

TEST_F(JoinTest, APageLessOnEitherSideIsNone) {
  RegionView front = hot(4, 2), back = hot(8, 2);
  front.start += kPage;
  front.length = front.resident = front.length - kPage;
  back.length = back.resident = back.length - kPage;
  EXPECT_TRUE(see_long({front, back}).empty());
}

TEST_F(JoinTest, AllOfItMustBePresentAndOnOneNodeOfTheFastestTier) {
  RegionView absent = hot(0, 2), away = hot(4, 2), slow = hot(8, 2), unknown = hot(12, 2);
  absent.resident -= kPage;
  away.away = kPage;
  slow.node = 1;
  unknown.node = kNoNode;
  EXPECT_TRUE(see_long({absent, away, slow, unknown}).empty());
  tiers_[1].joins = true;  // two nodes of one tier
  EXPECT_EQ(starts(see_long({slow})), (Starts{8}));
}

TEST_F(JoinTest, WhatMovesOrHasPagesOfSeveralClassesOrHugeEntriesIsNotJoined) {
  RegionView moving = hot(0, 2), part = hot(4, 2), huge = hot(8, 2);
  moving.movable = false;
  part.page_class = 1;
  huge.leaf_shift = 21;
  EXPECT_TRUE(see_long({moving, part, huge}).empty());
}

TEST_F(JoinTest, AnIntervalInWhichItMovedOrDifferedBeginsAnew) {
  for (unsigned n = 1; n < Joins::kSteady; ++n) (void)see({hot(0, 2)});
  RegionView part = hot(0, 2);
  part.page_class = 3;
  EXPECT_TRUE(see({part}).empty());
  EXPECT_EQ(starts(see_long({hot(0, 2)})), (Starts{0}));
}

// Its neighbour was joined meanwhile, and they became one region.
TEST_F(JoinTest, WhatWasRefusedIsTriedAgainThoughANeighbourHidesItsHeat) {
  ASSERT_EQ(starts(see_long({hot(0, 4)})), (Starts{0, 2}));
  joins_.joined(0, seq_);
  joins_.refused(2 * kMiB, seq_);
  RegionView both = hot(0, 4);
  both.leaf_shift = 21;
  for (unsigned n = 1; n < 2 * Joins::kSteady; ++n) EXPECT_TRUE(see({both}).empty()) << n;
  EXPECT_EQ(starts(see({both})), (Starts{2}));
}

TEST_F(JoinTest, WhatDidNotPayOrWasNotThereForAMomentIsTriedAgainThoughANeighbourHidesItsHeat) {
  for (const bool pays : {false, true}) {
    joins_ = {};
    (void)see({hot(0, 2), hot(2, 2)});
    RegionView moment = hot(2, 2);
    if (pays)
      moment.resident -= kPage;
    else
      moment.rate_q8 = -20 * 256;
    (void)see({hot(0, 2), moment});
    RegionView both = hot(0, 4);
    both.leaf_shift = 21;
    for (unsigned n = 1; n < Joins::kSteady; ++n) (void)see({both});
    EXPECT_EQ(starts(see({both})), (Starts{0, 2})) << pays;
  }
}

TEST_F(JoinTest, WhatCoolsToLessThanAQuarterBeginsAnew) {
  RegionView quarter = hot(0, 2), less = hot(4, 2), more = hot(8, 2);
  for (unsigned n = 1; n < Joins::kSteady; ++n) (void)see({quarter, less, more});
  quarter.rate_q8 -= 2 * 256;
  less.rate_q8 -= 2 * 256 + 1;
  more.rate_q8 += 4 * 256;
  EXPECT_EQ(starts(see({quarter, less, more})), (Starts{8, 0}));
}

TEST_F(JoinTest, WhatChanceExplainsIsNoChange) {
  RegionView doubtful = hot(0, 2), surer = hot(4, 2);
  doubtful.rate_dev_q8 = surer.rate_dev_q8 = 200;
  for (unsigned n = 1; n < Joins::kSteady; ++n) (void)see({doubtful, surer});
  doubtful.rate_q8 -= 3 * 200;
  surer.rate_dev_q8 = 0;
  surer.rate_q8 -= 3 * 200 + 1;
  EXPECT_EQ(starts(see({doubtful, surer})), (Starts{0}));
}

TEST_F(JoinTest, AnIntervalWithoutASampleSaysNothing) {
  RegionView stale = hot(0, 2);
  stale.stale = true;
  for (unsigned n = 1; n < Joins::kSteady; ++n) {
    (void)see({hot(0, 2)});
    EXPECT_TRUE(see({stale}).empty());
  }
  EXPECT_EQ(starts(see({hot(0, 2)})), (Starts{0}));
}

TEST_F(JoinTest, ItMustPayWithinTheHorizon) {
  // 2^r accesses a second and page, 23 ns each, for 10 s; 5 us a page to join: 21.74 a second.
  const double even = std::log2(GainModel::kNsPerPage / Joins::kWalkNs / 10);
  RegionView enough = hot(0, 2), too_little = hot(4, 2);
  enough.rate_q8 = static_cast<std::int16_t>(std::ceil(even * 256));
  too_little.rate_q8 = static_cast<std::int16_t>(std::floor(even * 256));
  const auto chosen = see_long({enough, too_little});
  ASSERT_EQ(starts(chosen), (Starts{0}));
  EXPECT_NEAR(chosen[0].saved_ns_per_s, kPagesOfOne * GainModel::kNsPerPage / 10,
              kPagesOfOne * GainModel::kNsPerPage / 1000);
  scale_ = 0.5;  // the process has not as much time
  EXPECT_TRUE(see_long({enough}).empty());
}

TEST_F(JoinTest, WhatWasNeverSeenAccessedSavesNothing) {
  RegionView cold = hot(0, 2);
  cold.whi_q16 = 0;
  EXPECT_TRUE(see_long({cold}).empty());
}

TEST_F(JoinTest, AtMostSixteenMiBInAnIntervalTheHottestFirst) {
  RegionView hotter = hot(40, 2);
  hotter.rate_q8 += 256;
  EXPECT_EQ(starts(see_long({hot(0, 20), hotter})), (Starts{40, 0, 2, 4, 6, 8, 10, 12}));
}

TEST_F(JoinTest, NoMoreThanTheNodeHasFreeIsJoined) {
  tiers_[0].free = 4 * kMiB - 1;
  EXPECT_EQ(starts(see_long({hot(0, 8)})), (Starts{0}));
  tiers_[0].free = 4 * kMiB;
  EXPECT_EQ(starts(see({hot(0, 8)})), (Starts{0, 2}));
}

TEST_F(JoinTest, TheRestOfARegionFollowsThoughWhatWasJoinedHidesItsHeat) {
  RegionView region = hot(0, 20);
  for (const Join& join : see_long({region})) joins_.joined(join.start, seq_);
  region.leaf_shift = 21;
  region.rate_q8 = 0;
  EXPECT_EQ(starts(see({region})), (Starts{16, 18}));
}

TEST_F(JoinTest, SoDoesWhatWasSeenForAShorterTime) {
  for (unsigned n = 2; n < Joins::kSteady; ++n) (void)see({hot(0, 2)});
  RegionView both = hot(0, 6);
  (void)see({both});
  for (const Join& join : see({both})) joins_.joined(join.start, seq_);
  both.leaf_shift = 21;
  for (unsigned n = 3; n < Joins::kSteady; ++n) EXPECT_TRUE(see({both}).empty()) << n;
  EXPECT_EQ(starts(see({both})), (Starts{2, 4}));
}

TEST_F(JoinTest, WhatWasJoinedIsLeftAloneForLongAndLongerEachTime) {
  for (std::uint64_t pause = Joins::kLeftAlone; pause <= 4 * Joins::kLeftAlone; pause *= 2) {
    ASSERT_EQ(starts(see_long({hot(0, 2)})), (Starts{0}));
    joins_.joined(0, seq_);
    for (const std::uint64_t end = seq_ + pause; seq_ < end;)
      ASSERT_TRUE(see({hot(0, 2)}).empty()) << pause;
  }
}

TEST_F(JoinTest, WhatTheKernelRefusedIsLeftAloneForAWhileAndLongerEachTime) {
  for (std::uint64_t pause = Joins::kSteady; pause <= 4ull * Joins::kSteady; pause *= 2) {
    ASSERT_EQ(starts(see_long({hot(0, 2)})), (Starts{0}));
    joins_.refused(0, seq_);
    for (const std::uint64_t end = seq_ + pause; seq_ < end;)
      ASSERT_TRUE(see({hot(0, 2)}).empty()) << pause;
  }
}

TEST_F(JoinTest, WhatWasLeftAloneLongAgoIsForgotten) {
  joins_.refused(0, seq_);
  seq_ = 3 * Joins::kSteady - 1;
  (void)see({});
  EXPECT_EQ(joins_.left_alone(), 1u);
  (void)see({});
  EXPECT_EQ(joins_.left_alone(), 0u);
}

TEST_F(JoinTest, OfTooManyThatAreLeftAloneThoseThatEndFirstAreForgotten) {
  for (std::uint64_t n = 0; n <= Joins::kMostLeft; ++n) joins_.joined(n * kHuge, n < 10 ? 0 : 1000);
  seq_ = 100;
  (void)see({});
  EXPECT_LE(joins_.left_alone(), Joins::kMostLeft);
}

TEST_F(JoinTest, OnlyTheHottestAreFollowed) {
  RegionView hotter = hot(10'000, 2);
  hotter.rate_q8 += 1;
  const Bytes more = 2 * (Joins::kMostWatched + 1);
  EXPECT_EQ(starts(see_long({hot(0, more), hotter})).front(), 10'000u);
  EXPECT_EQ(joins_.watched(), Joins::kMostWatched);
}

TEST_F(JoinTest, OnlyWhatTheProgramHasAskedHugePagesForWhereThatCounts) {
  const std::array<std::pair<std::uint64_t, std::uint64_t>, 2> asked{
      {{2 * kMiB, 6 * kMiB}, {8 * kMiB, 10 * kMiB - kPage}}};
  areas_ = asked;
  EXPECT_EQ(starts(see_long({hot(0, 20)})), (Starts{2, 4}));
}

}  // namespace

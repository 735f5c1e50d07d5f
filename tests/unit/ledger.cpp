// SPDX-License-Identifier: MIT
#include "policy/ledger.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

const GainModel& far_apart() {
  static const GainModel kModel(two_tiers(), {});
  return kModel;
}

/// What so warm two MiB save, by hand: 512 pages, 16 misses, 250 ns.
double worth(int log_rate) {
  return std::exp2(log_rate) * 512 * 16 * 250;
}

Ledger::Moved move_of(std::uint64_t mib, NodeId from, NodeId to, double promised = 0) {
  return {mib * kMiB, 2 * kMiB, 2 * kMiB, from, to, promised, 1000};
}

TEST(Ledger, WhatWasPromotedSavesAsLongAsItIsHot) {
  Ledger ledger;
  ledger.moved(move_of(0, 1, 0, worth(3)));
  ledger.saw(std::vector{warm(0, 0, 3)}, far_apart(), {.seconds = 1});
  EXPECT_DOUBLE_EQ(ledger.total().realized, worth(3));
  EXPECT_DOUBLE_EQ(ledger.total().promised, worth(3));
  ledger.saw(std::vector{warm(0, 0, 0)}, far_apart(), {.seconds = 1});
  EXPECT_DOUBLE_EQ(ledger.total().realized, worth(0)) << "it has cooled";
  EXPECT_DOUBLE_EQ(ledger.total().promised, worth(3));
}

TEST(Ledger, AVictimLosesWhatItsAccessesTakeLonger) {
  Ledger ledger;
  ledger.moved(move_of(0, 0, 1));
  ledger.moved(move_of(2, 1, 0));
  ledger.saw(std::vector{warm(0, 1, 2), warm(2, 0, 3)}, far_apart(), {.seconds = 1});
  EXPECT_DOUBLE_EQ(ledger.total().realized, worth(3) - worth(2));
  EXPECT_DOUBLE_EQ(ledger.pairs().at({0, 1}).realized, -worth(2));
  EXPECT_DOUBLE_EQ(ledger.pairs().at({1, 0}).realized, worth(3));
}

TEST(Ledger, WhatCameBackIsAsIfNothingHadBeenDone) {
  Ledger ledger;
  ledger.moved(move_of(0, 0, 1, -5));
  ledger.moved(move_of(0, 1, 0, 5));
  EXPECT_EQ(ledger.extents(), 0u);
  ledger.saw(std::vector{warm(0, 0, 9)}, far_apart(), {.seconds = 1});
  EXPECT_EQ(ledger.total().realized, 0);
}

TEST(Ledger, APartThatComesBackIsCutOut) {
  Ledger ledger;
  ledger.moved({0, 6 * kMiB, 6 * kMiB, 1, 0, 6, 0});
  ledger.moved(move_of(2, 0, 1));
  EXPECT_EQ(ledger.extents(), 2u);
  ledger.saw(std::vector{warm(0, 0, 1), warm(2, 1, 9), warm(4, 0, 2)}, far_apart(), {.seconds = 1});
  EXPECT_DOUBLE_EQ(ledger.total().realized, worth(1) + worth(2));
  EXPECT_DOUBLE_EQ(ledger.total().promised, 4);
  EXPECT_DOUBLE_EQ(ledger.figures(4 * kMiB, 5 * kMiB).realized, worth(2) / 2);
}

TEST(Ledger, OfARegionThatWasPartlyThereOnlyWhatMovedCounts) {
  Ledger ledger;
  ledger.moved({0, 2 * kMiB, kMiB, 1, 0, 0, 0});
  ledger.saw(std::vector{warm(0, 0, 3)}, far_apart(), {.seconds = 1});
  EXPECT_DOUBLE_EQ(ledger.total().realized, worth(3) / 2);
}

TEST(Ledger, WhatIsUnmappedIsForgotten) {
  Ledger ledger;
  ledger.moved(move_of(0, 1, 0));
  ledger.saw(std::vector{warm(8, 0, 3)}, far_apart(), {.seconds = 1});
  EXPECT_EQ(ledger.extents(), 0u);
  EXPECT_EQ(ledger.total().realized, 0);
}

TEST(Ledger, SpentIsSpreadOverTheIntervalsThatHeatLasts) {
  Ledger ledger;
  ledger.moved(move_of(0, 1, 0));
  ledger.saw(std::vector{warm(0, 0, 3)}, far_apart(),
             {.seconds = 2, .horizon = 10, .profile_ns = 600});
  EXPECT_DOUBLE_EQ(ledger.total().spent, 1000. / 2 / 10);
  EXPECT_DOUBLE_EQ(ledger.profiling(), 300);
  EXPECT_DOUBLE_EQ(ledger.sums().spent, 1600);
  EXPECT_TRUE(ledger.has_moved());
  ledger.saw(std::vector{warm(0, 0, 3)}, far_apart(), {.seconds = 2, .horizon = 10});
  EXPECT_DOUBLE_EQ(ledger.total().spent, 50 * 0.9);
  EXPECT_FALSE(ledger.has_moved());
}

TEST(Ledger, WhatMovedInAnIntervalHasSavedForHalfOfIt) {
  Ledger ledger;
  ledger.moved(move_of(0, 1, 0, worth(2)));
  ledger.saw(std::vector{warm(0, 0, 3)}, far_apart(), {.seconds = 4});
  EXPECT_DOUBLE_EQ(ledger.sums().saved, 2 * worth(3));
  EXPECT_DOUBLE_EQ(ledger.sums().promised, 2 * worth(2));
  EXPECT_DOUBLE_EQ(ledger.total().realized, worth(3)) << "a second of what lies there now";
  ledger.saw(std::vector{warm(0, 0, 3)}, far_apart(), {.seconds = 4});
  EXPECT_DOUBLE_EQ(ledger.sums().saved, 6 * worth(3));
  EXPECT_DOUBLE_EQ(ledger.sums().promised, 6 * worth(2));
}

TEST(Ledger, AMoveThatCameToNothingIsPaidForAllTheSame) {
  Ledger ledger;
  Ledger::Moved refused = move_of(0, 1, 0);
  refused.bytes = 0;
  ledger.moved(refused);
  ledger.saw(std::vector{warm(0, 1, 3)}, far_apart(), {.seconds = 1});
  EXPECT_DOUBLE_EQ(ledger.total().spent, 1000);
  EXPECT_EQ(ledger.total().realized, 0);
  EXPECT_FALSE(ledger.has_moved());
}

TEST(Ledger, AnInvestmentIsTold) {
  Ledger ledger;
  Ledger::Moved dear = move_of(0, 1, 0);
  dear.spent_ns = static_cast<std::uint64_t>(worth(3) * 9);
  ledger.moved(dear);
  ledger.saw(std::vector{warm(0, 0, 3)}, far_apart(), {.seconds = 1, .horizon = 10});
  EXPECT_TRUE(ledger.is_rising());
  ledger.moved(dear);
  ledger.saw(std::vector{warm(0, 0, 3)}, far_apart(), {.seconds = 1, .horizon = 10});
  EXPECT_FALSE(ledger.is_rising()) << "took as much again, for nothing";
}

TEST(Ledger, TheErrorOfARegionIsOneHoweverManyPiecesItHas) {
  Ledger pieces, whole;
  for (std::uint64_t mib = 0; mib < 8; mib += 2) pieces.moved(move_of(mib, 1, 0));
  whole.moved({0, 8 * kMiB, 8 * kMiB, 1, 0, 0, 0});
  RegionView one = region(0, 8, 0, 1);
  one.rate_q8 = 3 * 256;
  one.rate_dev_q8 = 256;  // a factor of 2: as much as the rate itself
  for (Ledger* const ledger : {&pieces, &whole}) {
    ledger->saw(std::vector{one}, far_apart(), {.seconds = 1});
    EXPECT_DOUBLE_EQ(ledger->total().realized, 4 * worth(3));
    EXPECT_DOUBLE_EQ(ledger->realized_dev(), 4 * worth(3));
  }
  std::vector<RegionView> apart;
  for (std::uint64_t mib = 0; mib < 8; mib += 2) {
    apart.push_back(warm(mib, 0, 3));
    apart.back().rate_dev_q8 = 256;
  }
  whole.saw(apart, far_apart(), {.seconds = 1});
  EXPECT_DOUBLE_EQ(whole.realized_dev(), 2 * worth(3));
}

TEST(Ledger, ForgetsWhatMattersLeastWhenThereIsTooMuch) {
  Ledger ledger;
  for (std::uint64_t i = 0; i <= Ledger::kMostExtents; ++i)
    ledger.moved(move_of(4 * i, 1, 0, static_cast<double>((i * 7919) % 65'537)));
  EXPECT_LE(ledger.extents(), Ledger::kMostExtents);
  EXPECT_GE(ledger.extents(), Ledger::kMostExtents * 7 / 8);
  for (std::uint64_t i = 0; i <= Ledger::kMostExtents; ++i)
    if ((i * 7919) % 65'537 > 40'000) {
      ASSERT_GT(ledger.figures(4 * i * kMiB, (4 * i + 2) * kMiB).promised, 0) << i;
    }
}

using Of = Ledger::Of;

/// Of the first 64 MiB the pages of a class, so many MiB.
Ledger::Moved class_move(Bytes mib, NodeId from, NodeId to, double promised = 0) {
  return {.length = 64 * kMiB,
          .bytes = mib * kMiB,
          .from = from,
          .to = to,
          .promised = promised,
          .of = to < from ? Of::risen : Of::fallen};
}

/// Of the same 64 MiB what lies on a node, as hot as warm().
RegionView lying(Bytes mib, NodeId node, unsigned page_class, int log_rate) {
  RegionView r = class_of(0, 64, node, page_class, mib);
  r.rate_q8 = static_cast<std::int16_t>(256 * log_rate);
  r.whi_q16 = q16(1);
  return r;
}

void see(Ledger& ledger, const std::vector<RegionView>& regions) {
  ledger.saw(regions, far_apart(), {.seconds = 1});
}

TEST(LedgerClasses, OfOneRangeSomeRiseAndSomeFall) {
  Ledger ledger;
  ledger.moved(class_move(8, 1, 0, 70));
  ledger.moved(class_move(8, 0, 1, -10));
  const std::vector<RegionView> after = {lying(8, 0, 7, 5), lying(56, 1, 1, 1)};
  see(ledger, after);
  EXPECT_DOUBLE_EQ(ledger.total().realized, 60) << "as promised until records know of the moves";
  see(ledger, after);
  EXPECT_NEAR(ledger.total().realized, 4 * worth(5) - 4 * worth(1), 1);
  EXPECT_DOUBLE_EQ(ledger.total().promised, 60);
  EXPECT_EQ(ledger.displaced_bytes(), 16 * kMiB);
}

TEST(LedgerClasses, ThoseOfSeveralMovesAddUp) {
  Ledger ledger;
  ledger.moved(class_move(8, 1, 0));
  ledger.moved(class_move(4, 1, 0));
  EXPECT_EQ(ledger.displaced_bytes(), 12 * kMiB);
  EXPECT_EQ(ledger.extents(), 1u);
}

TEST(LedgerClasses, WhatHasLeftAgainSavesNoMore) {
  Ledger ledger;
  ledger.moved(class_move(8, 1, 0, 70));
  see(ledger, {lying(8, 0, 7, 5), lying(56, 1, 1, 1)});
  see(ledger, {lying(2, 0, 7, 5), lying(62, 1, 1, 1)});
  EXPECT_NEAR(ledger.total().realized, worth(5), 1);
  EXPECT_EQ(ledger.displaced_bytes(), 2 * kMiB);
  RegionView even = region(0, 64, 1, 1);  // all of it fell
  see(ledger, {even});
  EXPECT_EQ(ledger.extents(), 0u);
}

TEST(LedgerClasses, WhatFallsToWhereItsRegionCameFromIsBackThere) {
  Ledger ledger;
  ledger.moved({.length = 64 * kMiB, .bytes = 64 * kMiB, .from = 1, .to = 0, .promised = 64});
  ledger.moved(class_move(48, 0, 1, -3));
  EXPECT_EQ(ledger.displaced_bytes(), 16 * kMiB);
  see(ledger, {lying(16, 0, 7, 5), lying(48, 1, 1, 1)});
  EXPECT_DOUBLE_EQ(ledger.total().promised, 16);
  EXPECT_NEAR(ledger.total().realized, 8 * worth(5), 1) << "by what lies there, not by the mean";
}

TEST(LedgerClasses, WhatIsPutBackIsAsIfNothingHadBeenDone) {
  Ledger ledger;
  ledger.moved(class_move(8, 1, 0, 70));
  ledger.moved(class_move(8, 0, 1, -10));
  for (Ledger::Moved back : {class_move(8, 0, 1), class_move(8, 1, 0)}) {
    back.undoes = true;
    ledger.moved(back);
  }
  EXPECT_EQ(ledger.extents(), 0u);
}

}  // namespace

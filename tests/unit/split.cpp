// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/ladder.h>

#include <algorithm>
#include <set>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

class RegionSplit : public testing::Test {
 protected:
  hmk_split_rule rule_ = {
      .tau2_q16 = 2 * kOne, .alpha_q16 = kOne / 2, .generation = 9, .ladder = nullptr};
  hmk_split_result result_{};

  Regions split(const Regions& in, std::uint32_t cap = 1000) {
    return split(in, samples_of(in), cap);
  }
  Regions split(const Regions& in, const std::vector<hmk_sample>& samples,
                std::uint32_t cap = 1000) {
    Regions out(cap);
    out.resize(hmk_regions_split(in.data(), static_cast<std::uint32_t>(in.size()), samples.data(),
                                 out.data(), cap, &rule_, &result_));
    return out;
  }
  static hmk_sample sample(std::uint64_t page, std::uint8_t count) {
    hmk_sample s{};
    s.addr = page * kPageBytes;
    s.count = count;
    return s;
  }
  /// A region whose samples disagree as much as they can.
  static hmk_region torn(std::uint64_t first, std::uint64_t end, std::uint16_t quota = 2) {
    hmk_region r = region_of(first, end, kOne);
    r.count_max = 3;
    r.quota = quota;
    return r;
  }
};

TEST_F(RegionSplit, LeavesWholeWhatIsToldPageByPage) {
  hmk_region mixed = torn(0, 512);
  hmk_region_set(&mixed, HMK_REGION_MIXED);
  EXPECT_EQ(split({mixed}).size(), 1u);
}

TEST_F(RegionSplit, HalvesARegionWhoseSamplesDisagree) {
  const Regions r = split({torn(0, 512)});
  ASSERT_EQ(r.size(), 2u);
  EXPECT_EQ(r[0].end, 256 * kPageBytes);
  EXPECT_EQ(r[1].start, 256 * kPageBytes);
  EXPECT_EQ(r[1].end, 512 * kPageBytes);
  for (const hmk_region& half : r) {
    EXPECT_EQ(half.hi_q16, kOne);
    EXPECT_EQ(half.whi_q16, kOne);
    EXPECT_EQ(half.generation, 9u);
    EXPECT_EQ(half.quota, 1);
    EXPECT_TRUE(hmk_region_is(&half, HMK_REGION_JUST_SPLIT));
    EXPECT_TRUE(hmk_region_is(&half, HMK_REGION_CENSUS));
  }
  EXPECT_EQ(result_.splits, 1u);
}

TEST_F(RegionSplit, ComparesStrictlyWithTau2) {
  hmk_region r = torn(0, 512);
  r.count_max = 2;
  EXPECT_EQ(split({r}).size(), 1u);
  rule_.tau2_q16 = 2 * kOne - 1;
  EXPECT_EQ(split({r}).size(), 2u);
}

TEST_F(RegionSplit, SplitsNothingWhenTau2IsTheNumberOfScans) {
  rule_.tau2_q16 = 3 * kOne;
  EXPECT_EQ(split({torn(0, 512)}).size(), 1u);
}

TEST_F(RegionSplit, GivesTheOddSampleToTheLeft) {
  const Regions r = split({torn(0, 512, 7)});
  EXPECT_EQ(r[0].quota, 4);
  EXPECT_EQ(r[1].quota, 3);
}

TEST_F(RegionSplit, LeavesARegionOfOneSampleWhole) {
  EXPECT_EQ(split({torn(0, 512, 1)}).size(), 1u);
}

TEST_F(RegionSplit, LeavesNewAndStaleRegionsWhole) {
  for (const std::uint32_t flag : {HMK_REGION_NEW, HMK_REGION_STALE}) {
    hmk_region r = torn(0, 512);
    r.flags = static_cast<std::uint16_t>(flag);
    EXPECT_EQ(split({r}).size(), 1u) << flag;
  }
}

TEST_F(RegionSplit, GoesDownToOneLeafAndNoFurther) {
  EXPECT_EQ(split({torn(0, 2)}).size(), 2u);
  EXPECT_EQ(split({torn(0, 1)}).size(), 1u);
  hmk_region huge = torn(0, 1024);
  huge.leaf_shift = 21;
  EXPECT_EQ(split({huge}).size(), 2u);
  huge = torn(0, 512);
  huge.leaf_shift = 21;
  EXPECT_EQ(split({huge}).size(), 1u);
}

TEST_F(RegionSplit, CutsAnOddNumberOfLeavesAtALeaf) {
  const Regions r = split({torn(0, 3)});
  ASSERT_EQ(r.size(), 2u);
  EXPECT_EQ(r[0].end, kPageBytes);
  hmk_region huge = torn(0, 3UL * 512);
  huge.leaf_shift = 21;
  EXPECT_EQ(split({huge})[0].end, 2ull << 20);
}

TEST_F(RegionSplit, LeavesARegionWholeWhenNoLeafBorderGivesTwoLeaves) {
  hmk_region r = torn(1, 1 + 1024);  // two leaves long, but aligned to none
  r.leaf_shift = 21;
  EXPECT_EQ(split({r}).size(), 1u);
}

TEST_F(RegionSplit, DividesResidencyWithoutLosingAPage) {
  hmk_region r = torn(0, 3);
  r.resident_pages = 3;
  r.away_pages = 2;
  const Regions halves = split({r});
  EXPECT_EQ(halves[0].resident_pages + halves[1].resident_pages, 3u);
  EXPECT_EQ(halves[0].away_pages + halves[1].away_pages, 2u);
}

TEST_F(RegionSplit, MarksOnlyTheLeftHalfAsStartOfItsVma) {
  hmk_region r = torn(0, 512);
  r.flags = HMK_REGION_VMA_START;
  const Regions halves = split({r});
  EXPECT_TRUE(hmk_region_is(&halves[0], HMK_REGION_VMA_START));
  EXPECT_FALSE(hmk_region_is(&halves[1], HMK_REGION_VMA_START));
}

TEST_F(RegionSplit, SplitsAsLongAsAllRegionsFit) {
  const Regions in = {torn(0, 512), torn(512, 1024), region_of(1024, 1025)};
  EXPECT_EQ(split(in, 5).size(), 5u);
  EXPECT_EQ(result_.no_room, 0u);
  const Regions r = split(in, 4);
  ASSERT_EQ(r.size(), 4u);
  EXPECT_EQ(r[3].start, 1024 * kPageBytes);
  EXPECT_EQ(result_.no_room, 1u);
  EXPECT_EQ(split(in, 3).size(), 3u);
}

TEST_F(RegionSplit, CutsThePieceOfTheOddSampleOut) {
  hmk_region r = torn(0, 8UL * 512, 4);
  r.hi_q16 = r.whi_q16 = kOne / 2;
  const Regions parts =
      split({r}, {sample(100, 0), sample(1700, 3), sample(2500, 0), sample(4000, 0)});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].start, 3UL * 512 * kPageBytes);
  EXPECT_EQ(parts[1].end, 4UL * 512 * kPageBytes);
  EXPECT_EQ(parts[1].hi_q16, 3 * kOne) << "its own count";
  EXPECT_EQ(parts[1].prev_hi_q16, kOne / 2);
  EXPECT_EQ(parts[1].whi_q16, kOne / 4 + 3 * kOne / 2);
  EXPECT_EQ(parts[0].hi_q16, kOne / 2) << "inherited";
  EXPECT_EQ(parts[2].whi_q16, kOne / 2) << "inherited";
  EXPECT_EQ(sum_of_quotas(parts), 4u);
  EXPECT_EQ(result_.splits, 2u);
}

TEST_F(RegionSplit, CutsTheColdPieceOutOfAHotRegion) {
  hmk_region r = torn(0, 4UL * 512, 3);
  const Regions parts = split({r}, {sample(0, 3), sample(600, 0), sample(1100, 3)});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].start, 512 * kPageBytes);
  EXPECT_EQ(parts[1].hi_q16, 0u);
}

TEST_F(RegionSplit, CutsEveryOddPieceAndOneOnlyOnce) {
  hmk_region r = torn(0, 16UL * 512, 6);
  const Regions parts = split({r}, {sample(7000, 3), sample(5000, 0), sample(3600, 3),
                                    sample(10, 0), sample(7100, 3), sample(2000, 0)});
  ASSERT_EQ(parts.size(), 5u);
  EXPECT_EQ(parts[1].start, 7UL * 512 * kPageBytes);
  EXPECT_EQ(parts[3].start, 13UL * 512 * kPageBytes);
  EXPECT_EQ(parts[3].end, 14UL * 512 * kPageBytes);
}

TEST_F(RegionSplit, LendsASampleWhereAPartWouldHaveNone) {
  hmk_region r = torn(0, 4UL * 512, 2);
  const Regions parts = split({r}, {sample(600, 3), sample(2000, 0)});
  ASSERT_EQ(parts.size(), 3u);
  for (const hmk_region& part : parts) EXPECT_EQ(part.quota, 1);
  EXPECT_EQ(result_.lent_quota, 1u);
}

TEST_F(RegionSplit, FindsTheSamplesOfARegionBehindAStaleOne) {
  hmk_region stale = torn(0, 512), r = torn(512, 4UL * 512, 2);
  stale.flags = HMK_REGION_STALE;
  const Regions parts = split({stale, r}, {sample(1100, 3), sample(2000, 0)});
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[2].start, 1024 * kPageBytes);
}

TEST_F(RegionSplit, AsksForRoomThatIsAlwaysEnough) {
  const Regions in = {torn(0, 64UL * 512, 16), region_of(64UL * 512, 64UL * 512 + 1)};
  std::vector<hmk_sample> samples;
  for (std::uint64_t k = 0; k < 16; k++) samples.push_back(sample(k * 2048 + 600, k % 2 ? 3 : 0));
  samples.push_back(sample(64UL * 512, 0));
  const std::uint32_t room = hmk_regions_split_room(in.data(), 2, &rule_);
  EXPECT_EQ(split(in, samples, room).size(), 18u);
  EXPECT_EQ(result_.no_room, 0u);
}

TEST(RegionSample, VisitsEveryPieceInAsManyIntervalsAsThereArePiecesToASample) {
  const hmk_region r = region_of(100, 100 + 40 * 512);  // 41 pieces, the outer two are cut
  std::vector<int> seen(41);
  for (std::uint64_t interval = 7; interval < 7 + 11; interval++) {
    for (std::uint32_t k = 0; k < 4; k++) {
      const std::uint64_t at = hmk_region_sample(&r, nullptr, k, 4, interval, interval * 977 + k);
      ASSERT_GE(at, r.start);
      ASSERT_LT(at, r.end);
      ASSERT_EQ(at % kPageBytes, 0u);
      seen[at >> 21]++;
    }
  }
  for (const int visits : seen) EXPECT_GE(visits, 1);
}

/// Of the ladder that ships.
class RegionTurns : public testing::Test {
 protected:
  RegionTurns() { hmk_ladder_make(&ladder_, 9'375'000'000, 3); }

  std::set<std::uint64_t> pieces_of(const hmk_region& r, std::uint32_t quota,
                                    std::uint64_t interval) const {
    std::set<std::uint64_t> pieces;
    for (std::uint32_t k = 0; k < quota; k++) {
      const std::uint64_t at = hmk_region_sample(&r, &ladder_, k, quota, interval, interval + k);
      EXPECT_GE(at, r.start);
      EXPECT_LT(at, r.end);
      pieces.insert(at >> 21);
    }
    return pieces;
  }

  hmk_ladder ladder_;
};

TEST_F(RegionTurns, WatchAsManyPiecesAsThereAreSamples) {
  for (std::uint64_t first = 0; first < 5; first++)
    for (std::uint64_t pieces = 1; pieces < 40; pieces++)
      for (std::uint32_t quota = 1; quota <= pieces && quota <= HMK_CORE_MAX_QUOTA; quota++)
        for (std::uint64_t interval = 0; interval < 9; interval++)
          ASSERT_EQ(
              pieces_of(region_of(first * 512 + 9, (first + pieces) * 512), quota, interval).size(),
              quota)
              << first << ' ' << pieces << ' ' << interval;
}

/// Counted from borders that move with each split and merge, turns left pieces out by chance.
TEST_F(RegionTurns, LeaveNoPieceOutWhateverBecomesOfItsRegion) {
  constexpr std::uint64_t kPieces = 300;
  Random random(1);
  for (const std::uint32_t turns : {1u, 2u, 4u, 8u}) {
    std::vector<std::uint64_t> seen(kPieces, 0);
    for (std::uint64_t interval = 1; interval < 50; interval++) {
      for (std::uint64_t at = 0, end; at < kPieces; at = end) {
        end = std::min(kPieces, at + 1 + random.below32(20));
        const auto quota = static_cast<std::uint32_t>((end - at + turns - 1) / turns);
        for (const std::uint64_t piece : pieces_of(region_of(at * 512, end * 512), quota, interval))
          seen[piece] = interval;
      }
      if (interval < turns) continue;
      for (std::uint64_t i = 0; i < kPieces; i++)
        ASSERT_GT(seen[i] + turns, interval) << i << ", in turns of " << turns;
    }
  }
}

TEST_F(RegionTurns, AreOfEqualWindowsCountedFromTheRegion) {
  hmk_ladder equal;
  hmk_ladder_make_equal(&equal, 1'000'000'000, 3);
  const hmk_region r = region_of(512, 11ull * 512);
  for (std::uint64_t i = 0; i < 20; i++)
    for (std::uint32_t k = 0; k < 3; k++) {
      EXPECT_EQ(hmk_region_sample(&r, &equal, k, 3, i, 7) >> 21, 1 + (k * 10 / 3 + i) % 10);
      EXPECT_EQ(hmk_region_sample(&r, nullptr, k, 3, i, 7),
                hmk_region_sample(&r, &equal, k, 3, i, 7));
    }
}

TEST(RegionSample, SharesAPieceOutAmongThoseThatMeetInIt) {
  const hmk_region r = region_of(0, kBasePages);
  for (std::uint64_t random = 0; random < 1000; random += 37) {
    for (std::uint32_t k = 0; k < 4; k++) {
      const std::uint64_t page =
          hmk_region_sample(&r, nullptr, k, 4, random, random * 7919) / kPageBytes;
      EXPECT_EQ(page / (kBasePages / 4), k);
    }
  }
}

TEST(RegionSample, LiesInItsRegionHoweverSmallAndWhicheverQuarterIsNoted) {
  for (std::uint64_t first = 510; first < 514; ++first) {
    for (std::uint64_t pages = 1; pages < 10; ++pages) {
      for (std::uint32_t noted = 0; noted <= 4; ++noted) {
        hmk_region r = region_of(first, first + pages);
        r.flags = static_cast<__u16>(noted << HMK_REGION_QUARTER_SHIFT);
        for (std::uint32_t quota = 1; quota <= 5; ++quota) {
          for (std::uint64_t random = 0; random < 20; ++random) {
            const std::uint64_t at = hmk_region_sample(
                &r, nullptr, static_cast<std::uint32_t>(random) % quota, quota, random, random);
            ASSERT_GE(at, r.start);
            ASSERT_LT(at, r.end);
          }
        }
      }
    }
  }
}

TEST(RegionSample, OfMoreThanThePagesOfAPieceFallsAnywhereInIt) {
  const hmk_region r = region_of(5, 7);
  for (std::uint32_t k = 0; k < 3; k++) {
    const std::uint64_t page = hmk_region_sample(&r, nullptr, k, 3, 0, k) / kPageBytes;
    EXPECT_TRUE(page == 5 || page == 6) << page;
  }
}

TEST_F(RegionSplit, OfNothingIsNothing) {
  EXPECT_TRUE(split({}).empty());
}

}  // namespace

// SPDX-License-Identifier: MIT
#include "hot_set.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace hmk::load {
namespace {

/// Share of a million accesses that fall into what is said to be hot.
double hot_share(const HotSet& hot) {
  constexpr int kAccesses = 1'000'000;
  const std::vector<Range> ranges = hot.ranges();
  QuickRandom bits(3);
  int nr_hot = 0;
  for (int i = 0; i < kAccesses; ++i) {
    const std::uint64_t at = hot.word(bits.next()) * 8;
    const auto after =
        std::upper_bound(ranges.begin(), ranges.end(), at,
                         [](std::uint64_t x, const Range& r) { return x < r.start; });
    nr_hot += after != ranges.begin() && at < after[-1].start + after[-1].length;
  }
  return static_cast<double>(nr_hot) / kAccesses;
}

std::uint64_t bytes(const std::vector<Range>& ranges) {
  return std::accumulate(ranges.begin(), ranges.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Range& r) { return sum + r.length; });
}

TEST(HotSet, TakesTheShareOfAccessesItIsSaidToTake) {
  struct {
    std::uint64_t words, chunk_words, nr_hot;
    double share;
  } cases[] = {
      {1 << 27, 1 << 18, 51, 0.90},    // 1 GiB in 2 MiB
      {1 << 28, 1 << 9, 4096, 0.90},   // a needle: 16 MiB in 2 GiB, in 4 KiB
      {3 << 20, 1 << 12, 7, 0.25},     // no power of two of chunks
      {1 << 20, 1 << 10, 512, 0.50},   // hot no more than cold
      {1 << 20, 1 << 10, 1024, 1.00},  // all is hot
      {1 << 20, 1 << 10, 1, 1.00},     // nothing else is touched
  };
  for (const auto& c : cases)
    for (const bool is_contiguous : {false, true}) {
      Random random(c.nr_hot);
      const HotSet hot({c.words, c.chunk_words, c.nr_hot, c.share, is_contiguous}, random);
      EXPECT_EQ(bytes(hot.ranges()), c.nr_hot * c.chunk_words * 8);
      EXPECT_NEAR(hot_share(hot), c.share, 0.01) << c.nr_hot << " of " << c.words / c.chunk_words;
    }
}

TEST(HotSet, IsOnePieceOnlyWhenAsked) {
  Random random(5);
  HotSet::Plan plan{1 << 24, 1 << 9, 1000, 0.9, true};
  EXPECT_EQ(HotSet(plan, random).ranges().size(), 1u);
  plan.is_contiguous = false;
  EXPECT_GT(HotSet(plan, random).ranges().size(), 900u);
}

TEST(HotSet, IsAnotherOneWhenDrawnAgain) {
  Random random(6);
  const HotSet::Plan plan{1 << 24, 1 << 12, 100, 0.9};
  const HotSet first(plan, random);
  EXPECT_NE(first.ranges(), HotSet(plan, random).ranges());
}

TEST(HotSet, ReachesTheFirstAndTheLastWord) {
  Random random(7);
  const HotSet hot({1 << 20, 1 << 9, 10, 0.9}, random);
  EXPECT_EQ(hot.word(0xffff), 0u);
  EXPECT_EQ(hot.word(UINT64_MAX), (1u << 20) - 1);
}

}  // namespace
}  // namespace hmk::load

// SPDX-License-Identifier: MIT
#include "levels.hpp"

#include <gtest/gtest.h>

#include <map>

namespace hmk::load {
namespace {

constexpr Levels::Plan kTwenty{5 << 20, 1 << 12, 20};  // 1280 chunks, 64 a level

/// Accesses by chunk, out of a million.
std::map<std::uint64_t, int> drawn(const Levels& levels, const Levels::Plan& plan) {
  std::map<std::uint64_t, int> count;
  QuickRandom bits(3);
  for (int i = 0; i < 1'000'000; ++i) ++count[levels.word(bits.next()) / plan.chunk_words];
  return count;
}

TEST(Levels, EachHasItsShareOfTheAccessesAndAsManyChunks) {
  Random random(1);
  std::vector<int> counts;
  for (const auto& [chunk, count] : drawn(Levels(kTwenty, random), kTwenty))
    counts.push_back(count);
  ASSERT_EQ(counts.size(), 1280u);
  std::sort(counts.rbegin(), counts.rend());
  const double whole = 3.59774;  // 1 + 1/2 + ... + 1/20
  for (const std::size_t level : {0u, 1u, 4u, 19u}) {
    const int mine =
        std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(64 * level),
                        counts.begin() + static_cast<std::ptrdiff_t>(64 * level + 64), 0);
    const double share = 1e6 / whole / static_cast<double>(level + 1);
    EXPECT_NEAR(mine, share, 0.05 * share) << level;
  }
}

TEST(Levels, HotIsWhatTakesMoreThanAnEvenShare) {
  Random random(1);
  const Levels levels(kTwenty, random);
  const std::vector<Range> hot = levels.ranges();
  std::uint64_t bytes = 0;
  for (const Range& range : hot) bytes += range.length;
  EXPECT_EQ(bytes, kTwenty.chunk_words * 5 * 64 * 8);  // 1/5 is above 3.6 / 20, 1/6 below
  int nr_hot = 0;
  for (const auto& [chunk, count] : drawn(levels, kTwenty))
    for (const Range& range : hot)
      if (const std::uint64_t at = chunk * kTwenty.chunk_words * 8;
          at >= range.start && at < range.start + range.length)
        nr_hot += count;
  EXPECT_NEAR(nr_hot, 1e6 * 2.28333 / 3.59774, 1e4);
}

TEST(Levels, AreOtherChunksWhenDrawnAgain) {
  Random random(1);
  const Levels first(kTwenty, random), second(kTwenty, random);
  EXPECT_NE(first.ranges(), second.ranges());
}

TEST(Levels, StayWithinTheMemory) {
  Random random(1);
  const Levels levels(kTwenty, random);
  for (const std::uint64_t low : {0ull, 4095ull})
    EXPECT_LT(levels.word(0xffffffff00000000ull | low), kTwenty.words);
}

}  // namespace
}  // namespace hmk::load

// SPDX-License-Identifier: MIT
#include "triad.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hmk::load {
namespace {

constexpr std::uint64_t kWords = 100;

TEST(Triad, EveryWordIsRightWhereverItIsStopped) {
  std::vector<Triad::Word> words(3 * kWords);
  Triad triad(words.data(), kWords);
  EXPECT_EQ(triad.wrong(), 0u);
  for (std::uint64_t done = 0; done < 7 * kWords; done += 33) {
    for (std::uint64_t left = 33; left != 0;) left -= triad.work(left);
    ASSERT_EQ(triad.wrong(), 0u) << done;
    ASSERT_EQ(triad.sweeps(), (done + 33) / kWords);
  }
}

TEST(Triad, WritesOneArrayASweepFromTheOtherTwo) {
  std::vector<Triad::Word> words(3 * kWords);
  Triad triad(words.data(), kWords);
  const std::vector<Triad::Word> before = words;
  EXPECT_EQ(triad.work(1000), kWords) << "not beyond the end of a sweep";
  for (std::uint64_t i = 0; i < kWords; ++i) {
    ASSERT_EQ(words[i], before[kWords + i] + 3 * before[2 * kWords + i]);
    ASSERT_EQ(words[kWords + i], before[kWords + i]);
  }
}

TEST(Triad, FindsAWordThatIsLostOrOld) {
  std::vector<Triad::Word> words(3 * kWords);
  Triad triad(words.data(), kWords);
  triad.work(40);
  const std::vector<Triad::Word> before = words;
  for (const std::uint64_t at : {0ul, 39ul, 40ul, 99ul, 100ul, 299ul}) {
    words[at] ^= 1;
    EXPECT_EQ(triad.wrong(), 1u) << at;
    words[at] = before[at];
  }
  triad.work(60);
  words[10] = 1 + 5 * 10;  // as it was before the sweep
  EXPECT_EQ(triad.wrong(), 1u);
}

}  // namespace
}  // namespace hmk::load

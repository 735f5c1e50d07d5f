// SPDX-License-Identifier: MIT
//
// The promises of mover/copy_threads.hpp, for any load and any curve.
#include "mover/copy_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hmk {
namespace {

using Random = std::mt19937_64;
constexpr unsigned kRounds = 20000;
constexpr std::size_t kMostThreads = 16;

double between(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

std::vector<double> any_curve(Random& random, std::size_t length) {
  std::vector<double> curve(length);
  for (double& bw : curve) bw = between(random, 1, 20);
  return curve;
}

struct Case {
  CopyLoad load;
  CopyCurve curve;
};

Case any_case(Random& random) {
  const std::size_t length = 1 + random() % kMostThreads;
  const unsigned max_threads = 1 + random() % 32;
  return {{.in_bytes = between(random, 0, 40),
           .out_bytes = between(random, 0, 40),
           .compute_s = between(random, 0.1, 4),
           .compute_bw = between(random, 0, 20),
           .share = between(random, 0.3, 1),
           .threads = static_cast<unsigned>(random() % (max_threads + 1)),
           .max_threads = max_threads},
          {.in_bw = any_curve(random, length),
           .out_bw = any_curve(random, length),
           .max_in = between(random, 10, 80),
           .max_out = between(random, 10, 80)}};
}

bool crowds_nobody(const Case& one, unsigned c) {
  const double bw = one.load.compute_bw + one.curve.in_bw[c - 1] + one.curve.out_bw[c - 1];
  return bw <= std::min(one.curve.max_in, one.curve.max_out) * one.load.share &&
         one.load.threads + c <= one.load.max_threads &&
         one.load.threads + 2 >= one.load.max_threads;
}

double copy_s(const Case& one, unsigned c) {
  return std::max(one.load.in_bytes / one.curve.in_bw[c - 1],
                  one.load.out_bytes / one.curve.out_bw[c - 1]);
}

TEST(CopyThreadsProperties, NoOtherNumberWouldHaveDoneBetterByTheThreeConstraints) {
  Random random(1);
  unsigned in_time = 0, late = 0, crowded = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    const Case one = any_case(random);
    const CopyChoice choice = choose_copy_threads(one.load, one.curve);
    const auto most = static_cast<unsigned>(one.curve.in_bw.size());
    ASSERT_GE(choice.copy_threads, 1u);
    ASSERT_LE(choice.copy_threads, most);
    ASSERT_EQ(choice.copy_s, copy_s(one, choice.copy_threads));
    ASSERT_EQ(choice.late, choice.copy_s > one.load.compute_s);
    ASSERT_EQ(choice.crowds, !crowds_nobody(one, choice.copy_threads));
    (choice.crowds ? crowded : choice.late ? late : in_time)++;
    for (unsigned c = 1; c <= most; ++c) {
      if (!crowds_nobody(one, c)) continue;
      ASSERT_FALSE(choice.crowds) << c << " threads would not";
      if (choice.late)
        ASSERT_GE(copy_s(one, c), choice.copy_s) << "the first to end is taken";
      else
        ASSERT_TRUE(c >= choice.copy_threads || copy_s(one, c) > one.load.compute_s)
            << c << " threads would do";
    }
  }
  EXPECT_GT(in_time, kRounds / 100);
  EXPECT_GT(late, kRounds / 100);
  EXPECT_GT(crowded, kRounds / 100);
}

TEST(CopyThreadsProperties, EqualBandwidthForMoreThreadsNeverRaisesTheirNumber) {
  Random random(2);
  for (unsigned round = 0; round < kRounds; ++round) {
    Case one = any_case(random);
    const CopyChoice before = choose_copy_threads(one.load, one.curve);
    for (std::vector<double>* curve : {&one.curve.in_bw, &one.curve.out_bw})
      while (curve->size() < 2 * kMostThreads) curve->push_back(curve->back());
    ASSERT_EQ(choose_copy_threads(one.load, one.curve), before);
    std::ranges::fill(one.curve.in_bw, one.curve.in_bw[0]);
    std::ranges::fill(one.curve.out_bw, one.curve.out_bw[0]);
    ASSERT_EQ(choose_copy_threads(one.load, one.curve).copy_threads, 1u);
  }
}

}  // namespace
}  // namespace hmk

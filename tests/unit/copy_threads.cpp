// SPDX-License-Identifier: MIT
#include "mover/copy_threads.hpp"

#include <gtest/gtest.h>

namespace hmk {
namespace {

constexpr double kGB = 1e9;

/// Four times as fast by four threads, with bandwidth for all.
CopyCurve linear() {
  return {.in_bw = {10 * kGB, 20 * kGB, 30 * kGB, 40 * kGB},
          .out_bw = {10 * kGB, 20 * kGB, 30 * kGB, 40 * kGB},
          .max_in = 1000 * kGB,
          .max_out = 1000 * kGB};
}

/// Nothing but the overlap decides.
CopyLoad roomy(double in_bytes) {
  return {.in_bytes = in_bytes, .compute_s = 1, .threads = 14, .max_threads = 16};
}

TEST(CopyThreads, AreTheFewestThatEndWithinTheWindow) {
  EXPECT_EQ(choose_copy_threads(roomy(10 * kGB), linear()), (CopyChoice{1, 1, false, false}));
  EXPECT_EQ(choose_copy_threads(roomy(11 * kGB), linear()), (CopyChoice{2, 0.55, false, false}));
}

TEST(CopyThreads, TheSlowerDirectionCounts) {
  CopyLoad load = roomy(1 * kGB);
  load.out_bytes = 20 * kGB;
  EXPECT_EQ(choose_copy_threads(load, linear()), (CopyChoice{2, 1, false, false}));
}

TEST(CopyThreads, NeverTakeBandwidthThatTheProgramNeeds) {
  CopyCurve curve = linear();
  curve.max_out = 60 * kGB;  // in and out together, of the lesser direction
  CopyLoad load = roomy(15 * kGB);
  load.compute_bw = 20 * kGB;
  EXPECT_EQ(choose_copy_threads(load, curve).copy_threads, 2u) << "20 + 20 + 20 is all there is";
  load.compute_bw = 21 * kGB;
  EXPECT_EQ(choose_copy_threads(load, curve), (CopyChoice{1, 1.5, true, false}));
  load.compute_bw = 41 * kGB;
  EXPECT_EQ(choose_copy_threads(load, curve), (CopyChoice{1, 1.5, true, true}));
  load.compute_bw = 0;
  load.share = 0.5;
  EXPECT_EQ(choose_copy_threads(load, curve).copy_threads, 1u) << "half is another's";
}

TEST(CopyThreads, NeverTakeThreadsThatTheProgramNeeds) {
  CopyLoad load = roomy(15 * kGB);
  load.threads = 15;
  EXPECT_EQ(choose_copy_threads(load, linear()), (CopyChoice{1, 1.5, true, false}));
  load.threads = 16;
  EXPECT_TRUE(choose_copy_threads(load, linear()).crowds);
  load.threads = 13;
  EXPECT_TRUE(choose_copy_threads(load, linear()).crowds) << "the program has given up three";
}

TEST(CopyThreads, WhatCannotEndInTimeIsCopiedByWhoEndsFirst) {
  EXPECT_EQ(choose_copy_threads(roomy(30 * kGB), linear()), (CopyChoice{2, 1.5, true, false}));
}

TEST(CopyThreads, WithoutACurveThereIsOne) {
  EXPECT_EQ(choose_copy_threads(roomy(kGB), {}), CopyChoice{});
}

// AutoTM, Fig. 3: writes of persistent memory grow no more after a few threads, and then fall.
TEST(CopyThreads, AFallingWriteCurveGivesTwoAtTheMost) {
  const CopyCurve pm{.in_bw = {2.3 * kGB, 4.6 * kGB, 6.9 * kGB, 9.2 * kGB},
                     .out_bw = {3.3 * kGB, 6.5 * kGB, 5 * kGB, 4 * kGB},
                     .max_in = 39 * kGB,
                     .max_out = 13 * kGB};
  for (const double gigabytes : {0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0})
    for (unsigned threads = 0; threads <= 16; ++threads) {
      CopyLoad load = roomy(gigabytes * kGB);
      load.out_bytes = load.in_bytes;
      load.threads = threads;
      EXPECT_LE(choose_copy_threads(load, pm).copy_threads, 2u) << gigabytes << ' ' << threads;
    }
}

}  // namespace
}  // namespace hmk

// SPDX-License-Identifier: MIT
#include "policy/persistence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/gain.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr std::uint64_t kRegions = 1024;

/// Regions of which `is_hot` says who is hot: 2^`log_hotter` times as hot as the others.
template <typename Hot>
void see(Persistence& persistence, Hot&& is_hot, int log_hotter = 6) {
  std::vector<RegionView> regions;
  std::vector<float> hits;
  for (std::uint64_t i = 0; i < kRegions; ++i) {
    RegionView r = region(2 * i, 2, 0, 1);
    r.rate_q8 = static_cast<std::int16_t>(256 * (is_hot(i) ? log_hotter : 0));
    r.rate_dev_q8 = 0;
    regions.push_back(r);
    hits.push_back(static_cast<float>(accesses_per_s(heat_of(r), r.resident)));
  }
  persistence.saw(regions, hits);
}

TEST(Persistence, WithoutEvidenceHeatStays) {
  Persistence persistence;
  EXPECT_DOUBLE_EQ(persistence.horizon(60), 60);
  EXPECT_FALSE(persistence.has_changed());
}

// A program that has just begun may free all that it had.
TEST(Persistence, OneIntervalIsNoProof) {
  Persistence persistence;
  see(persistence, [](auto i) { return i < 64; }, 12);
  see(persistence, [](auto i) { return i >= 512 && i < 576; }, 12);
  EXPECT_NEAR(persistence.share(0).value(), 0.8, 0.01);
  EXPECT_NEAR(persistence.horizon(60), 4, 0.1);
  for (int k = 0; k < 12; ++k) see(persistence, [](auto i) { return i >= 512 && i < 576; }, 12);
  EXPECT_GT(persistence.horizon(60), 30);
}

TEST(Persistence, WhatStaysLastsAsLongAsIsAsked) {
  Persistence persistence;
  for (int k = 0; k < 40; ++k) see(persistence, [](auto i) { return i % 8 == 0; });
  for (std::size_t lag = 0; lag < Persistence::kLags.size(); ++lag)
    EXPECT_DOUBLE_EQ(persistence.share(lag).value(), 1);
  EXPECT_DOUBLE_EQ(persistence.horizon(60), 60);
  EXPECT_DOUBLE_EQ(persistence.horizon(3), 3);
}

// A 32nd of the hot set is replaced each interval: of what is hot (1 - k/32) is left after k, and a
// 64th of what has cooled.
TEST(Persistence, AShareThatGoesByTheIntervalIsSeenAtEachLag) {
  Persistence persistence;
  for (std::uint64_t k = 0; k < 60; ++k)
    see(persistence, [k](auto i) { return (i + kRegions - 4 * k % kRegions) % kRegions < 128; });
  const double hot = 128. * 64 / (128 * 64 + 896);
  for (std::size_t lag = 0; lag < Persistence::kLags.size(); ++lag) {
    const double gone = Persistence::kLags[lag] / 32.;
    EXPECT_NEAR(persistence.share(lag).value(), 1 - hot * gone * 63 / 64, 0.02) << lag;
  }
  // 1 - hot * k / 32 for the 16 that are seen is 8.6 too few; beyond them it goes on falling.
  EXPECT_NEAR(persistence.horizon(16), 16 - hot * 8.5 / 2 * 63 / 64, 0.3);
  EXPECT_NEAR(persistence.horizon(1000), 25, 2);
}

// Of phases of 4 intervals 3/4, 2/4 and 1/4 are left on average.
TEST(Persistence, PhasesLastAsLongAsTheirRest) {
  Persistence persistence;
  for (std::uint64_t k = 0; k < 80; ++k)
    see(
        persistence, [k](auto i) { return i / 64 == k / 4 % 16; }, 12);
  EXPECT_NEAR(persistence.horizon(60), 1.5, 0.5);
}

// What is cold beside the phases, a fifth of the heat, does not go.
TEST(Persistence, APartThatStaysCountsToTheEnd) {
  Persistence persistence;
  for (std::uint64_t k = 0; k < 80; ++k)
    see(persistence, [k](auto i) { return i / 64 == k / 4 % 16; });
  const double stays = 960. / (960 + 64 * 64);
  EXPECT_NEAR(persistence.horizon(60), 60 * stays + (1 - stays) * 1.5, 2);
}

TEST(Persistence, AJumpIsAChangeAndARepeatedOneIsNot) {
  Persistence persistence;
  for (int k = 0; k < 20; ++k) {
    see(persistence, [](auto i) { return i < 64; });
    EXPECT_FALSE(persistence.has_changed()) << k;
  }
  see(persistence, [](auto i) { return i >= 512 && i < 576; });
  EXPECT_TRUE(persistence.has_changed());
  unsigned changes = 0;
  for (std::uint64_t k = 0; k < 80; ++k) {
    see(persistence, [k](auto i) { return i / 64 == k / 4 % 16; });
    changes += k > 24 && persistence.has_changed();
  }
  EXPECT_EQ(changes, 0u) << "it always does that";
}

TEST(Persistence, WhatChanceExplainsHasNotGone) {
  Persistence persistence;
  for (int k = 0; k < 10; ++k) {
    std::vector<RegionView> regions;
    std::vector<float> hits;
    for (std::uint64_t i = 0; i < kRegions; ++i) {
      RegionView r = region(2 * i, 2, 0, 1);
      r.rate_dev_q8 = 256;
      r.rate_q8 = static_cast<std::int16_t>(1024 + (k % 2 == 0 ? 0 : -256));
      regions.push_back(r);
      hits.push_back(1);
    }
    persistence.saw(regions, hits);
  }
  EXPECT_DOUBLE_EQ(persistence.share(0).value(), 1);
}

TEST(Persistence, AnIdleProgramSaysNothing) {
  Persistence persistence;
  const std::vector<float> none(kRegions, 0);
  std::vector<RegionView> cold;
  for (std::uint64_t i = 0; i < kRegions; ++i) cold.push_back(region(2 * i, 2, 0, 0));
  for (int k = 0; k < 5; ++k) persistence.saw(cold, none);
  EXPECT_FALSE(persistence.share(0));
  persistence.saw({}, {});
  EXPECT_DOUBLE_EQ(persistence.horizon(60), 60);
}

}  // namespace

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/hotness.h>

#include <algorithm>

#include "support/random.hpp"

using hmk::test::Random;

namespace {

TEST(HotnessProperties, TheEmaStaysBetweenOldValueAndSample) {
  Random random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto old = static_cast<std::uint32_t>(random.next() >> random.below(33));
    const auto now = static_cast<std::uint32_t>(random.next() >> random.below(33));
    const std::uint32_t alpha = random.below32(65537);
    const std::uint32_t ema = hmk_hotness_ema_q16(old, now, alpha);
    ASSERT_GE(ema, std::min(old, now));
    ASSERT_LE(ema, std::max(old, now));
    if (alpha && old != now) {
      ASSERT_NE(ema, old) << "stalled";
    }
  }
}

TEST(HotnessProperties, AConstantSampleIsReachedExactly) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    std::uint32_t whi = random.below32(16 << 16);
    const std::uint32_t now = random.below32(16 << 16);
    const std::uint32_t alpha = 6554 + random.below32(65536 - 6554);  // a tenth and more
    for (int interval = 0; interval < 200; ++interval) whi = hmk_hotness_ema_q16(whi, now, alpha);
    ASSERT_EQ(whi, now);
  }
}

TEST(HotnessProperties, AMeanOfPossibleCountsIsWithinTheNumberOfScans) {
  for (std::uint32_t scans = 1; scans <= HMK_CORE_MAX_SCANS; ++scans)
    for (std::uint32_t samples = 1; samples <= HMK_CORE_MAX_QUOTA; ++samples)
      for (std::uint32_t sum = 0; sum <= scans * samples; ++sum)
        ASSERT_LE(hmk_hotness_mean_q16(sum, samples), scans << 16);
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// The promises of size_curve.hpp, for memory nobody thought of.
#include "size_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/random.hpp"

namespace hmkctl {
namespace {

constexpr double kAlmost = 1e-9;

std::vector<Warmth> random_memory(hmk::test::Random& random) {
  std::vector<Warmth> memory(random.below(40));
  for (Warmth& part : memory) {
    part.bytes = random.one_in(8) ? 0 : 4096 * (1 + random.below(1 << random.below(20)));
    if (!random.one_in(4)) part.rate = static_cast<double>(random.below(1 << random.below(30)));
  }
  return memory;
}

template <class Check>
void for_each_memory(Check&& check) {
  std::size_t accessed = 0;
  for (std::uint64_t seed = 0; seed < hmk::test::rounds(2000); ++seed) {
    SCOPED_TRACE(seed);
    hmk::test::Random random(seed);
    const std::vector<Warmth> memory = random_memory(random);
    const SizeCurve curve(memory);
    accessed += curve.rate() > 0;
    check(memory, curve, random);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(accessed, hmk::test::rounds(2000) / 2);
}

TEST(SizeCurveProperties, BeginsAtNothingAndEndsAtAll) {
  for_each_memory([](const auto& memory, const SizeCurve& curve, auto&) {
    std::uint64_t bytes = 0;
    for (const Warmth& part : memory) bytes += part.bytes;
    ASSERT_EQ(curve.bytes(), bytes);
    ASSERT_EQ(curve.share(0), 0);
    ASSERT_NEAR(curve.share(bytes), curve.rate() > 0 ? 1 : 0, kAlmost);
    ASSERT_EQ(curve.share(bytes), curve.share(UINT64_MAX));
  });
}

TEST(SizeCurveProperties, NeverFallsAndNeverRisesMoreSteeplyThanBefore) {
  for_each_memory([](const auto&, const SizeCurve& curve, auto&) {
    double before = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < curve.corners().size(); ++i) {
      const auto &a = curve.corners()[i - 1], &b = curve.corners()[i];
      ASSERT_GT(b.bytes, a.bytes);
      const auto width = static_cast<double>(b.bytes - a.bytes);
      ASSERT_GE(b.share, a.share);
      ASSERT_LE(b.share - a.share, before * width + kAlmost);
      before = (b.share - a.share) / width;
    }
  });
}

TEST(SizeCurveProperties, NoChoiceOfPartsServesMore) {
  for_each_memory([](const auto& memory, const SizeCurve& curve, auto& random) {
    Warmth chosen;
    for (const Warmth& part : memory)
      if (part.bytes != 0 && random.one_in(2)) {
        chosen.bytes += part.bytes;
        chosen.rate += part.rate;
      }
    if (curve.rate() > 0) {
      ASSERT_LE(chosen.rate / curve.rate(), curve.share(chosen.bytes) + kAlmost);
    }
  });
}

TEST(SizeCurveProperties, TheSizeForAShareServesIt) {
  for_each_memory([](const auto&, const SizeCurve& curve, auto& random) {
    if (curve.rate() <= 0) return;
    const double share = static_cast<double>(random.below(1001)) / 1000;
    const std::uint64_t bytes = curve.bytes_for(share);
    ASSERT_GE(curve.share(bytes), share - kAlmost);
    if (bytes > 1) {
      ASSERT_LT(curve.share(bytes - 2), share + kAlmost);
    }
  });
}

TEST(SizeCurveProperties, TheOrderInWhichMemoryIsToldDoesNotMatter) {
  for_each_memory([](auto memory, const SizeCurve& curve, auto& random) {
    for (std::size_t i = memory.size(); i > 1; --i)
      std::swap(memory[i - 1], memory[random.below(i)]);
    const SizeCurve shuffled(memory);
    for (const std::uint64_t part : {1, 3, 7})
      ASSERT_NEAR(shuffled.share(curve.bytes() / 8 * part), curve.share(curve.bytes() / 8 * part),
                  kAlmost);
    ASSERT_NEAR(shuffled.skew(), curve.skew(), kAlmost);
    ASSERT_GE(curve.skew(), 0);
    ASSERT_LE(curve.skew(), 1);
  });
}

}  // namespace
}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <map>

#include "kv.hpp"

namespace hmk::load {
namespace {

TEST(Zipf, DrawsEachRankAsOftenAsItsExactProbability) {
  constexpr std::uint64_t kKeys = 1000;
  constexpr int kDraws = 2'000'000;
  const Zipf zipf(kKeys);
  Random random(1);
  std::vector<double> drawn(kKeys);
  for (int i = 0; i < kDraws; ++i) ++drawn[zipf(random.unit())];
  double zeta = 0, exact = 0, seen = 0;
  for (std::uint64_t i = 1; i <= kKeys; ++i) zeta += std::pow(static_cast<double>(i), -0.99);
  EXPECT_NEAR(Zipf::zeta(kKeys), zeta, 1e-9);
  for (std::uint64_t rank = 0; rank < kKeys; ++rank) {
    exact += std::pow(static_cast<double>(rank + 1), -0.99) / zeta;
    seen += drawn[rank] / kDraws;
    // Gray's formula is exact for the first two ranks and approximates the others.
    EXPECT_NEAR(seen, exact, rank < 2 ? 0.002 : 0.02) << rank;
  }
}

TEST(KvKeys, LatestAsksForTheLastKeyMost) {
  const KeyChoice choose(KeysBy::kLatest, 1000);
  EXPECT_EQ(choose.key(0), 999u);
  EXPECT_EQ(choose.key(998), 1u);
  EXPECT_EQ(choose.key(5000), 0u);
}

TEST(KvKeys, ZipfScattersHotKeysOverAllOfThem) {
  constexpr std::uint64_t kKeys = 100'000;
  const KeyChoice choose(KeysBy::kZipf, kKeys);
  std::map<std::uint64_t, int> tenths;
  for (std::uint64_t rank = 0; rank < 1000; ++rank) ++tenths[choose.key(rank) * 10UL / kKeys];
  EXPECT_EQ(tenths.size(), 10u);
  for (const auto& [tenth, nr] : tenths) EXPECT_NEAR(nr, 100, 40) << tenth;
}

TEST(KvKeys, ZipfKeepsTheSkew) {
  const KeyChoice choose(KeysBy::kZipf, 100'000);
  Random random(2);
  std::map<std::uint32_t, int> drawn;
  for (int i = 0; i < 100'000; ++i) ++drawn[choose(random)];
  EXPECT_NEAR(drawn[choose.key(0)] / 1e5, 1 / Zipf::zeta(100'000), 0.005);
}

}  // namespace
}  // namespace hmk::load

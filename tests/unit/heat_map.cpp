// SPDX-License-Identifier: MIT
#include "heat_map.hpp"

#include <gtest/gtest.h>

#include "support/sizes.hpp"

using namespace hmkctl;
using hmk::RecordedFrame;

namespace {

using hmk::test::kMiB;

RecordedFrame frame(std::uint64_t seq, std::vector<hmk::RecordedRegion> regions) {
  return {seq, seq * 1'000'000'000, (seq + 1) * 1'000'000'000, 2, std::move(regions)};
}

hmk::RecordedRegion region(std::uint64_t start_mib, std::uint64_t mib, double share) {
  return {start_mib * kMiB, mib * kMiB, 0, static_cast<std::uint32_t>(share * 512), 0, mib * 256};
}

/// Two areas far apart; the second comes later and is half hot, half cold in its one row.
const std::vector<RecordedFrame> kFrames{
    frame(1, {region(16, 4, 1), region(20, 4, 0.25)}),
    frame(2, {region(16, 4, 0.5), region(20, 4, 0.75), region(4096, 2, 1), region(4098, 2, 0)})};

HeatMap draw(std::size_t rows, std::size_t columns) {
  std::vector<Span> spans;
  for (const RecordedFrame& f : kFrames) spans = join(spans, f);
  HeatMap map(spans, rows, columns, kFrames.size());
  for (const RecordedFrame& f : kFrames) map.add(f);
  return map;
}

TEST(HeatMap, JoinsWhatTouchesAndKeepsHolesApart) {
  EXPECT_EQ(join({{0, 10}}, {1, 0, 1, 3, {{10, 5, 0, 0, 0, 0}, {20, 5, 0, 0, 0, 0}}}),
            (std::vector<Span>{{0, 15}, {20, 25}}));
}

TEST(HeatMap, LeavesOutTheHolesBetweenRegions) {
  const HeatMap map = draw(3, 64);
  ASSERT_EQ(map.rows(), 3u);
  ASSERT_EQ(map.columns(), 2u);
  EXPECT_EQ(map.address(0), 16 * kMiB);
  EXPECT_EQ(map.address(1), 20 * kMiB);
  EXPECT_EQ(map.address(2), 4096 * kMiB);
  EXPECT_EQ(map.bytes_per_row(), 4 * kMiB);
}

TEST(HeatMap, TakesTheMeanByBytes) {
  const HeatMap map = draw(3, 64);
  EXPECT_EQ(map.at(0, 0), 1.0);
  EXPECT_EQ(map.at(1, 0), 0.25);
  EXPECT_EQ(map.at(2, 0), std::nullopt);
  EXPECT_EQ(map.at(2, 1), 0.5);
  EXPECT_EQ(draw(3, 1).at(0, 0), 0.75);  // both intervals in one column
  EXPECT_EQ(draw(1, 64).at(0, 0), 0.625);
}

TEST(HeatMap, CountsEveryByteOnceWhateverTheRows) {
  for (const std::size_t rows : {1u, 2u, 5u, 7u, 13u, 100u, 3072u, 5000u}) {
    const HeatMap map = draw(rows, 64);
    double sum = 0;
    for (std::size_t row = 0; row < map.rows(); ++row) sum += map.at(row, 1).value_or(-1);
    // 4 MiB at 0.5, 4 MiB at 0.75, 4 MiB at 0.5 on average, of 12 MiB; rows differ by a byte.
    EXPECT_NEAR(sum / static_cast<double>(map.rows()), 7.0 / 12, 1e-5) << rows;
  }
}

TEST(HeatMap, KnowsHolesAndWhatOfThemIsInARow) {
  const HeatMap map = draw(3, 64);
  EXPECT_EQ(map.holes(), (std::vector<std::uint64_t>{8 * kMiB}));
  EXPECT_FALSE(map.has_hole(0));
  EXPECT_FALSE(map.has_hole(1));
  EXPECT_TRUE(map.has_hole(2)) << "right before it";
  const HeatMap two = draw(2, 64);  // 6 MiB each: the second has 2 MiB before the hole
  EXPECT_TRUE(two.has_hole(1)) << "in it";
  EXPECT_EQ(two.pieces(1), (std::vector<Span>{{22 * kMiB, 24 * kMiB}, {4096 * kMiB, 4100 * kMiB}}));
  EXPECT_EQ(two.pieces(0), (std::vector<Span>{{16 * kMiB, 22 * kMiB}}));
}

TEST(HeatMap, KnowsWhereAnAddressIs) {
  const HeatMap map = draw(3, 64);
  EXPECT_EQ(map.offset(0), 0u);
  EXPECT_EQ(map.offset(16 * kMiB), 0u);
  EXPECT_EQ(map.offset(17 * kMiB), kMiB);
  EXPECT_EQ(map.offset(24 * kMiB), 8 * kMiB) << "in the hole: what comes behind it";
  EXPECT_EQ(map.offset(4097 * kMiB), 9 * kMiB);
  EXPECT_EQ(map.offset(1ull << 46), 12 * kMiB);
}

TEST(HeatMap, TakesTheMeanOfRatesWhereAllHaveOne) {
  EXPECT_FALSE(draw(3, 64).has_rates());
  RecordedFrame one = frame(1, {region(16, 1, 1), region(17, 3, 1), region(20, 4, 0)});
  one.regions[0].rate_q4 = 16 * 4;
  one.regions[1].rate_q4 = 16 * 2;
  one.regions[2].rate_q4 = -16 * 9;
  HeatMap map(join({}, one), 2, 1, 1);
  map.add(one);
  ASSERT_TRUE(map.has_rates());
  EXPECT_EQ(map.rate(0, 0), (16 + 3 * 4) / 4.0);
  EXPECT_EQ(map.rate(1, 0), 0) << "no access was seen: the rate is a bound";
}

}  // namespace

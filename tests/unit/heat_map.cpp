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

TEST(HeatMap, AsTextIsBlocksWithoutColour) {
  EXPECT_EQ(
      draw_text(draw(3, 64), false),
      "       1000000 \u2588\u2592\n"
      "       1400000 \u2591\u2593\n"
      "     100000000 \u00b7\u2592\n"
      "smoothed hotness [ ] from 0 % [\u2591] from 20 % [\u2592] from 40 % [\u2593] from 60 % "
      "[\u2588] from 80 %, \u00b7 no memory\n"
      "2 intervals in 2.0s, a row is 4.0MiB\n");
}

TEST(HeatMap, OnATerminalHasColours) {
  const std::string text = draw_text(draw(3, 64), true);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "       1000000 \033[48;5;231m \033[0m\033[48;5;208m \033[0m");
}

TEST(HeatMap, AsPictureHasARectanglePerRunOfOneColour) {
  EXPECT_EQ(draw_svg(draw(1, 64), "a<b>&c (PID 7)"),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"480\" height=\"70\" "
            "font-family=\"monospace\" font-size=\"10\">\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
            "<text x=\"5\" y=\"18\">a&lt;b>&amp;c (PID 7)</text>\n"
            "<text x=\"5\" y=\"38\">       1000000</text>\n"
            "<rect x=\"120\" y=\"30\" width=\"10\" height=\"10\" fill=\"#ffdf00\"/>\n"
            "<rect x=\"130\" y=\"30\" width=\"10\" height=\"10\" fill=\"#ffbf00\"/>\n"
            "<text x=\"5\" y=\"58\">2 intervals in 2.0s, a row is 12.0MiB, black 0 %, red, yellow, "
            "white 100 % of the windows, grey: no memory</text>\n</svg>\n");
}

}  // namespace

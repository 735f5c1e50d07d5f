// SPDX-License-Identifier: MIT
#include "heat_pieces.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/random.hpp"
#include "support/sizes.hpp"

using namespace hmkctl;
using hmk::RecordedFrame;
using hmk::RecordedRegion;
using hmk::test::kMiB;
using hmk::test::Random;

namespace {

/// Of one second; regions all of whose pages are resident, with log2 of their rates.
struct Part {
  std::uint64_t start, length;
  int log2_rate;
};
RecordedFrame frame(std::uint64_t second, const std::vector<Part>& parts) {
  RecordedFrame made{second, second * 1'000'000'000, (second + 1) * 1'000'000'000, 3, {}};
  for (const Part& part : parts)
    made.regions.push_back(
        {part.start, part.length, 256, 256, 0, part.length / 4096, 16 * part.log2_rate});
  return made;
}

HeatPieces pieces_of(const std::vector<RecordedFrame>& frames, std::size_t windows,
                     std::size_t most = 8192) {
  Borders borders(most);
  for (const RecordedFrame& one : frames) borders.add(one);
  EXPECT_LE(borders.addresses().size(), most);
  HeatPieces heat(borders, windows, frames.size());
  for (const RecordedFrame& one : frames) heat.add(one);
  return heat;
}

TEST(HeatPieces, StayTheSameWhereRegionsMergeAndSplit) {
  const auto heat = pieces_of({frame(0, {{kMiB, 2 * kMiB, 0}, {4 * kMiB, kMiB, 1}}),
                               frame(1, {{kMiB, kMiB, 2}, {2 * kMiB, kMiB, -1}})},
                              8);
  const auto pieces = heat.pieces();
  ASSERT_EQ(pieces.size(), 3u) << "the hole is none";
  EXPECT_EQ(heat.windows(), 2u) << "as many as frames";
  EXPECT_EQ(heat.time_ns(), 2'000'000'000u);
  EXPECT_EQ(pieces[0].accesses, (std::vector<double>{256, 1024}));
  EXPECT_EQ(pieces[1].accesses, (std::vector<double>{256, 128}));
  EXPECT_EQ(pieces[2].accesses, (std::vector<double>{512, 0})) << "gone in the second";
  EXPECT_EQ(pieces[2].bytes, kMiB);
}

TEST(HeatPieces, WhatWasNeverSeenAccessedIsCold) {
  RecordedFrame one = frame(0, {{0, kMiB, 5}});
  one.regions[0].whi_q8 = 0;  // its rate is a bound
  const auto heat = pieces_of({one}, 1);
  EXPECT_EQ(heat.pieces()[0].accesses[0], 0);
  EXPECT_TRUE(heat.has_rates());
  one.regions[0].rate_q4 = RecordedRegion::kNoRate;
  EXPECT_FALSE(pieces_of({one}, 1).has_rates());
}

TEST(HeatPieces, HoweverManyRegionsThereAreNoAccessAndNoByteIsLost) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<RecordedFrame> frames;
    double accesses = 0, bytes = 0;
    for (std::uint64_t second = 0; second < 5; ++second) {
      std::vector<Part> parts;
      std::uint64_t at = 64 * kMiB;
      double resident = 0;
      for (int i = 0; i < 300; ++i) {
        at += 4096 * random.below(3);
        const std::uint64_t length = 4096 * (1 + random.below(500));
        parts.push_back({at, length, static_cast<int>(random.below(9)) - 4});
        accesses += std::exp2(parts.back().log2_rate) * static_cast<double>(length) / 4096;
        resident += static_cast<double>(length);
        at += length;
      }
      bytes = std::max(bytes, resident);
      frames.push_back(frame(second, parts));
    }
    for (const std::size_t most : {8192, 64, 3}) {
      double seen = 0, held = 0;
      for (const auto& piece : pieces_of(frames, 4, most).pieces()) {
        seen += std::accumulate(piece.accesses.begin(), piece.accesses.end(), 0.0);
        held += piece.bytes;
      }
      EXPECT_NEAR(seen, accesses, 1e-9 * accesses) << most;
      EXPECT_GE(held, bytes * (1 - 1e-9)) << most;
    }
  }
}

TEST(HeatPieces, WithoutMemoryNothingIsAccessed) {
  HeatPieces empty(Borders{}, 4, 1);
  empty.add({1, 0, 1'000'000'000, 3, {}});
  EXPECT_EQ(empty.accesses(), 0);
  EXPECT_EQ(pieces_of({frame(0, {{4096, 4096, 3}})}, 4).accesses(), 8);
}

}  // namespace

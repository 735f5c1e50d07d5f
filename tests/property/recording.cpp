// SPDX-License-Identifier: MIT
#include "record/reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/random.hpp"
#include "support/recording_file.hpp"

using namespace hmk;

namespace {

std::int32_t some_node(test::Random& random) {
  return static_cast<std::int32_t>(random.below(65)) - 1;
}

RecordedRegion some_region(test::Random& random, std::uint64_t start) {
  RecordedRegion region{start,
                        (1 + random.below(random.one_in(3) ? 70000 : 512)) * 4096,
                        random.below32(16 * 256 + 1),
                        random.below32(16 * 256 + 1),
                        some_node(random),
                        random.below(1ull << random.below(40)),
                        random.one_in(5) ? RecordedRegion::kNoRate
                                         : static_cast<std::int32_t>(random.below(600)) - 300};
  region.rate_dev_q4 = static_cast<std::uint16_t>(random.below(1ull << random.below(17)));
  region.samples = static_cast<std::uint16_t>(random.below(1ull << random.below(17)));
  if (random.one_in(3)) region.writes = static_cast<std::uint16_t>(random.below(100));
  if (random.one_in(3)) region.away_pages = random.below32(10'000);
  if (random.one_in(3)) region.away_node = some_node(random);
  return region;
}

std::vector<RecordedMove> some_moves(test::Random& random) {
  std::vector<RecordedMove> moves(random.below(4));
  for (RecordedMove& move : moves)
    move = {random.below(1ull << random.below(48)) / 4096 * 4096,
            (1 + random.below(600)) * 4096,
            some_node(random),
            some_node(random),
            random.below(2),
            static_cast<RecordedMove::Reason>(random.below(7))};
  return moves;
}

/// Some regions stay, some change, go, split, come.
std::vector<RecordedRegion> changed(test::Random& random, const std::vector<RecordedRegion>& old) {
  std::vector<RecordedRegion> now;
  std::uint64_t end = 0;
  for (const RecordedRegion& r : old) {
    if (r.start < end || random.one_in(9)) continue;
    now.push_back(r);
    if (random.one_in(4)) now.back() = some_region(random, r.start);
    if (random.one_in(9) && r.length > 4096) now.back().length = 4096;
    end = now.back().start + now.back().length;
  }
  for (std::uint64_t n = random.below(20); n > 0; --n) {
    end += random.below(3) * random.below(100000) * 4096;
    now.push_back(some_region(random, end));
    end += now.back().length;
  }
  return now;
}

TEST(RecordingProperties, WhateverIsWrittenComesBack) {
  const std::string path = testing::TempDir() + "/hmk-rec-property-" + std::to_string(getpid());
  for (std::uint64_t seed = 1; seed <= test::rounds(200); ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    std::vector<RecordedFrame> frames(random.below(12));
    RecordedFrame before;
    test::RecordingFile file(path, {static_cast<std::int32_t>(seed), std::string(seed % 16, 'x')});
    for (RecordedFrame& frame : frames) {
      frame.seq = before.seq + random.below(3);
      frame.start_ns = before.end_ns + random.below(1000);
      frame.end_ns = frame.start_ns + 1 + random.below(1ull << 40);
      frame.num_scans = 1 + random.below32(16);
      frame.regions = changed(random, before.regions);
      frame.moves = some_moves(random);
      if (random.one_in(4)) file.describe({{{{{0}, 90}}, "hmat"}, {{4096, 8192, "x"}}});
      file.append(frame);
      before = frame;
    }
    file.finish();
    EXPECT_EQ(file.bytes(), std::filesystem::file_size(path));

    auto reader = RecordReader::open(path);
    ASSERT_TRUE(reader) << reader.error().line();
    RecordedFrame seen;
    for (const RecordedFrame& frame : frames) {
      const auto more = reader->next(seen);
      ASSERT_TRUE(more) << more.error().line();
      ASSERT_TRUE(*more);
      ASSERT_EQ(seen, frame);
    }
    const auto more = reader->next(seen);
    ASSERT_TRUE(more && !*more);
  }
  std::filesystem::remove(path);
}

}  // namespace

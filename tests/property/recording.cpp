// SPDX-License-Identifier: MIT
#include "recording.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/random.hpp"

using namespace hmk;

namespace {

RecordedRegion some_region(test::Random& random, std::uint64_t start) {
  return {start,
          (1 + random.below(random.one_in(3) ? 70000 : 512)) * 4096,
          random.below32(16 * 256 + 1),
          random.below32(16 * 256 + 1),
          static_cast<std::int32_t>(random.below(65)) - 1,
          random.below(1ull << random.below(40)),
          random.one_in(5) ? RecordedRegion::kNoRate
                           : static_cast<std::int32_t>(random.below(600)) - 300};
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
    auto writer =
        RecordWriter::create(path, {static_cast<std::int32_t>(seed), std::string(seed % 16, 'x')});
    ASSERT_TRUE(writer);
    for (RecordedFrame& frame : frames) {
      frame.seq = before.seq + random.below(3);
      frame.start_ns = before.end_ns + random.below(1000);
      frame.end_ns = frame.start_ns + 1 + random.below(1ull << 40);
      frame.num_scans = 1 + random.below32(16);
      frame.regions = changed(random, before.regions);
      if (random.one_in(4)) {
        ASSERT_TRUE(writer->describe({{{{0}, 90}}, {{4096, 8192, "x"}}}));
      }
      ASSERT_TRUE(writer->append(frame));
      before = frame;
    }
    ASSERT_TRUE(writer->finish());
    EXPECT_EQ(writer->bytes(), std::filesystem::file_size(path));

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

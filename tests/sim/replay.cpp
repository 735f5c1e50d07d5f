// SPDX-License-Identifier: MIT
#include "replay.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "run.hpp"
#include "support/recording_file.hpp"

using namespace hmk::sim;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kHeap = 0x7f0000000000;

/// 512 MiB in regions of 2 MiB; every tenth, from interval 7 on another tenth, had all scans.
std::string record(std::uint32_t intervals, bool jumps) {
  std::string path = testing::TempDir() + "/hmk-replay-" + std::to_string(getpid());
  hmk::test::RecordingFile file(path, {1, "gups"});
  for (std::uint32_t n = 0; n < intervals; ++n) {
    hmk::RecordedFrame frame{n + 1, n * 10'000'000'000ull, (n + 1) * 10'000'000'000ull, 3};
    for (std::uint64_t i = 0; i < 256; ++i) {
      const bool is_hot = i % 10 == (jumps && n >= 6 ? 7 : 3);
      const std::uint32_t hi = is_hot ? 768 : 20;
      frame.regions.push_back({kHeap + i * 2 * kMiB, 2 * kMiB, hi, hi, 0, 512});
    }
    file.append(frame);
  }
  file.finish();
  return path;
}

TEST(SimReplay, HasTheRecordedMemoryHotSetAndTimes) {
  const Replay replay = make_replay(record(4, false));
  EXPECT_EQ(replay.scenario.intervals, 4u);
  EXPECT_EQ(replay.interval_s, 10);
  EXPECT_EQ(replay.num_scans, 3u);
  const World& world = replay.scenario.at(3);
  EXPECT_EQ(world.spans.size(), 1u);
  EXPECT_EQ(world.bytes(), 512 * kMiB);
  EXPECT_EQ(world.hot.bytes(), 52 * kMiB);
  EXPECT_TRUE(world.hot.contains(kHeap + 6 * kMiB));
}

TEST(SimReplay, SetsAccessedBitsAsOftenAsTheHotnessSays) {
  const Replay replay = make_replay(record(1, false));
  const Means means;
  const Accesses accesses(replay.scenario.at(0), 7, 0, 12, means.window_s());
  unsigned hot = 0, cold = 0;
  for (std::uint64_t page = 0; page < 512; ++page) {
    for (std::uint64_t round = 1; round <= 100; ++round) {
      hot += accesses.accessed(kHeap + 6 * kMiB + page * 4096, static_cast<std::uint32_t>(round));
      cold += accesses.accessed(kHeap + page * 4096, static_cast<std::uint32_t>(round));
    }
  }
  EXPECT_GE(hot, 51'000u);
  EXPECT_NEAR(cold / 51'200.0, 20 / 768.0, 0.005);
  EXPECT_FALSE(accesses.accessed(kHeap - 4096, 1));
}

TEST(SimReplay, IsProfiledLikeAnyScenario) {
  RunOptions options{make_replay(record(14, true)).scenario, Layout::kScattered, {}, 0};
  options.means.budget_percent = 1;
  for (const bool equal : {true, false}) {
    options.means.equal_windows = equal;
    const auto list = run(options, profiler_names());
    ASSERT_EQ(list.size(), profiler_names().size());
    EXPECT_GE(list[0]["recall"][5].get<double>(), 0.95);
    EXPECT_GE(list[0]["precision"][5].get<double>(), 0.95);
    // The jump: with windows of its own length a region shows it in the same interval.
    EXPECT_EQ(list[0]["recall"][6].get<double>() < 0.5, equal);
  }
}

TEST(SimReplay, OfADamagedFileIsOneLine) {
  const std::string path = record(2, false);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  try {
    make_replay(path);
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("is cut short after 2 intervals"), std::string::npos)
        << e.what();
  }
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// What an interval costs hmkd itself, as far as it can be counted: the files it reads.
#include <gtest/gtest.h>

#include <ctime>

#include "app_fixture.hpp"
#include "files_read.hpp"
#include "support/sizes.hpp"
#include "util/cost_limit.hpp"

namespace hmk {
namespace {

using test::kMiB;
using test::kPid;
using Files = std::vector<std::string>;

/// As hmkd runs, but for a limit that no machine is slow enough to reach twice.
class CostTest : public test::AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    look_parts_ = 1'000'000'000;
    config_.mode = Mode::manage;
    tree_.put("proc/zoneinfo", "Node 0, zone   Normal\n        high     1536\n");
    tree_.put("proc/sys/kernel/numa_balancing", "0\n");
    for (int thread = 1; thread <= 40; ++thread)
      tree_.put(own_ + "task/" + std::to_string(kPid + thread) + "/stat", "1 (x) S");
  }
  Files read_by_interval(std::uint64_t seq) {
    test::FilesRead files(tree_.root());
    kernel_.publish(interval(seq, {region(0, 3, 3.0), region(4 * kMiB, 0, 0.0)}));
    run();
    return files.opened();
  }
  static bool has(const Files& files, const std::string& file) {
    return std::ranges::find(files, file) != files.end();
  }

  const std::string own_ = "proc/" + std::to_string(kPid) + "/";
  const std::string nodes_ = "sys/devices/system/node/";
};

TEST_F(CostTest, AnIntervalReadsAFileForItsProcessAndOneForEachNode) {
  start();
  const Files files{own_ + "stat",
                    nodes_ + "online",
                    nodes_ + "node0/meminfo",
                    nodes_ + "node1/meminfo",
                    nodes_ + "node2/meminfo",
                    nodes_ + "node3/meminfo"};
  for (std::uint64_t seq = 1; seq < 4; ++seq) EXPECT_EQ(read_by_interval(seq), files) << seq;
}

TEST_F(CostTest, NoSecondLookAtTheMachineForASecondProcess) {
  ends_with_last_target_ = false;
  test::put_process(tree_, kPid + 1000, "another");
  start();
  test::FilesRead files(tree_.root());
  data("attach", {{"pid", kPid + 1000}});
  EXPECT_FALSE(has(files.opened(), "proc/zoneinfo"));
}

TEST_F(CostTest, ANodeWithMoreMemoryAndANewNodeAreSeenAtOnce) {
  start();
  read_by_interval(1);
  test::put_node(tree_, {2, "", "30 40 10 20", 524288, 1024, 275, 35000});
  EXPECT_TRUE(has(read_by_interval(2), "proc/zoneinfo"));
  tree_.put(nodes_ + "online", "0-2\n");
  EXPECT_TRUE(has(read_by_interval(3), "proc/zoneinfo"));
  EXPECT_EQ(target("status")["tiers"].size(), 3u);
  EXPECT_FALSE(has(read_by_interval(4), "proc/zoneinfo"));
}

TEST_F(CostTest, WhatIsFreeIsNewInEachInterval) {
  start();
  test::put_node(tree_, {2, "", "30 40 10 20", 262144, 1024, 275, 35000});
  read_by_interval(1);
  EXPECT_EQ(target("status")["tiers"][2]["free_bytes"], kMiB);
  test::put_node(tree_, {2, "", "30 40 10 20", 262144, 2048, 275, 35000});
  read_by_interval(2);
  EXPECT_EQ(target("status")["tiers"][2]["free_bytes"], 2 * kMiB);
}

// The kernel raises them when pages of one kind take what was kept for another; a plan by the old
// ones finds the same room free in each interval, and the module none.
TEST_F(CostTest, WatermarksAreReadAnewWhereThereWasLessRoomThanTheyLeave) {
  start();
  EXPECT_FALSE(has(read_by_interval(1), "proc/zoneinfo"));
  tree_.put("proc/zoneinfo", "Node 0, zone   Normal\n        high     2048\n");
  const std::uint64_t before = target("status")["tiers"][0]["free_bytes"];
  while (!kernel_.tickets.empty()) {
    kernel_.finish([](const hmk_range& range) {
      hmk_range_result result{};
      result.refused[HMK_REFUSED_NO_ROOM] = range.length / HMK_PAGE_SIZE;
      return result;
    });
    run();
  }
  EXPECT_TRUE(has(read_by_interval(2), "proc/zoneinfo"));
  EXPECT_EQ(target("status")["tiers"][0]["free_bytes"], before - 2 * kMiB);
  EXPECT_FALSE(has(read_by_interval(3), "proc/zoneinfo")) << "nothing was refused since";
}

void take_cpu_time() {
  for (const std::clock_t end = std::clock() + 2 * CLOCKS_PER_SEC / 1000; std::clock() < end;)
    continue;
}

TEST(CostLimit, IsDueAgainWhenTheTimeIsAMultipleOfTheCost) {
  CostLimit limit;
  EXPECT_TRUE(limit.is_due());
  limit.run(1'000'000, take_cpu_time);
  EXPECT_FALSE(limit.is_due());
  limit.run(0, take_cpu_time);
  EXPECT_TRUE(limit.is_due());
}

}  // namespace
}  // namespace hmk

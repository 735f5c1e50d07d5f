// SPDX-License-Identifier: MIT
#include "mover/cache_room.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "support/sizes.hpp"
#include "tree.hpp"

namespace hmk {
namespace {

using test::kMiB;
using Bytes = std::uint64_t;

constexpr Bytes kTotal = 256 * kMiB, kLow = 4 * kMiB, kHigh = 6 * kMiB;

/// Node 1 of two, which the page cache fills; what is borrowed of it makes the kernel drop as much
/// as keeps its free memory at the low watermark.
class CacheRoomTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.put("sys/devices/system/node/online", "0-1\n");
    test::put_node(tree_, {0, "0", "10 20", kTotal / 1024, kTotal / 1024, 0, 0});
    tree_.put("proc/zoneinfo",
              "Node 1, zone   Normal\n        low      1024\n        high     1536\n");
    put(5 * kMiB, 100 * kMiB);
    read_again(0);
  }
  void put(Bytes free, Bytes cache, Bytes dirty = 0) {
    free_ = free;
    cache_ = cache;
    const auto line = [](const char* name, Bytes bytes) {
      return std::string("Node 1 ") + name + ":  " + std::to_string(bytes / 1024) + " kB\n";
    };
    const std::string dir = "sys/devices/system/node/node1/";
    tree_.put(dir + "cpulist", "\n");
    tree_.put(dir + "distance", "20 10\n");
    tree_.put(dir + "meminfo", line("MemTotal", kTotal) + line("MemFree", free) +
                                   line("Active(file)", 7 * kMiB) + line("Inactive(file)", cache) +
                                   line("Dirty", dirty) + line("Writeback", dirty));
  }
  void read_again(Bytes bytes) {
    tree_.put("proc/vmstat", "workingset_refault_anon 9\nworkingset_refault_file " +
                                 std::to_string(100 + bytes / 4096) + "\n");
  }
  std::shared_ptr<void> borrow(int node, Bytes bytes) {
    borrowed_.emplace_back(node, bytes);
    const Bytes beyond = bytes - std::min(bytes, free_ - std::min(free_, kLow));
    const Bytes dropped = std::min({beyond, cache_, drops_at_most_});
    const Bytes free = free_ + dropped - std::min(listed_, dropped);
    put(kLow, cache_ - dropped);
    return {nullptr, [this, free](void*) { put(free, cache_); }};
  }
  /// Returns what may be taken of node 1.
  Bytes saw(bool may_take = true) {
    Machine machine = read_machine(tree_.root());
    room_.saw(machine, tree_.root(), may_take);
    return machine.nodes.at(1).cache_bytes;
  }
  bool is_ready(Bytes bytes) { return room_.is_ready({{1, bytes}}); }
  void run() {
    for (const auto& job : std::exchange(jobs_, {})) job();
  }
  void drop(Bytes bytes) {
    EXPECT_FALSE(is_ready(bytes));
    run();
    EXPECT_TRUE(is_ready(bytes));
  }

  test::Tree tree_;
  Bytes listed_ = 0;  // of what is given back, in the lists of CPUs
  Bytes free_ = 0, cache_ = 0, drops_at_most_ = ~Bytes{0};
  std::vector<std::pair<int, Bytes>> borrowed_;
  std::vector<std::function<void()>> jobs_;
  CacheRoom::Clock::time_point now_{std::chrono::hours(1)};
  CacheRoom room_{[this](std::function<void()> job) { jobs_.push_back(std::move(job)); },
                  [this](int node, Bytes bytes) { return borrow(node, bytes); },
                  [this] { return now_; }};
};

TEST_F(CacheRoomTest, CleanCacheIsRoomButForSome) {
  EXPECT_EQ(saw(), 100 * kMiB - Node::kCacheLeft);
  EXPECT_EQ(saw(false), 0u);
  put(5 * kMiB, 100 * kMiB, 30 * kMiB);
  EXPECT_EQ(saw(), 40 * kMiB - Node::kCacheLeft) << "dirty, and being written";
  put(5 * kMiB, Node::kCacheLeft);
  EXPECT_EQ(saw(), 0u);
}

TEST_F(CacheRoomTest, WhatFitsAboveTheLowWatermarkTakesNone) {
  saw();
  EXPECT_TRUE(is_ready(kMiB / 2));
  EXPECT_TRUE(is_ready(kMiB / 2));
  EXPECT_TRUE(jobs_.empty());
  EXPECT_FALSE(is_ready(4096)) << "all of it is spoken for";
}

TEST_F(CacheRoomTest, AsMuchIsDroppedAsIsToArrive) {
  saw();
  EXPECT_FALSE(is_ready(32 * kMiB));
  EXPECT_FALSE(is_ready(32 * kMiB)) << "it has not ended";
  EXPECT_EQ(jobs_.size(), 1u);
  run();
  EXPECT_TRUE(is_ready(32 * kMiB));
  EXPECT_EQ(free_, kLow + 32 * kMiB);
  EXPECT_EQ(borrowed_, (std::vector<std::pair<int, Bytes>>{{1, 32 * kMiB}}));
  EXPECT_EQ(room_.dropped_bytes(), 31 * kMiB);
}

TEST_F(CacheRoomTest, WhatLiesInTheListsOfACpuIsThere) {
  for (const Bytes listed : {kLow, kLow + 4096}) {
    put(5 * kMiB, 100 * kMiB);
    borrowed_.clear();
    listed_ = listed;
    saw();
    drop(32 * kMiB);
    EXPECT_EQ(borrowed_.size(), listed > kLow ? 3u : 1u) << "no more than three times";
  }
}

TEST_F(CacheRoomTest, WhatTakesTooLongIsWaitedForNoLonger) {
  saw();
  EXPECT_FALSE(is_ready(32 * kMiB));
  now_ += CacheRoom::kLongestHold;
  EXPECT_FALSE(is_ready(32 * kMiB));
  now_ += std::chrono::nanoseconds(1);
  EXPECT_TRUE(is_ready(32 * kMiB));
  EXPECT_EQ(jobs_.size(), 1u) << "and no second is begun beside it";
}

TEST_F(CacheRoomTest, WhatCannotBeDroppedHoldsNobodyUp) {
  saw();
  drops_at_most_ = 0;
  EXPECT_FALSE(is_ready(32 * kMiB));
  run();
  EXPECT_TRUE(is_ready(32 * kMiB));
  EXPECT_EQ(room_.dropped_bytes(), 0u);
  EXPECT_TRUE(room_.is_ready({{0, 500 * kMiB}})) << "a node without cache";
  EXPECT_TRUE(room_.is_ready({{7, kMiB}})) << "one that nobody has seen";
}

TEST_F(CacheRoomTest, NoMoreIsAskedForThanThePlanWasToldOf) {
  saw();
  Bytes asked = 0;
  for (; !is_ready(32 * kMiB); asked += 32 * kMiB) {
    run();
    EXPECT_TRUE(is_ready(32 * kMiB));
    ASSERT_LT(asked, 200 * kMiB);
  }
  EXPECT_EQ(asked, 96 * kMiB) << "84 MiB, in tickets";
}

TEST_F(CacheRoomTest, CacheThatIsReadAgainIsLeftAloneForLongerEachTime) {
  for (unsigned pause = CacheRoom::kPause; pause <= 4 * CacheRoom::kPause; pause *= 2) {
    put(5 * kMiB, 100 * kMiB);
    read_again(0);
    EXPECT_GT(saw(), 0u);
    drop(32 * kMiB);
    read_again(31 * kMiB / 8 / 4096 * 4096);
    EXPECT_GT(saw(), 0u) << "an eighth is not too much";
    read_again(31 * kMiB / 8 + 4096);
    for (unsigned decision = 0; decision < pause; ++decision) EXPECT_EQ(saw(), 0u) << decision;
  }
  EXPECT_GT(saw(), 0u);
}

TEST_F(CacheRoomTest, AfterAQuietWhileTheNextPauseIsShortAgain) {
  for (const unsigned pause : {CacheRoom::kPause, CacheRoom::kPause}) {
    put(5 * kMiB, 100 * kMiB);
    read_again(0);
    saw();
    drop(32 * kMiB);
    read_again(32 * kMiB);
    for (unsigned decision = 0; decision < pause; ++decision) EXPECT_EQ(saw(), 0u) << decision;
    put(5 * kMiB, 100 * kMiB);
    EXPECT_GT(saw(), 0u);
    drop(32 * kMiB);
    for (unsigned decision = 0; decision < CacheRoom::kWatched; ++decision) EXPECT_GT(saw(), 0u);
    read_again(64 * kMiB);
    EXPECT_GT(saw(), 0u) << "what is read later counts no more";
  }
}

// Of this machine: it is there and can be given back. Which node it is on is the kernel's affair.
TEST(Borrow, TakesMemoryAndGivesItBack) {
  EXPECT_NE(CacheRoom::borrow(0, 3 * kMiB), nullptr);
  EXPECT_NE(CacheRoom::borrow(4095, kMiB), nullptr) << "a node that is not there gives nothing";
}

}  // namespace
}  // namespace hmk

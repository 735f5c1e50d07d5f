// SPDX-License-Identifier: MIT
#include <set>

#include "app_fixture.hpp"

namespace hmk {
namespace {

using namespace hmk::test;

class JoiningAppTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    tree_.put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    config_.mode = Mode::manage;
    config_.join_huge = true;
    config_.is_governed = false;  // by measuring: this process has no CPU time to save
    kernel_.place = [](std::uint64_t) { return 0; };
    collapse_ = [this](std::uint64_t start, std::uint64_t) {
      asked_.insert(start / kMiB);
      return 0;
    };
  }
  /// Hot on the fastest tier, mapped by small entries.
  static hmk_record small(std::uint64_t start) {
    hmk_record record = region(start, 0, 3.0);
    record.leaf_shift = 12;
    return record;
  }
  /// So many intervals, each after what the one before has begun.
  void publish(unsigned intervals, const std::vector<hmk_record>& records) {
    for (; intervals > 0; --intervals) {
      while (app_->find(kPid)->is_joining()) std::this_thread::yield();
      kernel_.publish(interval(++seq_, records));
      run();
    }
    while (app_->find(kPid)->is_joining()) std::this_thread::yield();
  }

  std::set<std::uint64_t> asked_;  ///< MiB
  std::uint64_t seq_ = 0;
};

constexpr std::uint64_t kHugePage = 2 * kMiB;
constexpr unsigned kJoinedAfter = policy::Joins::kSteady;

TEST_F(JoiningAppTest, WhatIsHotAllOverForLongBecomesAHugePageAgain) {
  start();
  publish(kJoinedAfter - 1, {small(0), small(2 * kMiB)});
  EXPECT_TRUE(asked_.empty());
  publish(1, {small(0), small(2 * kMiB)});
  EXPECT_EQ(asked_, (std::set<std::uint64_t>{0, 2}));
  publish(1, {small(0)});
  const json stats = target("stats");
  EXPECT_EQ(stats["huge_joined"], 2);
  EXPECT_EQ(stats["huge_not_joined"]["busy"], 0);
  EXPECT_GT(stats["join_max_ns"], 0);
}

TEST_F(JoiningAppTest, SoDoesWhatASmallRegionBelongsTo) {
  const auto resized = [](hmk_record record, std::uint64_t length) {
    record.length = length;
    record.resident_pages = static_cast<__u32>(length / HMK_PAGE_SIZE);
    return record;
  };
  start();
  publish(kJoinedAfter, {resized(small(0), 3 * kMiB), resized(small(3 * kMiB), kMiB)});
  EXPECT_EQ(asked_, (std::set<std::uint64_t>{0, 2}));
}

// Once its neighbour is joined their region tells nothing of it any more.
TEST_F(JoiningAppTest, WhatIsKnownStaysSoThoughItsPagesDifferForOneInterval) {
  hmk_record both = small(0), mixed = small(2 * kMiB);
  both.length = 4 * kMiB;
  both.resident_pages *= 2;
  both.leaf_shift = 21;
  mixed.flags = 3 << HMK_RECORD_CLASS_SHIFT;
  start();
  publish(1, {small(0), small(2 * kMiB)});
  publish(1, {small(0), mixed});
  publish(kJoinedAfter, {both});
  EXPECT_EQ(asked_, (std::set<std::uint64_t>{0, 2}));
}

TEST_F(JoiningAppTest, OnlyPrivateMemoryWhosePagesAreAlikeAndKnown) {
  hmk_record shared = small(0), mixed = small(2 * kMiB), stale = small(4 * kMiB);
  shared.kind = HMK_KIND_SHMEM;
  mixed.flags = 3 << HMK_RECORD_CLASS_SHIFT;
  stale.flags = HMK_RECORD_STALE;
  start();
  publish(2 * kJoinedAfter, {shared, mixed, stale, small(6 * kMiB)});
  EXPECT_EQ(asked_, std::set<std::uint64_t>{6});
}

TEST_F(JoiningAppTest, WhatTheProgramHasGivenBackIsNotFilledAgain) {
  kernel_.place = [](std::uint64_t at) { return at == kHugePage - HMK_PAGE_SIZE ? -ENOENT : 0; };
  start();
  publish(kJoinedAfter, {small(0), small(2 * kMiB)});
  EXPECT_EQ(asked_, std::set<std::uint64_t>{2});
}

TEST_F(JoiningAppTest, NothingIsJoinedWhereNothingMovesOrNobodyWantsIt) {
  config_.mode = Mode::dry_run;
  start();
  publish(kJoinedAfter, {small(0)});
  data("set", {{"key", "mode"}, {"value", "manage"}});
  data("set", {{"key", "join_huge"}, {"value", "no"}});
  publish(kJoinedAfter, {small(0)});
  EXPECT_TRUE(asked_.empty());
  data("set", {{"key", "join_huge"}, {"value", "yes"}});
  publish(kJoinedAfter - 1, {small(0)});
  EXPECT_TRUE(asked_.empty()) << "what was seen before does not count";
  publish(1, {small(0)});
  EXPECT_EQ(asked_, std::set<std::uint64_t>{0});
}

}  // namespace
}  // namespace hmk

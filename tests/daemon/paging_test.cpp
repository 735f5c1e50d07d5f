// SPDX-License-Identifier: MIT
#include <set>
#include <thread>

#include "app_fixture.hpp"

namespace hmk {
namespace {

using namespace hmk::test;

constexpr int kLast = 3;  // node of the last tier

/// Intervals of a second; what was not accessed for two is cold.
class PagingAppTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    tree_.put("proc/meminfo", "SwapTotal: 1048576 kB\nSwapFree: 1048576 kB\n");
    config_.mode = Mode::manage;
    config_.page_out = true;
    config_.page_out_after = std::chrono::seconds(2);
    page_out_ = [this](std::uint64_t start, std::uint64_t) {
      asked_.insert(start / kMiB);
      return 0;
    };
  }
  static hmk_record cold(std::uint64_t start, int node = kLast) { return region(start, node, 0.0); }
  /// So many intervals, each after what the one before has begun.
  void publish(unsigned intervals, const std::vector<hmk_record>& records) {
    for (; intervals > 0; --intervals) {
      kernel_.publish(interval(++seq_, records));
      run();
      while (app_->find(kPid)->pager().is_busy()) std::this_thread::yield();
    }
  }
  json page_out() { return target("stats")["page_out"]; }

  std::set<std::uint64_t> asked_;  ///< MiB
  std::uint64_t seq_ = 0;
};

TEST_F(PagingAppTest, WhatIsColdOnTheLastTierLeavesAndNothingElse) {
  hmk_record shared = cold(4 * kMiB), warm = region(8 * kMiB, kLast, 1.0);
  shared.kind = HMK_KIND_SHMEM;
  start();
  publish(1, {cold(0), shared, warm, cold(12 * kMiB, 2)});
  EXPECT_TRUE(asked_.empty());
  publish(1, {cold(0), shared, warm, cold(12 * kMiB, 2)});
  EXPECT_EQ(asked_, std::set<std::uint64_t>{0});
  EXPECT_EQ(page_out()["refused"], 0);
}

TEST_F(PagingAppTest, WhatIsPinnedStays) {
  config_.pins = {{.process = std::to_string(kPid), .start = 0, .end = 2 * kMiB, .tier = kLast}};
  start();
  publish(3, {cold(0), cold(4 * kMiB)});
  EXPECT_EQ(asked_, std::set<std::uint64_t>{4});
}

TEST_F(PagingAppTest, WhereNothingMovesItIsAdvice) {
  config_.mode = Mode::track_only;
  start();
  publish(2, {cold(0)});
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(page_out()["cold_bytes"], 2 * kMiB);
  EXPECT_TRUE(page_out()["expected_refaults_per_s"].is_null()) << "not known yet";
  publish(1, {cold(0)});
  EXPECT_EQ(page_out()["expected_refaults_per_s"], 0);
}

TEST_F(PagingAppTest, WhoDoesNotWantItIsNotAsked) {
  config_.page_out = false;
  start();
  publish(3, {cold(0)});
  EXPECT_TRUE(page_out().is_null());
  data("set", {{"key", "page_out"}, {"value", "yes"}});
  publish(1, {cold(0)});
  EXPECT_TRUE(asked_.empty()) << "what was seen before does not count";
  publish(1, {cold(0)});
  EXPECT_EQ(asked_, std::set<std::uint64_t>{0});
  data("set", {{"key", "page_out"}, {"value", "no"}});
  publish(1, {cold(0)});
  EXPECT_TRUE(page_out().is_null());
}

}  // namespace
}  // namespace hmk

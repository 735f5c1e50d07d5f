// SPDX-License-Identifier: MIT
#include "pager.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "support/policy.hpp"
#include "tree.hpp"
#include "util/log.hpp"

using namespace hmk;
using namespace hmk::test;

namespace {

constexpr int kPid = 4711;

/// Intervals of ten seconds; what was not accessed for twenty is cold. What is asked for goes to
/// swap at once.
class PagerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    warned_ = hear_warnings([this](std::string_view text) { warnings_.emplace_back(text); });
    set_swap(4096 * kMiB, 4096 * kMiB);
    tell();
  }
  void set_swap(Bytes total, Bytes free) {
    tree_.put("proc/meminfo", "MemTotal: 9 kB\nSwapTotal: " + std::to_string(total / 1024) +
                                  " kB\nSwapFree: " + std::to_string(free / 1024) + " kB\n");
  }
  /// What /proc says of the process.
  void tell() {
    const std::string pid = "proc/" + std::to_string(kPid);
    tree_.put(pid + "/stat", "4711 (redis server) S 1 1 1 0 -1 4194304 50 0 " +
                                 std::to_string(major_faults_) + " 0 10 20 0 0 20 0 1 0 777 0 0\n");
    tree_.put(pid + "/status", "Name:\tredis server\nVmSwap:\t" + std::to_string(swapped_ / 1024) +
                                   " kB\nThreads:\t1\n");
  }
  Advise fake() {
    return [this](std::uint64_t start, Bytes length) {
      if (err_ != 0) return err_;
      asked_[start / kMiB] = length / kMiB;
      swapped_ += length;
      tell();
      return 0;
    };
  }
  void come_back(std::uint64_t pages) {
    swapped_ -= pages * policy::kPage;
    major_faults_ += pages;
    tell();
  }
  void step(const std::vector<RegionView>& regions) {
    pager_.step(regions, {.root = tree_.root(),
                          .interval = {.now_s = now_s_ += 10, .seconds = 10, .after_s = 20},
                          .refaults_per_s = 0.1,
                          .acts = acts_});
  }
  static std::vector<RegionView> cold(std::uint64_t at_mib, Bytes mib) {
    RegionView r = region(at_mib, mib, 0, 0);
    r.hi_q16 = 0;
    return {r};
  }
  using Asked = std::map<std::uint64_t, Bytes>;

  Tree tree_;
  Asked asked_;  ///< MiB by MiB
  Bytes swapped_ = 0;
  std::uint64_t major_faults_ = 100;
  int err_ = 0;
  bool acts_ = true;
  double now_s_ = 0;
  std::vector<std::string> warnings_;
  std::shared_ptr<void> warned_;
  Pager pager_{kPid, fake(), [](const std::function<void()>& job) { job(); }};
};

TEST_F(PagerTest, WhatIsColdIsPagedOutAProbeFirst) {
  step(cold(0, 100));
  EXPECT_TRUE(asked_.empty());
  step(cold(0, 100));
  EXPECT_EQ(asked_, (Asked{{0, 8}}));
  step(cold(0, 100));
  EXPECT_EQ(asked_, (Asked{{0, 8}, {8, 32}}));
  EXPECT_EQ(pager_.counters().paged_out_bytes, 8 * kMiB);
  step({});
  EXPECT_EQ(pager_.counters().paged_out_bytes, 40 * kMiB);
  EXPECT_EQ(pager_.swapped_bytes(), 40 * kMiB);
  EXPECT_EQ(pager_.counters().refaults, 0u);
}

TEST_F(PagerTest, WhereNothingMayMoveItOnlySaysWhatIsCold) {
  acts_ = false;
  for (int n = 0; n < 3; ++n) step(cold(0, 100));
  EXPECT_EQ(pager_.cold().bytes(), 100 * kMiB);
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(pager_.cold().wakes_per_s(), 0.);
}

TEST_F(PagerTest, WhatComesBackStopsIt) {
  for (int n = 0; n < 2; ++n) step(cold(0, 100));
  come_back(100);
  step(cold(0, 100));
  EXPECT_EQ(asked_, (Asked{{0, 8}})) << "no more";
  EXPECT_EQ(pager_.counters().refaults, 100u);
  EXPECT_TRUE(pager_.limit().is_resting());
}

TEST_F(PagerTest, WhatTheProgramFreesOrReadsFromFilesIsNoRefault) {
  for (int n = 0; n < 2; ++n) step(cold(0, 100));
  swapped_ -= kMiB;  // freed
  tell();
  step({});
  major_faults_ += 1000;  // of files
  tell();
  step({});
  EXPECT_EQ(pager_.counters().refaults, 0u);
  EXPECT_FALSE(pager_.limit().is_resting());
}

TEST_F(PagerTest, ATenthOfSwapIsLeftForOthers) {
  set_swap(100 * kMiB, 14 * kMiB);
  for (int n = 0; n < 2; ++n) step(cold(0, 100));
  EXPECT_EQ(asked_, (Asked{{0, 4}}));
  set_swap(100 * kMiB, 10 * kMiB);
  step(cold(0, 100));
  EXPECT_EQ(asked_.size(), 1u);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(PagerTest, WithoutSwapItSaysSoOnce) {
  set_swap(0, 0);
  for (int n = 0; n < 4; ++n) step(cold(0, 100));
  EXPECT_TRUE(asked_.empty());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("there is no swap"), std::string::npos) << warnings_[0];
}

TEST_F(PagerTest, WhereItIsNotAllowedItSaysSoOnceAndTriesNoMore) {
  err_ = EPERM;
  for (int n = 0; n < 6; ++n) step(cold(0, 100));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("CAP_SYS_NICE"), std::string::npos) << warnings_[0];
  EXPECT_EQ(pager_.counters().refused, 1u);
}

TEST_F(PagerTest, WhatTheKernelRefusesIsCountedAndTheRestGoesOn) {
  err_ = EINVAL;
  for (int n = 0; n < 2; ++n) step(cold(0, 100));
  err_ = 0;
  step(cold(0, 100));
  EXPECT_EQ(pager_.counters().refused, 1u);
  EXPECT_EQ(asked_, (Asked{{8, 8}})) << "another part, and no more of it";
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(PagerTest, AfterARestItBeginsAnew) {
  for (int n = 0; n < 2; ++n) step(cold(0, 100));
  EXPECT_TRUE(pager_.is_looking());
  pager_.rest();
  EXPECT_FALSE(pager_.is_looking());
  EXPECT_EQ(pager_.counters().paged_out_bytes, 8 * kMiB) << "what was done was done";
  step(cold(0, 100));
  EXPECT_EQ(asked_.size(), 1u);
}

TEST_F(PagerTest, OfAProcessThatHasEndedNothingIsCounted) {
  for (int n = 0; n < 2; ++n) step(cold(0, 100));
  tree_.remove("proc/4711/stat");
  step(cold(0, 100));
  EXPECT_EQ(pager_.counters().refaults, 0u);
}

}  // namespace

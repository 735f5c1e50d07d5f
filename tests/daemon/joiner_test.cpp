// SPDX-License-Identifier: MIT
#include "joiner.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/policy.hpp"
#include "tree.hpp"
#include "util/log.hpp"

using namespace hmk;
using namespace hmk::test;

namespace {

constexpr int kPid = 4711;
constexpr const char* kSetting = "sys/kernel/mm/transparent_hugepage/enabled";
constexpr const char* kOwnSetting = "sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled";

/// As /proc/PID/smaps tells of an area.
std::string smaps_of(const std::string& range, const std::string& flags) {
  return range +
         " rw-p 00000000 00:00 0 \nSize:               4096 kB\nTHPeligible:           1\n" +
         "VmFlags: rd wr mr mw me ac" + flags + " \n";
}

class JoinerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    warned_ = hear_warnings([this](std::string_view text) { warnings_.emplace_back(text); });
    tree_.put(kSetting, "[always] madvise never\n");
  }
  static RegionView hot(std::uint64_t at_mib, Bytes mib) {
    RegionView r = region(at_mib, mib, 0, 3);
    r.rate_q8 = 20 * 256;
    return r;
  }
  Advise fake() {
    return [this](std::uint64_t start, std::uint64_t length) {
      EXPECT_EQ(length, 2 * kMiB);
      asked_.push_back(start / kMiB);
      std::this_thread::sleep_for(waits_);
      const auto refused = refuse_.find(start / kMiB);
      return refused == refuse_.end() ? 0 : refused->second;
    };
  }
  void step(const std::vector<RegionView>& regions) {
    joiner_.step(regions, {.root = tree_.root(),
                           .terms = {.seq = ++seq_, .horizon_s = 10, .tiers = tiers_},
                           .resident = resident_,
                           .is_there = [this](const policy::Join& join) {
                             return join.start / kMiB != not_there_;
                           }});
  }
  /// As many as it takes until something is joined.
  void step_long(const std::vector<RegionView>& regions) {
    for (unsigned n = 0; n < policy::Joins::kSteady; ++n) step(regions);
  }
  std::uint64_t not_joined(NotJoined why) const {
    return joiner_.counters().not_joined[static_cast<std::size_t>(why)];
  }
  using Starts = std::vector<std::uint64_t>;

  Tree tree_;
  Starts asked_;  ///< MiB
  std::map<std::uint64_t, int> refuse_;
  std::vector<TierView> tiers_ = two_tiers(1024);
  Bytes resident_ = kMiB;
  std::chrono::milliseconds waits_{0};  ///< the kernel, in each call
  std::uint64_t not_there_ = ~0ull, seq_ = 0;
  std::vector<std::string> warnings_;
  std::shared_ptr<void> warned_;
  Joiner joiner_{kPid, fake(), [](const std::function<void()>& job) { job(); }};
};

TEST_F(JoinerTest, WhatIsChosenIsJoinedAndCountedWithTheNextInterval) {
  step_long({hot(0, 4)});
  EXPECT_EQ(asked_, (Starts{0, 2}));
  EXPECT_EQ(joiner_.counters().joined, 0u);
  step({hot(0, 4)});
  EXPECT_EQ(joiner_.counters().joined, 2u);
  EXPECT_GT(joiner_.counters().longest_ns, 0u);
  EXPECT_GE(joiner_.counters().ns, joiner_.counters().longest_ns);
  step_long({hot(0, 4)});
  EXPECT_EQ(asked_.size(), 2u) << "and not again";
}

TEST_F(JoinerTest, WhatIsNotThereAnyMoreIsNotTouched) {
  not_there_ = 0;
  step_long({hot(0, 4)});
  EXPECT_EQ(asked_, (Starts{2}));
  not_there_ = 2;
  step_long({hot(0, 2)});
  EXPECT_EQ(asked_, (Starts{2})) << "nor looked for in each interval";
}

TEST_F(JoinerTest, ACallThatHadToWaitMakesTheNextNotDearer) {
  waits_ = std::chrono::milliseconds(40);  // 80 us a page; 64 accesses a second save 15 us in 10 s
  RegionView first = hot(0, 2), second = hot(2, 2);
  first.rate_q8 = second.rate_q8 = 6 * 256;
  step_long({first});
  step_long({second});
  EXPECT_EQ(asked_, (Starts{0, 2}));
}

TEST_F(JoinerTest, RefusalsAreCountedByKindAndTriedAgainLaterOnly) {
  refuse_ = {{0, EAGAIN}, {2, EBUSY}, {4, ENOMEM}, {6, EINVAL}, {8, EFAULT}, {10, ESRCH}};
  step_long({hot(0, 14)});
  step_long({hot(0, 14)});
  EXPECT_EQ(asked_, (Starts{0, 2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(not_joined(NotJoined::busy), 2u);
  EXPECT_EQ(not_joined(NotJoined::no_memory), 1u);
  EXPECT_EQ(not_joined(NotJoined::unfit), 2u);
  EXPECT_EQ(not_joined(NotJoined::gone), 1u);
  EXPECT_EQ(joiner_.counters().joined, 1u);
  EXPECT_TRUE(warnings_.empty());
  step_long({hot(0, 14)});
  EXPECT_EQ(asked_.size(), 7u);
  step({hot(0, 14)});
  EXPECT_EQ(asked_.size(), 13u) << "all but the joined one";
}

TEST_F(JoinerTest, WhereItIsNotAllowedItIsSaidOnceAndNeverTriedAgain) {
  refuse_ = {{0, EPERM}, {2, EPERM}};
  for (int n = 0; n < 3; ++n) step_long({hot(0, 4)});
  EXPECT_EQ(asked_, (Starts{0, 2}));
  EXPECT_EQ(not_joined(NotJoined::denied), 2u);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("pid=4711"), std::string::npos) << warnings_[0];
  EXPECT_NE(warnings_[0].find("CAP_SYS_NICE"), std::string::npos) << warnings_[0];
}

TEST_F(JoinerTest, AKernelThatCannotIsToldAsSuch) {
  refuse_ = {{0, ENOSYS}};
  step_long({hot(0, 2)});
  step({});
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("Linux 6.1"), std::string::npos) << warnings_[0];
}

TEST_F(JoinerTest, NothingIsJoinedWhereTheAdministratorWantsNoHugePages) {
  tree_.put(kSetting, "always madvise [never]\n");
  step_long({hot(0, 4)});
  tree_.remove(kSetting);
  step_long({hot(0, 4)});
  tree_.put(kSetting, "[always] madvise never\n");
  tree_.put(kOwnSetting, "always inherit madvise [never]\n");
  step_long({hot(0, 4)});
  EXPECT_TRUE(asked_.empty());
  tree_.put(kOwnSetting, "always [inherit] madvise never\n");
  step_long({hot(0, 4)});
  EXPECT_EQ(asked_, (Starts{0, 2}));
}

TEST_F(JoinerTest, WhereProgramsAskForThemOnlyWhatWasAskedForIsJoined) {
  tree_.put(kSetting, "always [madvise] never\n");
  tree_.put("proc/4711/smaps",
            smaps_of("00000000-00200000", "") + smaps_of("00200000-00600000", " hg") +
                smaps_of("00600000-00800000", " hg") + smaps_of("00800000-00a00000", " nh"));
  step_long({hot(0, 4)});
  EXPECT_EQ(asked_, (Starts{2}));
  step_long({hot(0, 10)});
  EXPECT_EQ(asked_, (Starts{2, 4, 6})) << "as read before";
  EXPECT_EQ(not_joined(NotJoined::unfit), 1u);
}

TEST_F(JoinerTest, WhatIsAskedForIsReadAgainAfterAWhile) {
  tree_.put(kSetting, "always [madvise] never\n");
  tree_.put("proc/4711/smaps", smaps_of("00000000-00200000", " hg"));
  step_long({hot(0, 2)});
  tree_.put("proc/4711/smaps", smaps_of("00000000-00400000", " hg"));
  step_long({hot(0, 4)});
  EXPECT_EQ(asked_, (Starts{0}));
  seq_ += Joiner::kAreasLast;
  step_long({hot(2, 2)});
  EXPECT_EQ(asked_, (Starts{0, 2}));
}

TEST_F(JoinerTest, WhereThatCannotBeReadNothingWasAskedFor) {
  tree_.put(kSetting, "always [madvise] never\n");
  step_long({hot(0, 4)});
  EXPECT_TRUE(asked_.empty());
}

TEST_F(JoinerTest, ALargeProcessIsNotWalkedForIt) {
  tree_.put(kSetting, "always [madvise] never\n");
  tree_.put("proc/4711/smaps", smaps_of("00000000-00800000", " hg"));
  resident_ = Joiner::kMostWalked + 1;
  step_long({hot(0, 2)});
  EXPECT_TRUE(asked_.empty());
  resident_ = Joiner::kMostWalked;
  step_long({hot(0, 2)});
  EXPECT_EQ(asked_, (Starts{0}));
}

TEST_F(JoinerTest, AfterARestItBeginsAnew) {
  for (unsigned n = 1; n < policy::Joins::kSteady; ++n) step({hot(0, 2)});
  joiner_.rest(++seq_);
  step({hot(0, 2)});
  EXPECT_TRUE(asked_.empty());
}

TEST(Joiner, WithoutACallNothingIsJoined) {
  Tree tree;
  tree.put(kSetting, "[always] madvise never\n");
  Joiner joiner(kPid, {});
  const std::vector<TierView> tiers = two_tiers(1024);
  RegionView hot = region(0, 2, 0, 3);
  hot.rate_q8 = 20 * 256;
  for (std::uint64_t seq = 1; seq < 20; ++seq)
    joiner.step(std::vector{hot}, {.root = tree.root(),
                                   .terms = {.seq = seq, .horizon_s = 10, .tiers = tiers},
                                   .is_there = [](const policy::Join&) {
                                     ADD_FAILURE();
                                     return false;
                                   }});
}

}  // namespace

// SPDX-License-Identifier: MIT
//
// With a thread, as it ships: also run under TSan.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <vector>

#include "joiner.hpp"
#include "support/policy.hpp"
#include "tree.hpp"

using namespace hmk;
using namespace hmk::test;

namespace {

constexpr int kPid = 4711;
constexpr const char* kSetting = "sys/kernel/mm/transparent_hugepage/enabled";

TEST(JoinerThread, ACallThatHangsHoldsUpNobody) {
  Tree tree;
  tree.put(kSetting, "[always] madvise never\n");
  struct Hang {
    std::latch begun{1}, goes_on{1}, ended{1};
    std::atomic<int> calls = 0;
  };
  const auto hang = std::make_shared<Hang>();
  const std::vector<TierView> tiers = two_tiers(1024);
  RegionView hot = region(0, 4, 0, 3);
  hot.rate_q8 = 20 * 256;
  std::uint64_t seq = 0;
  {
    Joiner joiner(
        kPid,
        [=](std::uint64_t, std::uint64_t) {
          ++hang->calls;
          hang->begun.count_down();
          hang->goes_on.wait();
          return 0;
        },
        [=](std::function<void()> job) {
          begin_in_a_thread([=, job = std::move(job)] {
            job();
            hang->ended.count_down();
          });
        });
    const auto step = [&] {
      joiner.step(std::vector{hot}, {.root = tree.root(),
                                     .terms = {.seq = ++seq, .horizon_s = 10, .tiers = tiers},
                                     .is_there = [](const policy::Join&) { return true; }});
    };
    while (!joiner.is_busy()) step();
    hang->begun.wait();
    for (int n = 0; n < 20; ++n) step();
    joiner.rest(++seq);
    EXPECT_TRUE(joiner.is_busy());
  }  // and it goes away
  hang->goes_on.count_down();
  hang->ended.wait();
  EXPECT_EQ(hang->calls, 1) << "the second was not begun";
}

}  // namespace

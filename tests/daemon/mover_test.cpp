// SPDX-License-Identifier: MIT
#include "mover/mover.hpp"

#include <gtest/gtest.h>

#include "fake_device.hpp"

namespace hmk {
namespace {

using test::all_clean;
using test::all_pinned;
using test::FakeKernel;

constexpr std::uint64_t kMiB = 1 << 20;

policy::Move move_of(std::uint64_t start, std::uint64_t bytes, int from, int to) {
  policy::Move move;
  move.start = start;
  move.length = move.bytes = bytes;
  move.from = from;
  move.to = to;
  return move;
}

class MoverTest : public ::testing::Test {
 protected:
  /// Ends the oldest ticket and tells the mover, as the target does.
  void finish(const std::function<hmk_range_result(const hmk_range&)>& judge) {
    const std::uint64_t cookie = kernel_.tickets.front().cookie;
    kernel_.finish(judge);
    const Result<void> done = mover_.finish(cookie);
    EXPECT_TRUE(done) << done.error().line();
  }
  std::vector<std::uint64_t> starts(std::size_t ticket) const {
    std::vector<std::uint64_t> all;
    for (const hmk_range& range : kernel_.tickets.at(ticket).ranges) all.push_back(range.start);
    return all;
  }

  FakeKernel kernel_;
  test::FakeDevice device_{kernel_};
  Mover mover_{device_};
};

using Starts = std::vector<std::uint64_t>;

TEST_F(MoverTest, PromotionsThatHaveRoomRunBesideTheDemotions) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0), move_of(2 * kMiB, kMiB, 2, 0)};
  plan.demotions = {move_of(8 * kMiB, kMiB, 0, 1)};
  ASSERT_TRUE(mover_.start(plan, {{0, kMiB}}, {0, 1, 2, 3}, 1));
  ASSERT_EQ(kernel_.tickets.size(), 2u);
  EXPECT_EQ(starts(0), Starts{8 * kMiB});
  EXPECT_EQ(starts(1), Starts{0}) << "the second has no room yet";
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 1);

  finish(all_clean);  // the demotion: room for the second, but its lane is taken
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  finish(all_clean);
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(starts(0), Starts{2 * kMiB});
  finish(all_clean);
  EXPECT_FALSE(mover_.is_busy());
  EXPECT_EQ(mover_.counters().promoted_bytes, 2 * kMiB);
  EXPECT_EQ(mover_.counters().demoted_bytes, kMiB);
}

TEST_F(MoverTest, PromotionsWithoutRoomAreTriedWhenNoDemotionIsLeft) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0)};
  plan.demotions = {move_of(8 * kMiB, kMiB, 0, 1)};
  ASSERT_TRUE(mover_.start(plan, {}, {0, 1, 2, 3}, 1));
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  finish(all_pinned);
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "the module knows the free pages better";
  EXPECT_EQ(starts(0), Starts{0});
}

TEST_F(MoverTest, CountsPerPairOfTiersAndReason) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0), move_of(2 * kMiB, kMiB, 3, 0),
                     move_of(4 * kMiB, kMiB, 0, 0)};
  ASSERT_TRUE(mover_.start(plan, {{0, 64 * kMiB}}, {0, 1, 2, 3}, 1));
  finish([](const hmk_range& range) {
    hmk_range_result result{};
    result.pages_clean = 100;
    result.pages_recopied = 20;
    result.pages_sync = 8;
    result.refused[HMK_REFUSED_PINNED] = range.start == 0 ? 128 : 0;
    result.commit_max_ns = range.start == 0 ? 900 : 300;
    result.error = 0;
    return result;
  });
  const MoveCounters& counters = mover_.counters();
  EXPECT_EQ(counters.promoted_bytes, 3u * 128 * 4096);
  EXPECT_EQ(counters.refused_bytes[HMK_REFUSED_PINNED], 128u * 4096);
  EXPECT_EQ(counters.pages_clean, 300u);
  EXPECT_EQ(counters.pages_recopied, 60u);
  EXPECT_EQ(counters.pages_sync, 24u);
  EXPECT_EQ(counters.commit_max_ns, 900u);
  EXPECT_EQ(counters.pairs.at({3, 0}).moved_bytes, 2u * 128 * 4096);
  EXPECT_EQ(counters.pairs.at({3, 0}).ranges, 2u);
  EXPECT_EQ(counters.pairs.at({-1, 0}).ranges, 1u) << "gathered from anywhere";
}

TEST_F(MoverTest, RangesThatRefuseAreBackedOff) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0), move_of(2 * kMiB, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, {{0, 64 * kMiB}}, {0, 3}, 7));
  finish([](const hmk_range& range) {
    return range.start == 0 ? all_pinned(range) : all_clean(range);
  });
  EXPECT_TRUE(mover_.back_off().is_blocked(0, kMiB, 8));
  EXPECT_FALSE(mover_.back_off().is_blocked(0, kMiB, 9));
  EXPECT_FALSE(mover_.back_off().is_blocked(2 * kMiB, kMiB, 8));
}

TEST_F(MoverTest, AFullQueueIsTriedAgain) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0)};
  kernel_.refuse_move = EAGAIN;
  ASSERT_TRUE(mover_.start(plan, {{0, kMiB}}, {0, 3}, 1));
  EXPECT_TRUE(mover_.is_busy());
  EXPECT_TRUE(kernel_.tickets.empty());
  kernel_.refuse_move = 0;
  ASSERT_TRUE(mover_.retry());
  EXPECT_EQ(kernel_.tickets.size(), 1u);
}

TEST_F(MoverTest, ARefusedTicketDropsThePlan) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0)};
  kernel_.refuse_move = EPERM;
  EXPECT_FALSE(mover_.start(plan, {{0, kMiB}}, {0, 3}, 1));
  EXPECT_FALSE(mover_.is_busy());
}

TEST_F(MoverTest, LargePlansAreSentInPieces) {
  policy::Plan plan;
  for (std::uint64_t i = 0; i < 100; ++i)
    plan.promotions.push_back(move_of(i * 2 * kMiB, 2 * kMiB, 3, 0));
  ASSERT_TRUE(mover_.start(plan, {{0, 1024 * static_cast<std::int64_t>(kMiB)}}, {0, 3}, 1));
  std::size_t moved = 0, tickets = 0;
  while (!kernel_.tickets.empty()) {
    ASSERT_EQ(kernel_.tickets.size(), 1u);
    moved += kernel_.tickets[0].ranges.size();
    ++tickets;
    finish(all_clean);
  }
  EXPECT_EQ(moved, 100u);
  EXPECT_EQ(tickets, 7u) << "16 of 2 MiB each";
  EXPECT_FALSE(mover_.is_busy());
}

TEST_F(MoverTest, AbandoningSendsNothingMore) {
  policy::Plan plan;
  for (std::uint64_t i = 0; i < 100; ++i)
    plan.promotions.push_back(move_of(i * 2 * kMiB, 2 * kMiB, 3, 0));
  ASSERT_TRUE(mover_.start(plan, {}, {0, 3}, 1));
  mover_.abandon();
  finish(all_clean);
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_FALSE(mover_.is_busy());
}

TEST_F(MoverTest, AnUnknownTicketIsIgnored) {
  EXPECT_TRUE(mover_.finish(99));
}

}  // namespace
}  // namespace hmk

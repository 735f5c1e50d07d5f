// SPDX-License-Identifier: MIT
#include "mover/mover.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "fake_device.hpp"
#include "support/sizes.hpp"

namespace hmk {
namespace {

using test::all_clean;
using test::all_pinned;
using test::FakeKernel;

using hmk::test::kMiB;

const TierNodes kFour = {{0}, {1}, {2}, {3}}, kTwo = {{0}, {3}};

policy::Move move_of(std::uint64_t start, std::uint64_t bytes, int from, int to) {
  policy::Move move;
  move.start = start;
  move.length = move.bytes = bytes;
  move.from = from;
  move.to = to;
  return move;
}

/// `bytes` of the pages of a class.
policy::Move class_move(unsigned page_class, std::uint64_t start, std::uint64_t length,
                        std::uint64_t bytes, int from, int to) {
  policy::Move move = move_of(start, length, from, to);
  move.page_class = static_cast<std::uint8_t>(page_class);
  move.bytes = bytes;
  return move;
}

class MoverTest : public ::testing::Test {
 protected:
  /// Ends the oldest ticket and tells the mover, as the target does.
  void finish(const std::function<hmk_range_result(const hmk_range&)>& judge) {
    const std::uint64_t cookie = kernel_.tickets.front().cookie;
    kernel_.finish(judge);
    const Result<void> done = mover_.finish(cookie, kernel_.events.back().time_ns);
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

TEST_F(MoverTest, APieceThatMakesRoomIsFollowedByThePieceThatUsesIt) {
  policy::Plan plan;
  plan.promotions = {move_of(0, 10 * kMiB, 3, 0), move_of(64 * kMiB, kMiB, 2, 0)};
  plan.demotions = {move_of(32 * kMiB, 8 * kMiB, 0, 1), move_of(48 * kMiB, kMiB, 0, 1)};
  plan.demotions[0].serves = 0;
  plan.demotions[1].serves = 1;
  ASSERT_TRUE(mover_.start(plan, kFour, 1));
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(starts(0), (Starts{32 * kMiB, 0, 36 * kMiB, 4 * kMiB, 8 * kMiB, 48 * kMiB, 64 * kMiB}));
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 1);
  EXPECT_EQ(kernel_.tickets[0].ranges[1].node, 0);
  finish(all_clean);
  EXPECT_FALSE(mover_.is_busy());
  EXPECT_EQ(mover_.counters().promoted_bytes, 11 * kMiB);
  EXPECT_EQ(mover_.counters().demoted_bytes, 9 * kMiB);
}

/// Each of four promotions has a victim of its size.
policy::Plan four_exchanges() {
  policy::Plan plan;
  for (std::uint64_t i = 0; i < 4; ++i) {
    plan.promotions.push_back(move_of(i * 8 * kMiB, 4 * kMiB, 3, 0));
    plan.demotions.push_back(move_of((64 + i * 8) * kMiB, 4 * kMiB, 0, 1));
    plan.demotions.back().serves = static_cast<std::uint32_t>(i);
  }
  return plan;
}

TEST_F(MoverTest, InPairsWhatMakesRoomLeadsByOnePieceMore) {
  mover_.set_how({.flags = HMK_MOVE_PAIRED});
  ASSERT_TRUE(mover_.start(four_exchanges(), kFour, 1));
  EXPECT_EQ(starts(0), (Starts{64 * kMiB, 72 * kMiB, 0, 80 * kMiB, 8 * kMiB, 88 * kMiB, 16 * kMiB,
                               24 * kMiB}));
  EXPECT_EQ(kernel_.tickets[0].how.flags, HMK_MOVE_PAIRED);
}

TEST_F(MoverTest, WithOneThreadToCopyAVictimLeadsByOnePieceAsNothingRunsBesideIt) {
  mover_.set_how({.flags = HMK_MOVE_PAIRED, .copy_threads = 1});
  ASSERT_TRUE(mover_.start(four_exchanges(), kFour, 1));
  EXPECT_EQ(starts(0), (Starts{64 * kMiB, 0, 72 * kMiB, 8 * kMiB, 80 * kMiB, 16 * kMiB, 88 * kMiB,
                               24 * kMiB}));
  EXPECT_EQ(kernel_.tickets[0].how.copy_threads, 1u);
}

TEST_F(MoverTest, InPairsNoRangeBeginsBeforeItsRoomIsThereWhicheverIsStillUnderWay) {
  policy::Plan plan;
  std::uint64_t at = 0, seed = 7;
  for (std::uint32_t i = 0; i < 40; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t up = kMiB + (seed >> 33) % 6 * kMiB, down = up - (seed >> 40) % 2 * kMiB;
    plan.promotions.push_back(move_of(at, up, 3, 0));
    if (down > 0) plan.demotions.push_back(move_of(at + (1ull << 40), down, 0, 1));
    if (down > 0) plan.demotions.back().serves = i;
    at += 8 * kMiB;
  }
  const std::uint64_t free_before = 40 * kMiB;  // what the victims leave to be found free
  mover_.set_how({.flags = HMK_MOVE_PAIRED});
  ASSERT_TRUE(mover_.start(plan, kFour, 1));
  std::uint64_t made = 0, used = 0, largest_late = 0;
  while (!kernel_.tickets.empty()) {
    for (const hmk_range& range : kernel_.tickets[0].ranges) {
      if (range.node == 1) {
        made += range.length;
        largest_late = range.length;  // the one just before may not have ended
      } else {
        used += range.length;
        EXPECT_LE(used, free_before + made - std::min(made, largest_late));
      }
    }
    finish(all_clean);
  }
  EXPECT_GT(used, 100 * kMiB);
}

TEST_F(MoverTest, WhatAPairOfTiersMayNotYetWaitsAndAllBehindItInItsOrder) {
  Pace::Clock::time_point now{std::chrono::hours(1)};
  Pace pace([&] { return now; });
  pace.limit({{{3, 0}, 100 * kMiB}});  // 20 ms for a piece of 2 MiB
  mover_.set_pace(&pace);
  policy::Plan plan;
  plan.promotions = {move_of(0, 2 * kMiB, 2, 0), move_of(4 * kMiB, 2 * kMiB, 3, 0),
                     move_of(8 * kMiB, 2 * kMiB, 3, 0), move_of(16 * kMiB, 2 * kMiB, 2, 0)};
  ASSERT_TRUE(mover_.start(plan, kFour, 1));
  EXPECT_EQ(starts(0), (Starts{0, 4 * kMiB}));
  EXPECT_FALSE(mover_.held_until()) << "the ticket in flight wakes it";
  finish(all_clean);
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_TRUE(mover_.is_busy());
  ASSERT_TRUE(mover_.held_until());
  now = *mover_.held_until();
  ASSERT_TRUE(mover_.retry());
  EXPECT_EQ(starts(0), (Starts{8 * kMiB, 16 * kMiB}));
  finish(all_clean);
  EXPECT_FALSE(mover_.is_busy());
  EXPECT_FALSE(mover_.held_until());
}

TEST_F(MoverTest, WhatWasNotSentOrDidNotMoveIsNoUseOfTheBandwidth) {
  Pace::Clock::time_point now{std::chrono::hours(1)};
  Pace pace([&] { return now; });
  pace.limit({{{3, 0}, 100 * kMiB}});  // 20 ms for a piece of 2 MiB
  mover_.set_pace(&pace);
  policy::Plan plan;
  plan.promotions = {move_of(0, 2 * kMiB, 3, 0), move_of(4 * kMiB, 2 * kMiB, 3, 0)};
  kernel_.refuse_move = EAGAIN;
  ASSERT_TRUE(mover_.start(plan, kFour, 1));
  kernel_.refuse_move = 0;
  ASSERT_TRUE(mover_.retry());
  EXPECT_EQ(starts(0), Starts{0}) << "at once: the queue was full";
  finish(all_pinned);
  EXPECT_EQ(starts(0), Starts{4 * kMiB}) << "at once: nothing has moved";
  finish(all_clean);
  EXPECT_FALSE(pace.take({3, 0}, kMiB)) << "it has";
}

// Node 0 has 1 MiB above its low watermark, and the cache the rest; of the plan's 12 MiB 4 leave
// it.
TEST_F(MoverTest, ATicketWaitsUntilTheCacheHasMadeRoomForWhatItBringsMore) {
  std::vector<std::function<void()>> jobs;
  std::vector<std::uint64_t> borrowed;
  CacheRoom room([&](std::function<void()> job) { jobs.push_back(std::move(job)); },
                 [&](int node, std::uint64_t bytes) {
                   EXPECT_EQ(node, 0);
                   borrowed.push_back(bytes);
                   return std::shared_ptr<void>();
                 },
                 [] { return CacheRoom::Clock::time_point(std::chrono::hours(1)); });
  Machine machine;
  Node& node = machine.nodes[0];
  node.id = 0;
  node.free_bytes = 3 * kMiB;
  node.low_bytes = 2 * kMiB;
  node.cache_bytes = 100 * kMiB;
  room.saw(machine, "/nowhere", true);
  mover_.set_cache_room(&room);
  policy::Plan plan;
  plan.demotions = {move_of(64 * kMiB, 4 * kMiB, 0, 3)};
  plan.promotions = {move_of(0, 4 * kMiB, 3, 0), move_of(4 * kMiB, 4 * kMiB, 3, 0),
                     move_of(8 * kMiB, 4 * kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_TRUE(mover_.held_until());
  ASSERT_EQ(jobs.size(), 1u);
  ASSERT_TRUE(mover_.retry());
  EXPECT_TRUE(kernel_.tickets.empty()) << "it is under way";
  jobs[0]();
  ASSERT_TRUE(mover_.retry());
  EXPECT_EQ(starts(0), (Starts{64 * kMiB, 0, 4 * kMiB, 8 * kMiB}));
  ASSERT_FALSE(borrowed.empty());
  EXPECT_EQ(borrowed[0], 8 * kMiB) << "of a node that nobody can read, none is free";
  finish(all_clean);
  EXPECT_FALSE(mover_.is_busy());
}

TEST_F(MoverTest, WhatIsDemotedFindsRoomInTheCacheAsWell) {
  std::vector<std::function<void()>> jobs;
  int borrowed = -1;
  CacheRoom room([&](std::function<void()> job) { jobs.push_back(std::move(job)); },
                 [&](int node, std::uint64_t) {
                   borrowed = node;
                   return std::shared_ptr<void>();
                 });
  Machine machine;
  machine.nodes[3].cache_bytes = 100 * kMiB;
  room.saw(machine, "/nowhere", true);
  mover_.set_cache_room(&room);
  policy::Plan plan;
  plan.demotions = {move_of(64 * kMiB, 4 * kMiB, 0, 3)};
  plan.demotions[0].served = 1;  // another process waits for the room
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  EXPECT_TRUE(kernel_.tickets.empty());
  ASSERT_EQ(jobs.size(), 1u);
  jobs[0]();
  EXPECT_EQ(borrowed, 3);
  ASSERT_TRUE(mover_.retry());
  EXPECT_EQ(starts(0), Starts{64 * kMiB});
}

TEST_F(MoverTest, WhatIsCancelledIsAccountedForAndNotBackedOff) {
  policy::Plan plan;
  for (std::uint64_t i = 0; i < 100; ++i)
    plan.promotions.push_back(move_of(i * 2 * kMiB, 2 * kMiB, 3, 0));
  ASSERT_TRUE(mover_.cancel()) << "nothing in flight";
  EXPECT_TRUE(kernel_.cancelled.empty());
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  ASSERT_TRUE(mover_.cancel());
  EXPECT_EQ(kernel_.cancelled, std::vector{kernel_.tickets.at(0).cookie});
  finish([](const hmk_range& range) {
    hmk_range_result result{};
    if (range.start == 0)
      result.pages_clean = 3;
    else
      result.error = -ECANCELED;
    return result;
  });
  EXPECT_TRUE(kernel_.tickets.empty()) << "the rest is not sent";
  EXPECT_EQ(mover_.counters().promoted_bytes, 3u * 4096);
  EXPECT_EQ(mover_.counters().failed_ranges, 0u);
  EXPECT_FALSE(mover_.back_off().is_blocked(4 * kMiB, kMiB, 2));
}

TEST_F(MoverTest, WhatMakesRoomForAnotherProcessGoesFirst) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0)};
  plan.demotions = {move_of(32 * kMiB, kMiB, 0, 1), move_of(48 * kMiB, kMiB, 0, 1)};
  plan.demotions[1].served = plan.demotions[1].process + 1;
  ASSERT_TRUE(mover_.start(plan, kFour, 1));
  EXPECT_EQ(starts(0), (Starts{48 * kMiB, 32 * kMiB, 0}));
}

TEST_F(MoverTest, PiecesEndAtHugePagesAndAddUp) {
  policy::Plan plan;
  plan.promotions = {move_of(3 * kMiB, 9 * kMiB + 4096, 3, 0)};
  plan.promotions[0].bytes = 5 * kMiB + 4096;
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  std::uint64_t at = 3 * kMiB;
  for (const hmk_range& range : kernel_.tickets.at(0).ranges) {
    EXPECT_EQ(range.start, at);
    EXPECT_TRUE(at == 3 * kMiB || at % (2 * kMiB) == 0);
    EXPECT_LE(range.length, 4 * kMiB);
    at += range.length;
  }
  EXPECT_EQ(at, 12 * kMiB + 4096);
}

TEST_F(MoverTest, WhatIsInTheTiersOtherNodesStaysThere) {
  constexpr std::uint64_t kPage = HMK_PAGE_SIZE;
  policy::Plan plan;
  plan.promotions = {move_of(0, 8 * kPage, 4, 0), move_of(4 * kMiB, 2 * kPage, 1, 6)};
  plan.promotions[0].saved_ns_per_s = 800;
  const std::vector<std::int32_t> nodes = {4, 1, 5, 4, -ENOENT, 0, 3, 4};
  std::vector<std::uint64_t> asked;
  kernel_.place = [&](std::uint64_t at) {
    asked.push_back(at);
    return nodes.at(at / kPage);
  };
  std::vector<policy::Move> ended;
  mover_.on_end([&](const policy::Move& move, const hmk_range_result&) { ended.push_back(move); });
  ASSERT_TRUE(mover_.start(plan, {{0, 1, 2, 3}, {4, 5}, {6}}, 1));
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(starts(0), (Starts{0, 2 * kPage, 7 * kPage, 4 * kMiB}));
  EXPECT_EQ(kernel_.tickets[0].ranges[1].length, 2 * kPage);
  EXPECT_EQ(asked.size(), nodes.size()) << "what goes to a tier of one node is not asked";
  finish(all_clean);
  ASSERT_EQ(ended.size(), 4u);
  EXPECT_EQ(ended[1].bytes, 2 * kPage);
  EXPECT_DOUBLE_EQ(ended[1].saved_ns_per_s, 200);
}

TEST_F(MoverTest, WhatIsAllInTheTierIsNotSentHoweverMuchOfItComesFirst) {
  policy::Plan plan;
  plan.promotions = {move_of(0, 40 * kMiB, 2, 0)};
  kernel_.place = [](std::uint64_t at) { return at < 36 * kMiB ? 1 : 2; };
  ASSERT_TRUE(mover_.start(plan, {{0, 1}, {2}}, 1));
  EXPECT_EQ(starts(0), (Starts{36 * kMiB}));
  finish(all_clean);
  kernel_.place = [](std::uint64_t) { return 1; };
  ASSERT_TRUE(mover_.start(plan, {{0, 1}, {2}}, 2));
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_FALSE(mover_.is_busy());
}

TEST_F(MoverTest, APieceThatCannotBeAskedOrGoesToATierOfOneNodeIsSentWhole) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 2, 0)};
  ASSERT_TRUE(mover_.start(plan, {{0, 1}, {2}}, 1));
  finish(all_clean);
  kernel_.place = [](std::uint64_t) { return 0; };
  ASSERT_TRUE(mover_.start(plan, {{0}, {2}}, 2));
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].length, kMiB);
}

TEST_F(MoverTest, ANewPlanTakesThePlaceOfWhatWasNotSent) {
  policy::Plan plan;
  plan.promotions = {move_of(0, 64 * kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  EXPECT_TRUE(mover_.is_moving(28 * kMiB, kMiB));
  EXPECT_FALSE(mover_.is_moving(32 * kMiB, kMiB));
  plan.promotions = {move_of(100 * kMiB, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 2));
  EXPECT_EQ(kernel_.tickets.size(), 1u) << "what is in flight ends first";
  finish(all_clean);
  EXPECT_EQ(starts(0), Starts{100 * kMiB});
  mover_.forget_ended_before(1);
  EXPECT_FALSE(mover_.is_moving(28 * kMiB, kMiB));
}

TEST_F(MoverTest, WhatEndedTooLateForTheRecordsIsStillMoving) {
  policy::Plan plan;
  for (const std::uint64_t at : {0, 16}) {
    plan.promotions = {move_of(at * kMiB, 4 * kMiB, 3, 0)};
    ASSERT_TRUE(mover_.start(plan, kTwo, 1));
    kernel_.now_ns = 1000 + at;
    finish(all_clean);
  }
  EXPECT_TRUE(mover_.is_moving(3 * kMiB, kMiB));
  EXPECT_FALSE(mover_.is_moving(4 * kMiB, kMiB));
  EXPECT_EQ(mover_.held(2), (Spans{{0, 4 * kMiB}, {16 * kMiB, 20 * kMiB}}));
  mover_.back_off().failed(19 * kMiB, 2 * kMiB, 2, 3);
  EXPECT_EQ(mover_.held(3), (Spans{{0, 4 * kMiB}, {16 * kMiB, 21 * kMiB}})) << "a class is enough";
  EXPECT_EQ(mover_.held(4), (Spans{{0, 4 * kMiB}, {16 * kMiB, 20 * kMiB}}));
  mover_.forget_ended_before(1000);
  EXPECT_TRUE(mover_.is_moving(3 * kMiB, kMiB)) << "it ended as they were counted";
  mover_.forget_ended_before(1001);
  EXPECT_FALSE(mover_.is_moving(3 * kMiB, kMiB));
  EXPECT_TRUE(mover_.is_moving(16 * kMiB, kMiB));
  mover_.forget_ended_before(1017);
  EXPECT_FALSE(mover_.is_moving(16 * kMiB, kMiB));
}

TEST_F(MoverTest, ATierWithoutRoomIsNotTheFaultOfTheRange) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 7));
  finish([](const hmk_range&) {
    hmk_range_result result{};
    result.refused[HMK_REFUSED_NO_ROOM] = 256;
    return result;
  });
  EXPECT_FALSE(mover_.back_off().is_blocked(0, kMiB, 8));
}

hmk_range_result no_room(const hmk_range& range) {
  hmk_range_result result{};
  result.refused[HMK_REFUSED_NO_ROOM] = range.length / HMK_PAGE_SIZE;
  return result;
}

TEST_F(MoverTest, WhatFindsNoRoomGoesOnInEighthsDownAndUpByTurns) {
  policy::Plan plan;
  plan.promotions = {move_of(0, 2 * kMiB, 3, 0), move_of(8 * kMiB, kMiB, 2, 0)};
  plan.demotions = {move_of(32 * kMiB, 2 * kMiB, 0, 1)};
  plan.promotions[0].saved_ns_per_s = 800;
  std::vector<policy::Move> ended;
  mover_.on_end([&](const policy::Move& move, const hmk_range_result& result) {
    EXPECT_EQ(result.refused[HMK_REFUSED_NO_ROOM], 0u);
    ended.push_back(move);
  });
  ASSERT_TRUE(mover_.start(plan, kFour, 1));
  EXPECT_EQ(starts(0), (Starts{32 * kMiB, 0, 8 * kMiB}));
  finish([](const hmk_range& range) {
    return range.start == 8 * kMiB ? all_clean(range) : no_room(range);
  });
  Starts turns;
  for (std::uint64_t at = 0; at < 2 * kMiB; at += kMiB / 4) {
    turns.push_back(32 * kMiB + at);
    turns.push_back(at);
  }
  EXPECT_EQ(starts(0), turns);
  EXPECT_EQ(kernel_.tickets[0].ranges[1].length, kMiB / 4);
  finish(all_clean);
  EXPECT_FALSE(mover_.is_busy());
  EXPECT_EQ(mover_.counters().promoted_bytes, 3 * kMiB);
  EXPECT_EQ(mover_.counters().demoted_bytes, 2 * kMiB);
  EXPECT_EQ(mover_.counters().refused_bytes[HMK_REFUSED_NO_ROOM], 0u);
  EXPECT_EQ(ended.back().bytes, kMiB / 4);
  EXPECT_DOUBLE_EQ(ended.back().saved_ns_per_s, 100);
}

TEST_F(MoverTest, InPairsWhatFindsNoRoomIsLedByAPieceMore) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0)};
  plan.demotions = {move_of(32 * kMiB, kMiB, 0, 1)};
  mover_.set_how({.flags = HMK_MOVE_PAIRED});
  ASSERT_TRUE(mover_.start(plan, kFour, 1));
  finish(no_room);
  const Starts all = starts(0);
  ASSERT_EQ(all.size(), 16u);
  EXPECT_EQ(Starts(all.begin(), all.begin() + 5),
            (Starts{32 * kMiB, 32 * kMiB + kMiB / 8, 0, 32 * kMiB + kMiB / 4, kMiB / 8}));
  EXPECT_EQ(all.back(), kMiB - kMiB / 8);
}

TEST_F(MoverTest, WhatFindsNoRoomThriceWhileNothingMovesIsGivenUp) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  for (const std::size_t ranges : {1, 8, 32}) {  // the smallest are of 32 KiB
    ASSERT_EQ(kernel_.tickets.size(), 1u);
    EXPECT_EQ(kernel_.tickets[0].ranges.size(), ranges);
    EXPECT_EQ(mover_.counters().refused_bytes[HMK_REFUSED_NO_ROOM], 0u);
    finish(no_room);
  }
  EXPECT_FALSE(mover_.is_busy());
  EXPECT_EQ(mover_.counters().refused_bytes[HMK_REFUSED_NO_ROOM], kMiB) << "counted once";
  EXPECT_FALSE(mover_.back_off().is_blocked(0, kMiB, 2));
}

TEST_F(MoverTest, ItGoesOnWhileASixteenthOfItMoves) {
  for (const unsigned moved : {16u, 15u}) {
    policy::Plan plan;
    plan.promotions = {move_of(0, kMiB, 3, 0),
                       move_of(2 * kMiB, std::uint64_t{moved} * 4096, 3, 0)};
    ASSERT_TRUE(mover_.start(plan, kTwo, 1));
    const auto judge = [=](const hmk_range& range) {
      hmk_range_result result = no_room(range);
      if (range.start < 2 * kMiB) return result;
      return all_clean(range);
    };
    finish(judge);  // 256 pages find none
    for (unsigned tries = 0; tries < 2; ++tries) finish(no_room);
    EXPECT_EQ(mover_.is_busy(), moved == 16) << "the first was no failure";
    mover_.abandon();
    if (moved == 16) finish(no_room);
    EXPECT_FALSE(mover_.is_busy());
  }
}

TEST_F(MoverTest, ForRoomNoHugePageIsCutAndWhatIsSmallStaysWhole) {
  policy::Plan plan;
  plan.promotions = {move_of(0, 4 * kMiB, 3, 0), move_of(8 * kMiB, 2 * kMiB, 3, 0)};
  plan.promotions[0].leaf_shift = 21;
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  finish([](const hmk_range& range) {
    hmk_range_result result = no_room(range);
    if (range.start == 0) return result;
    result.refused[HMK_REFUSED_NO_ROOM] = 15;  // of 512 pages
    result.pages_clean = 497;
    return result;
  });
  EXPECT_EQ(starts(0), (Starts{0, 2 * kMiB, 8 * kMiB}));
  EXPECT_EQ(kernel_.tickets[0].ranges[2].length, 2 * kMiB);
}

TEST_F(MoverTest, ForRoomAPieceOfAClassIsCutByWhatItHolds) {
  policy::Plan plan;
  plan.promotions = {class_move(7, 0, 64 * kMiB, kMiB / 8, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  finish([](const hmk_range&) {
    hmk_range_result result{};
    result.refused[HMK_REFUSED_NO_ROOM] = 32;
    return result;
  });
  const auto& ranges = kernel_.tickets.at(0).ranges;
  ASSERT_EQ(ranges.size(), 4u) << "of 32 KiB each";
  EXPECT_EQ(ranges[1].start, 16 * kMiB);
  EXPECT_EQ(ranges[1].flags, HMK_RANGE_CLASS(6) | HMK_RANGE_FROM(3));
}

TEST_F(MoverTest, WhatFoundNoRoomOfAnOlderPlanIsNotSentAgain) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  plan.promotions = {move_of(8 * kMiB, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 2));
  finish(no_room);
  EXPECT_EQ(mover_.counters().refused_bytes[HMK_REFUSED_NO_ROOM], kMiB);
  EXPECT_EQ(starts(0), Starts{8 * kMiB});
}

TEST_F(MoverTest, WhatGoesToAndFroIsCountedAndThenLeftAlone) {
  policy::Plan up, down;
  up.promotions = {move_of(0, kMiB, 3, 0)};
  down.demotions = {move_of(0, kMiB, 0, 3)};
  down.promotions = {move_of(2 * kMiB, kMiB, 3, 0)};
  std::uint64_t seq = 0;
  for (const policy::Plan* const plan : {&up, &down, &up}) {
    EXPECT_FALSE(mover_.ping_pong().is_blocked(0, kMiB, seq + 1));
    ASSERT_TRUE(mover_.start(*plan, kTwo, ++seq));
    finish(all_clean);
  }
  EXPECT_TRUE(mover_.ping_pong().is_blocked(0, kMiB, seq + 1));
  EXPECT_FALSE(mover_.ping_pong().is_blocked(2 * kMiB, kMiB, seq + 1));
  EXPECT_EQ(mover_.counters().returned_bytes, 2 * kMiB);
}

TEST_F(MoverTest, CountsPerPairOfTiersAndReason) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0), move_of(2 * kMiB, kMiB, 3, 0),
                     move_of(4 * kMiB, kMiB, 0, 0)};
  ASSERT_TRUE(mover_.start(plan, kFour, 1));
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
  EXPECT_EQ(counters.pairs.at({3, 0}).refused_bytes[HMK_REFUSED_PINNED], 128u * 4096);
  EXPECT_EQ(counters.pairs.at({3, 0}).bytes_by_reason[0], 2u * 128 * 4096);
}

TEST_F(MoverTest, RangesThatRefuseAreBackedOff) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0), move_of(2 * kMiB, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 7));
  finish([](const hmk_range& range) {
    return range.start == 0 ? all_pinned(range) : all_clean(range);
  });
  EXPECT_TRUE(mover_.back_off().is_blocked(0, kMiB, 8));
  EXPECT_FALSE(mover_.back_off().is_blocked(0, kMiB, 9));
  EXPECT_FALSE(mover_.back_off().is_blocked(2 * kMiB, kMiB, 8));
}

TEST_F(MoverTest, WhatIsThereAlreadyHasNotFailed) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0), move_of(2 * kMiB, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 7));
  finish([](const hmk_range& range) {
    hmk_range_result result{};
    result.pages_already = 128;
    if (range.start != 0) result.refused[HMK_REFUSED_PINNED] = 129;
    return result;
  });
  EXPECT_FALSE(mover_.back_off().is_blocked(0, kMiB, 8));
  EXPECT_TRUE(mover_.back_off().is_blocked(2 * kMiB, kMiB, 8)) << "most of it refuses";
}

TEST_F(MoverTest, AFullQueueIsTriedAgain) {
  policy::Plan plan;
  plan.promotions = {move_of(0, kMiB, 3, 0)};
  kernel_.refuse_move = EAGAIN;
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
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
  EXPECT_FALSE(mover_.start(plan, kTwo, 1));
  EXPECT_FALSE(mover_.is_busy());
}

TEST_F(MoverTest, LargePlansAreSentInPieces) {
  policy::Plan plan;
  for (std::uint64_t i = 0; i < 100; ++i)
    plan.promotions.push_back(move_of(i * 2 * kMiB, 2 * kMiB, 3, 0));
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
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
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  mover_.abandon();
  finish(all_clean);
  EXPECT_TRUE(kernel_.tickets.empty());
  EXPECT_FALSE(mover_.is_busy());
}

TEST_F(MoverTest, AnUnknownTicketIsIgnored) {
  EXPECT_TRUE(mover_.finish(99, 0));
}

TEST_F(MoverTest, OfAClassARangeNamesItAndTheNodeItComesFrom) {
  policy::Plan plan;
  plan.promotions = {class_move(7, 0, 64 * kMiB, kMiB, 3, 0), move_of(128 * kMiB, kMiB, 3, 0)};
  plan.demotions = {class_move(1, 0, 64 * kMiB, kMiB, 0, 3)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  const auto& ranges = kernel_.tickets.at(0).ranges;
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].flags, HMK_RANGE_CLASS(0) | HMK_RANGE_FROM(0));
  EXPECT_EQ(ranges[1].flags, HMK_RANGE_CLASS(6) | HMK_RANGE_FROM(3));
  EXPECT_EQ(ranges[2].flags, 0u);
  EXPECT_EQ(ranges[1].start, ranges[0].start) << "in one range some rise and some fall";
}

TEST_F(MoverTest, APieceOfAClassIsAsLongAsItsPagesAreScattered) {
  policy::Plan plan;
  plan.promotions = {class_move(7, 2 * kMiB, 255 * kMiB, 8 * kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  const auto& ranges = kernel_.tickets.at(0).ranges;
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].length, 126 * kMiB);
  EXPECT_EQ(ranges[1].start, 128 * kMiB);
  EXPECT_EQ(ranges[1].length, 126 * kMiB);
  EXPECT_EQ(ranges[2].length, 3 * kMiB);
}

TEST_F(MoverTest, WhereATierHasSeveralNodesAClassNeedsNoQuestionWhereItIs) {
  kernel_.place = [](std::uint64_t) { return 0; };
  policy::Plan plan;
  plan.promotions = {class_move(7, 0, 4 * kMiB, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, {{0, 1}, {3}}, 1));
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges.at(0).length, 4 * kMiB);
}

TEST_F(MoverTest, APieceOfAClassThatFindsNoneHasNotFailed) {
  policy::Plan plan;
  plan.promotions = {class_move(7, 0, 4 * kMiB, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  finish([](const hmk_range& range) {
    hmk_range_result result{};
    result.pages_absent = range.length / HMK_PAGE_SIZE;
    return result;
  });
  EXPECT_EQ(mover_.back_off().size(), 0u);
}

TEST_F(MoverTest, AClassThatIsPinnedIsLeftAloneTheOthersAreNot) {
  policy::Plan plan;
  plan.promotions = {class_move(7, 0, 4 * kMiB, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  finish(all_pinned);
  EXPECT_TRUE(mover_.back_off().is_blocked(0, 4 * kMiB, 2, 7));
  EXPECT_FALSE(mover_.back_off().is_blocked(0, 4 * kMiB, 2, 6));
  EXPECT_FALSE(mover_.back_off().is_blocked(0, 4 * kMiB, 2));
}

// The hot pages of a range rise, then others of it fall: that is no return of the first.
TEST_F(MoverTest, ClassesOfARangeDoNotCountAsComingBack) {
  for (std::uint64_t seq = 1; seq < 6; ++seq) {
    policy::Plan plan;
    const int from = seq % 2 ? 3 : 0;
    plan.promotions = {class_move(7, 0, 4 * kMiB, kMiB, from, 3 - from)};
    ASSERT_TRUE(mover_.start(plan, kTwo, seq));
    finish(all_clean);
  }
  EXPECT_EQ(mover_.counters().returned_bytes, 0u);
  EXPECT_FALSE(mover_.ping_pong().is_blocked(0, 4 * kMiB, 6));
}

TEST_F(MoverTest, WhatIsMovingIsKnownThoughRangesOfClassesOverlap) {
  policy::Plan plan;
  plan.promotions = {class_move(7, 0, 64 * kMiB, kMiB, 3, 0),
                     class_move(6, 2 * kMiB, 4 * kMiB, kMiB, 3, 0), move_of(80 * kMiB, kMiB, 3, 0)};
  ASSERT_TRUE(mover_.start(plan, kTwo, 1));
  EXPECT_TRUE(mover_.is_moving(32 * kMiB, kMiB));
  EXPECT_FALSE(mover_.is_moving(64 * kMiB, 16 * kMiB));
  EXPECT_TRUE(mover_.is_moving(64 * kMiB, 17 * kMiB));
}

}  // namespace
}  // namespace hmk

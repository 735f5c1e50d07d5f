// SPDX-License-Identifier: MIT
#include "policy/demote.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr NodeId kNodes[] = {0, 1, 2, 3};
const TierView kTiers[] = {tier(0, 0), tier(1, 0), tier(2, 0), tier(3, 0)};
constexpr std::int64_t kM = static_cast<std::int64_t>(kMiB);

class Demote : public testing::Test {
 protected:
  Histogram h_{{.buckets = 64, .hotness_max = 3}, kNodes};

  Histogram::Id add(const RegionView& r) { return h_.insert(0, r); }
  /// Room for `mib` MiB in tier 0 for something of hotness 3 that comes from tier `source`.
  RoomMade make(Bytes mib, Room& room, std::uint32_t source = 3) {
    holders_ = {Holder(h_, kTiers, {0, 1, 2, 3})};
    return more(mib, room, source);
  }
  /// The same in a plan that has taken victims already.
  RoomMade more(Bytes mib, Room& room, std::uint32_t source = 3) {
    return make_room(holders_,
                     {.bytes = mib * kMiB,
                      .free = static_cast<Bytes>(std::max<std::int64_t>(room[0], 0)),
                      .source = source,
                      .leaving_source = mib * kMiB,
                      .victim_below_q16 = q16(2)},
                     room, alone_);
  }
  std::vector<Holder> holders_;
  Shares alone_{{Claimant{}}, Room(4), 0, true};
};

TEST_F(Demote, TakesTheColdestOneTierDown) {
  add(region(0, 2, 0, 1));
  const auto coldest = add(region(2, 2, 0, 0.5));
  Room room = {0, 10 * kM, 10 * kM, 10 * kM};
  const RoomMade made = make(2, room);
  ASSERT_EQ(made.victims.size(), 1u);
  EXPECT_EQ(made.victims[0].id, coldest);
  EXPECT_EQ(made.victims[0].to, 1u);
  EXPECT_EQ(made.bytes, 2 * kMiB);
  EXPECT_EQ(room, (Room{2 * kM, 8 * kM, 10 * kM, 10 * kM}));
}

TEST_F(Demote, SkipsATierThatIsFull) {
  add(region(0, 2, 0, 0));
  Room room = {0, 2 * kM - 1, 2 * kM, 0};
  EXPECT_EQ(make(2, room).victims.at(0).to, 2u);
}

TEST_F(Demote, SwapsWithTheSourceWhenEveryLowerTierIsFull) {
  add(region(0, 2, 0, 0));
  Room room = {0, 0, 0, 0};
  const RoomMade made = make(2, room);
  ASSERT_EQ(made.victims.size(), 1u);
  EXPECT_EQ(made.victims[0].to, 3u);
  EXPECT_TRUE(made.victims[0].exchange);
  EXPECT_EQ(made.exchanged, 2 * kMiB);
}

TEST_F(Demote, SwapsWithTheSourceRatherThanFallFurther) {
  add(region(0, 2, 0, 0));
  Room room = {0, 0, 0, 10 * kM};
  const RoomMade made = make(2, room, 1);
  ASSERT_EQ(made.victims.size(), 1u);
  EXPECT_EQ(made.victims[0].to, 1u);
  EXPECT_TRUE(made.victims[0].exchange);
  EXPECT_EQ(made.exchanged, 2 * kMiB);
}

TEST_F(Demote, NeverSwapsMoreThanLeavesTheSource) {
  for (std::uint64_t i = 0; i < 4; ++i) add(region(2 * i, 2, 0, 0));
  Room room = {-100 * kM, 0, 0, 0};
  const RoomMade made = make(3, room);
  EXPECT_EQ(made.exchanged, 3 * kMiB);
  EXPECT_EQ(made.bytes, 3 * kMiB);
}

TEST_F(Demote, SwapsOnlyWhatTheRoomThatIsThereDoesNotHold) {
  for (std::uint64_t i = 0; i < 4; ++i) add(region(2 * i, 2, 0, 0));
  Room room = {kM, 0, 0, 0};
  EXPECT_EQ(make(4, room).exchanged, 3 * kMiB);
  EXPECT_EQ(room[0], 4 * kM);
}

TEST_F(Demote, RefillsTheReserveOnTheWay) {
  for (std::uint64_t i = 0; i < 10; ++i) add(region(2 * i, 2, 0, 0));
  Room room = {-4 * kM, 100 * kM, 0, 0};
  EXPECT_EQ(make(2, room).bytes, 6 * kMiB);
  EXPECT_EQ(room[0], 2 * kM);
}

TEST_F(Demote, CutsADenseVictimToWhatIsNeeded) {
  add(region(0, 64, 0, 0));
  Room room = {0, 100 * kM, 0, 0};
  const RoomMade made = make(2, room);
  EXPECT_EQ(made.victims.at(0).length, 2 * kMiB);
  EXPECT_EQ(made.bytes, 2 * kMiB);
}

TEST_F(Demote, CutsASparseVictimByWhatItIsExpectedToHold) {
  RegionView r = region(0, 64, 0, 0);
  r.resident = 32 * kMiB;
  r.away = 16 * kMiB;
  add(r);
  Room room = {0, 100 * kM, 0, 0};
  const RoomMade made = make(2, room);
  EXPECT_EQ(made.victims.at(0).length, 8 * kMiB);
  EXPECT_EQ(made.victims.at(0).leaves, 2 * kMiB);
  EXPECT_EQ(made.victims.at(0).arrives, 4 * kMiB);
}

TEST_F(Demote, WhatIsLeftOfAVictimIsTheNextOne) {
  const auto cold = add(region(0, 5, 0, 0));
  const auto warm = add(region(8, 5, 0, 1));
  Room room = {0, 100 * kM, 0, 0};
  make(2, room);
  room[0] -= 2 * kM;  // the promotion
  const RoomMade made = more(2, room);
  ASSERT_EQ(made.victims.size(), 1u);
  EXPECT_EQ(made.victims[0].id, cold);
  EXPECT_EQ(made.victims[0].offset, 2 * kMiB);
  EXPECT_EQ(made.victims[0].length, 2 * kMiB);
  room[0] -= 2 * kM;
  const RoomMade last = more(2, room);
  ASSERT_EQ(last.victims.size(), 2u);
  EXPECT_EQ(last.victims[0].offset, 4 * kMiB);
  EXPECT_EQ(last.victims[0].leaves, kMiB);
  EXPECT_EQ(last.victims[1].id, warm);
  EXPECT_EQ(last.victims[1].offset, 0u);
}

TEST_F(Demote, StopsAtTheFirstVictimThatIsNotColdEnough) {
  add(region(0, 2, 0, 1.9));
  add(region(2, 2, 0, 2));
  Room room = {0, 100 * kM, 0, 0};
  const RoomMade made = make(4, room);
  EXPECT_EQ(made.victims.size(), 1u);
  EXPECT_FALSE(made.nowhere);
}

TEST_F(Demote, SaysWhenVictimsHaveNowhereToGo) {
  RegionView huge = region(0, 64, 0, 0);
  huge.leaf_shift = 21;
  add(huge);
  Room room = {0, 0, 0, 0};
  const RoomMade made = make(1, room);
  EXPECT_TRUE(made.victims.empty());
  EXPECT_TRUE(made.nowhere);
  EXPECT_EQ(holders_[0].queues[0].peek(holders_[0].taken), Histogram::Id{0})
      << "still there for the next";
}

TEST_F(Demote, UndoesEverythingItDid) {
  for (std::uint64_t i = 0; i < 4; ++i) add(region(2 * i, 2, 0, 0.1 * static_cast<double>(i)));
  const Room before = {0, 3 * kM, 2 * kM, 0};
  Room room = before;
  const RoomMade made = make(7, room);
  EXPECT_GE(made.victims.size(), 3u);
  undo_room(made, holders_, room, alone_);
  EXPECT_EQ(room, before);
  for (Histogram::Id id = 0; id < 4; ++id) {
    EXPECT_FALSE(holders_[0].taken.any(id));
    EXPECT_EQ(holders_[0].queues[0].peek(holders_[0].taken), id);
    holders_[0].queues[0].pop();
  }
}

// From where the turn begins, to the end, then from the start.
TEST_F(Demote, TakesAllOfAClassPieceByPieceWhereverItBegins) {
  RegionView cold = region(1, 16, 0, 0);
  cold.page_class = 1;
  cold.resident = 8 * kMiB;
  const auto id = add(cold);
  for (std::uint64_t turn = 0; turn < 20; ++turn) {
    holders_.clear();
    holders_.emplace_back(h_, kTiers, std::vector<std::uint32_t>{0, 1, 2, 3}, turn);
    Room room = {0, 100 * kM, 0, 0};
    std::map<Bytes, Bytes> ends;
    Bytes leaves = 0;
    while (!holders_[0].taken.all(id)) {
      room[0] = 0;
      for (const RoomMade::Victim& victim : more(1, room).victims) {
        EXPECT_TRUE(ends.emplace(victim.offset, victim.offset + victim.length).second);
        leaves += victim.leaves;
      }
    }
    EXPECT_EQ(leaves, 8 * kMiB);
    EXPECT_TRUE(ends.contains(first_cut(h_[id], turn)));
    Bytes covered = 0;
    for (const auto& [offset, end] : ends) {
      EXPECT_GE(offset, covered);
      EXPECT_EQ(expected_in_piece(cold.length, cold.resident, covered, offset), 0u);
      covered = end;
    }
  }
}

TEST_F(Demote, UndoesThePiecesOfAClassOnBothSidesOfItsEnd) {
  RegionView cold = region(0, 16, 0, 0);
  cold.page_class = 1;
  add(cold);
  holders_.clear();
  holders_.emplace_back(h_, kTiers, std::vector<std::uint32_t>{0, 1, 2, 3}, 1);
  Room room = {0, 100 * kM, 0, 0};
  const RoomMade made = more(10, room);
  ASSERT_EQ(made.victims.size(), 2u) << "what lies behind 0.618 of it, and more from its start";
  undo_room(made, holders_, room, alone_);
  EXPECT_FALSE(holders_[0].taken.any(0));
  EXPECT_EQ(room, (Room{0, 100 * kM, 0, 0}));
}

TEST_F(Demote, CountsPartlyAwayRegionsAmongTheVictimsOfTheFastestTier) {
  RegionView r = region(0, 2, 0, 0);
  r.away = kMiB;
  const auto id = add(r);
  VictimQueue queue(h_, 0);
  EXPECT_EQ(queue.peek(Taken(h_, 0)), id);
}

TEST_F(Demote, QueuesVictimsFromTheLowestBucketUp) {
  const auto warm = add(region(0, 2, 0, 1)), cold = add(region(2, 2, 0, 0)),
             hot = add(region(4, 2, 0, 3));
  Taken taken(h_, 0);
  VictimQueue queue(h_, 0);
  EXPECT_EQ(queue.peek(taken), cold);
  queue.pop();
  EXPECT_EQ(queue.peek(taken), warm);
  queue.push(cold);
  EXPECT_EQ(queue.peek(taken), cold);
  taken.set_all(cold);
  taken.set_all(warm);
  EXPECT_EQ(queue.peek(taken), hot);
  taken.set_all(hot);
  EXPECT_EQ(queue.peek(taken), std::nullopt);
}

TEST_F(Demote, CutsAtLeafAlignment) {
  RegionView r = region(1, 8, 0, 0);  // starts 1 MiB beyond a 2 MiB border
  r.leaf_shift = 21;
  const Histogram::Entry e = h_[add(r)];
  EXPECT_EQ(cut_length(e, 8 * kMiB), 8 * kMiB);
  EXPECT_EQ(cut_length(e, 8 * kMiB - 1), 7 * kMiB);
  EXPECT_EQ(cut_length(e, 3 * kMiB), 3 * kMiB);
  EXPECT_EQ(cut_length(e, 3 * kMiB - 1), kMiB);
  EXPECT_EQ(cut_length(e, kMiB - 1), 0u);
  EXPECT_EQ(cut_length(e, 0), 0u);
}

TEST_F(Demote, PromisesOfACutOnlyWhatMustBeInIt) {
  EXPECT_EQ(at_least_in_cut(100, 100, 40), 40u);
  EXPECT_EQ(at_least_in_cut(100, 70, 40), 10u);
  EXPECT_EQ(at_least_in_cut(100, 60, 40), 0u);
  EXPECT_EQ(at_least_in_cut(100, 59, 40), 0u);
  EXPECT_EQ(at_least_in_cut(100, 70, 100), 70u);
}

}  // namespace

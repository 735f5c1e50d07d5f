// SPDX-License-Identifier: MIT
#include "mover/kinds.hpp"

#include "app_fixture.hpp"

namespace hmk {
namespace {

using namespace hmk::test;

TEST(Kinds, IsDoubtedFromTwoMebibytesOnOfWhichMostRefuse) {
  Kinds kinds;
  EXPECT_FALSE(kinds.ended(HMK_KIND_SHMEM, 0, Kinds::kKnown - 1, 1));
  EXPECT_FALSE(kinds.is_doubted(HMK_KIND_SHMEM)) << "a page less tells nothing";
  EXPECT_TRUE(kinds.ended(HMK_KIND_SHMEM, 0, 1, 1));
  EXPECT_TRUE(kinds.is_doubted(HMK_KIND_SHMEM));
  EXPECT_FALSE(kinds.is_doubted(HMK_KIND_ANON)) << "another kind";
  EXPECT_FALSE(kinds.ended(HMK_KIND_ANON, Kinds::kKnown / 2, Kinds::kKnown / 2, 1));
  EXPECT_FALSE(kinds.is_doubted(HMK_KIND_ANON)) << "half of it is not most";
}

TEST(Kinds, IsTriedAfterOneIntervalThenTwoThenFour) {
  Kinds kinds;
  std::uint64_t seq = 1;
  for (const std::uint64_t pause : {1, 2, 4}) {
    EXPECT_EQ(kinds.ended(HMK_KIND_SHMEM, 0, Kinds::kKnown, seq), seq == 1) << "told once";
    (void)kinds.ended(HMK_KIND_SHMEM, 0, Kinds::kKnown, seq);  // of the same plan
    EXPECT_FALSE(kinds.may_try(HMK_KIND_SHMEM, seq + pause));
    EXPECT_TRUE(kinds.may_try(HMK_KIND_SHMEM, seq + pause + 1));
    seq += pause + 1;
  }
  EXPECT_FALSE(kinds.ended(HMK_KIND_SHMEM, Kinds::kKnown, 0, seq));
  EXPECT_FALSE(kinds.is_doubted(HMK_KIND_SHMEM)) << "it moves";
}

TEST(Kinds, WhatAModuleOfTomorrowNamesIsNotDoubted) {
  Kinds kinds;
  EXPECT_FALSE(kinds.ended(255, 0, Kinds::kKnown, 1));
  EXPECT_FALSE(kinds.is_doubted(255));
}

class SharedByOthersTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    config_.mode = Mode::manage;
    config_.is_governed = false;
  }
  static hmk_record shmem(std::uint64_t mib, double whi) {
    hmk_record record = region(mib * kMiB, 3, whi);
    record.kind = HMK_KIND_SHMEM;
    return record;
  }
  static hmk_range_result shared(const hmk_range& range) {
    hmk_range_result result{};
    result.refused[HMK_REFUSED_SHARED] = range.length / HMK_PAGE_SIZE;
    return result;
  }
  /// Of the tickets that an interval with these records brings, all as `judge` says.
  std::vector<std::uint64_t> moves(std::uint64_t seq, const std::vector<hmk_record>& records,
                                   hmk_range_result (*judge)(const hmk_range&)) {
    kernel_.now_ns = interval(seq, {}).interval.start_ns;
    kernel_.publish(interval(seq, records));
    return finish_all([&](const hmk_range& range) {
      return range.start < kOwn * kMiB ? judge(range) : all_clean(range);
    });
  }
  static constexpr std::uint64_t kOwn = 100;  // MiB from which on memory is the process's alone
  using Starts = std::vector<std::uint64_t>;
};

TEST_F(SharedByOthersTest, OfAKindThatMostlyRefusesOneRegionIsTried) {
  const std::vector<hmk_record> all{shmem(0, 2.0), shmem(2, 3.0), shmem(4, 2.5),
                                    region(kOwn * kMiB, 3, 2.2)};
  start();
  EXPECT_EQ(moves(1, all, shared), (Starts{0, 2, 4, kOwn}));
  EXPECT_EQ(moves(2, all, shared), (Starts{kOwn})) << "each would make room in vain";
  EXPECT_EQ(moves(3, all, shared), (Starts{2, kOwn})) << "the hottest";
  EXPECT_EQ(moves(4, all, shared), (Starts{kOwn}));
  EXPECT_EQ(moves(5, all, shared), (Starts{kOwn})) << "left alone for twice as long";
}

TEST_F(SharedByOthersTest, OnceItMovesAllOfItMay) {
  const std::vector<hmk_record> all{shmem(0, 2.0), shmem(2, 3.0)};
  start();
  EXPECT_EQ(moves(1, all, shared), (Starts{0, 2}));
  EXPECT_EQ(moves(2, all, shared), Starts{});
  EXPECT_EQ(moves(3, all, all_clean), Starts{2});
  EXPECT_EQ(moves(4, {shmem(0, 2.0)}, all_clean), Starts{0});
}

TEST_F(SharedByOthersTest, WithSharedItIsNoMoreDoubted) {
  const std::vector<hmk_record> all{shmem(0, 2.0), shmem(2, 3.0)};
  start();
  EXPECT_EQ(moves(1, all, shared), (Starts{0, 2}));
  data("set", {{"key", "shared"}, {"value", "yes"}});
  EXPECT_EQ(moves(3, all, all_clean), (Starts{0, 2}));
}

}  // namespace
}  // namespace hmk

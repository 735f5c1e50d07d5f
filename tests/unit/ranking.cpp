// SPDX-License-Identifier: MIT
#include "policy/rank.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr NodeId kTwoNodes[] = {0, 1};

class RankingTest : public testing::Test {
 protected:
  Ranking ranking_{{.buckets = 64, .hotness_max = 3}, kTwoNodes};
  const Histogram& h() const { return ranking_.histogram(); }
  void update(ProcessId process, const std::vector<RegionView>& regions) {
    ranking_.update(process, regions);
  }
};

TEST_F(RankingTest, KnowsTheRegionsOfTheLastSnapshotOnly) {
  update(1, {region(0, 2, 0, 1), region(2, 2, 1, 2)});
  update(1, {region(2, 2, 1, 3), region(8, 2, 1, 0)});
  EXPECT_EQ(h().size(), 2u);
  EXPECT_EQ(h().count(63, 1), 1u);
  EXPECT_EQ(h().count(0, 1), 1u);
}

TEST_F(RankingTest, TakesANewGenerationAsAnotherRegion) {
  RegionView r = region(0, 2, 0, 1);
  update(1, {r});
  r.generation = 2;
  r.length = kMiB;
  update(1, {r});
  EXPECT_EQ(h().size(), 1u);
}

TEST_F(RankingTest, FollowsTheClassesOfARegionAsTheyComeAndGo) {
  const auto part = [](std::uint64_t at_mib, NodeId node, double hotness) {
    RegionView r = region(at_mib, 2, node, hotness);
    r.page_class = static_cast<std::uint8_t>(1 + 2 * hotness);
    return r;
  };
  const auto now = [this] {
    std::multiset<std::tuple<std::uint64_t, unsigned, unsigned>> all;
    for (std::uint32_t b = 0; b < h().buckets(); ++b)
      for (std::uint32_t c = 0; c < h().columns(); ++c)
        h().for_each(b, c, [&](Histogram::Id id) {
          all.emplace(h()[id].start / kMiB, h()[id].page_class, c);
          return true;
        });
    EXPECT_EQ(all.size(), h().size());
    return all;
  };
  using All = decltype(now());
  update(1, {part(0, 0, 3), part(0, 1, 3), part(0, 0, 1), region(2, 2, 1, 0)});
  EXPECT_EQ(now(), (All{{0, 7, 0}, {0, 7, 1}, {0, 3, 0}, {2, 0, 1}}));
  update(1, {part(0, 0, 2), part(0, 1, 1), part(2, 0, 1), part(2, 0, 0)});
  EXPECT_EQ(now(), (All{{0, 5, 0}, {0, 3, 1}, {2, 3, 0}, {2, 1, 0}}));
  update(1, {region(0, 2, 1, 1), part(2, 0, 1), part(2, 0, 0), part(2, 1, 0)});
  EXPECT_EQ(now(), (All{{0, 0, 1}, {2, 3, 0}, {2, 1, 0}, {2, 1, 1}}));
}

TEST_F(RankingTest, KeepsProcessesApart) {
  update(1, {region(0, 2, 0, 1)});
  update(2, {region(0, 2, 0, 1)});
  EXPECT_EQ(h().size(), 2u);
  update(1, {});
  EXPECT_EQ(h().size(), 1u);
}

TEST_F(RankingTest, ForgetsAProcess) {
  update(1, {region(0, 2, 0, 1)});
  ranking_.forget(1);
  ranking_.forget(7);
  EXPECT_EQ(h().size(), 0u);
  update(1, {region(0, 2, 0, 1)});
  EXPECT_EQ(h().size(), 1u);
}

TEST_F(RankingTest, StartsOverWithAnotherOrderOfTiers) {
  update(1, {region(0, 2, 1, 1)});
  const NodeId other[] = {1, 0};
  ranking_.reset({.buckets = 32, .hotness_max = 3}, other);
  EXPECT_EQ(h().size(), 0u);
  update(1, {region(0, 2, 1, 1)});
  EXPECT_EQ(h().count(h().bucket_of(q16(1)), 0), 1u);
}

TEST_F(RankingTest, TakesLessThan64BytesForARegion) {
  std::vector<RegionView> many;
  for (std::uint64_t i = 0; i < 20000; ++i) many.push_back(region(2 * i, 2, 1, 1));
  update(1, many);
  EXPECT_LE(h().memory_bytes() + many.size() * sizeof(Histogram::Id), 64 * many.size());
}

class Order : public testing::Test {
 protected:
  Histogram h_{{.buckets = 64, .hotness_max = 3}, kTwoNodes};
  Histogram::Entry entry(ProcessId process, std::uint64_t at, Bytes mib, double hi) {
    RegionView r = region(at, mib, 0, 1);
    r.hi_q16 = q16(hi);
    return h_[h_.insert(process, r)];
  }
};

TEST_F(Order, PromotesTheHotterOfTheLastIntervalThenTheSmallerThenByPlace) {
  EXPECT_TRUE(promotes_before(entry(1, 8, 4, 2), entry(0, 0, 2, 1)));
  EXPECT_TRUE(promotes_before(entry(1, 8, 2, 1), entry(0, 0, 4, 1)));
  EXPECT_TRUE(promotes_before(entry(0, 8, 2, 1), entry(1, 0, 2, 1)));
  EXPECT_TRUE(promotes_before(entry(0, 0, 2, 1), entry(0, 8, 2, 1)));
  EXPECT_FALSE(promotes_before(entry(0, 0, 2, 1), entry(0, 0, 2, 1)));
}

TEST_F(Order, OfEquallyHotOnesWhatIsWrittenIsPromotedFirstAndDemotedLast) {
  Histogram::Entry written = entry(0, 8, 4, 1);
  written.written = 1;
  EXPECT_TRUE(promotes_before(written, entry(0, 0, 2, 1)));
  EXPECT_FALSE(demotes_before(written, entry(0, 0, 8, 1)));
  EXPECT_FALSE(promotes_before(written, entry(0, 0, 8, 2))) << "hotness comes first";
}

TEST_F(Order, DemotesALowerBucketBeforeAnythingElse) {
  RegionView cold = region(0, 4, 0, 0), warm = region(8, 2, 0, 1);
  cold.hi_q16 = q16(3);
  warm.hi_q16 = 0;
  const auto first = h_.insert(0, cold), second = h_.insert(0, warm);
  EXPECT_TRUE(demotes_before(h_[first], h_[second]));
}

TEST_F(Order, DemotesTheColderOfTheLastIntervalThenTheSmallerThenByPlace) {
  EXPECT_TRUE(demotes_before(entry(1, 8, 4, 1), entry(0, 0, 2, 2)));
  EXPECT_TRUE(demotes_before(entry(1, 8, 2, 1), entry(0, 0, 4, 1)));
  EXPECT_TRUE(demotes_before(entry(0, 8, 2, 1), entry(1, 0, 2, 1)));
}

TEST(ShortlistTest, HoldsTheFirstOfALongListInOrder) {
  Histogram h({.buckets = 1, .hotness_max = 3}, kTwoNodes);
  Random random(1);
  const std::uint32_t many = 3 * Shortlist::kMost;
  for (std::uint32_t i = 0; i < many; ++i) {
    RegionView r = region(2UL * i, 2, 0, 1);
    r.hi_q16 = i * 7919 % many;  // each value once
    h.insert(0, r);
  }
  Shortlist list(h, promotes_before);
  list.add(0, 0, [](Histogram::Id) { return true; });
  list.seal();
  std::uint32_t expected = many;
  for (; !list.empty(); list.pop()) ASSERT_EQ(h[list.front()].hi_q16, --expected);
  EXPECT_EQ(expected, many - Shortlist::kMost);
}

TEST(ShortlistTest, LooksAtSoManyOfALongListThatItTakes) {
  Histogram h({.buckets = 1, .hotness_max = 3}, kTwoNodes);
  for (std::uint32_t i = 0; i < Shortlist::kMostLookedAt + 2; ++i) {
    RegionView r = region(2UL * i, 2, 0, 1);
    r.written = i == 0;  // not taken: does not count
    r.hi_q16 = i;
    h.insert(0, r);
  }
  Shortlist list(h, promotes_before);
  list.add(0, 0, [&](Histogram::Id id) { return h[id].written == 0; });
  list.seal();
  EXPECT_EQ(h[list.front()].hi_q16, Shortlist::kMostLookedAt);
}

TEST(ShortlistTest, TakesBackWhatWasPopped) {
  Histogram h({.buckets = 64, .hotness_max = 3}, kTwoNodes);
  const auto hot = h.insert(0, region(0, 2, 0, 2));
  h.insert(0, region(2, 2, 0, 2));
  Shortlist list(h, promotes_before);
  list.add(h.bucket_of(q16(2)), 0, [](Histogram::Id) { return true; });
  list.seal();
  EXPECT_EQ(list.front(), hot);
  list.pop();
  list.push(hot);
  EXPECT_EQ(list.front(), hot);
}

}  // namespace

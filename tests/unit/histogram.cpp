// SPDX-License-Identifier: MIT
#include "policy/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

class HistogramTest : public testing::Test {
 protected:
  static constexpr NodeId kNodes[] = {4, 7, 1};
  Histogram h_{{.buckets = 64, .hotness_max = 3}, kNodes};

  std::vector<Histogram::Id> ids(std::uint32_t bucket, std::uint32_t column) {
    std::vector<Histogram::Id> found;
    h_.for_each(bucket, column, [&](Histogram::Id id) {
      found.push_back(id);
      return true;
    });
    EXPECT_EQ(found.size(), h_.count(bucket, column));
    std::ranges::sort(found);
    return found;
  }
  std::size_t listed() {
    std::size_t n = 0;
    for (std::uint32_t b = 0; b < h_.buckets(); ++b)
      for (std::uint32_t c = 0; c < h_.columns(); ++c) n += ids(b, c).size();
    return n;
  }
};

TEST_F(HistogramTest, DividesTheRangeOfHotnessIntoEqualBuckets) {
  EXPECT_EQ(h_.bucket_of(0), 0u);
  EXPECT_EQ(h_.bucket_of(3071), 0u);
  EXPECT_EQ(h_.bucket_of(3072), 1u);
  EXPECT_EQ(h_.bucket_of(q16(1.5)), 32u);
  EXPECT_EQ(h_.bucket_of(q16(3) - 1), 63u);
  EXPECT_EQ(h_.width_q16(), 3072u);
}

TEST_F(HistogramTest, CountsTheUpperEndAndAnythingAboveInTheLastBucket) {
  EXPECT_EQ(h_.bucket_of(q16(3)), 63u);
  EXPECT_EQ(h_.bucket_of(~0u), 63u);
}

TEST_F(HistogramTest, KnowsTheLowerEdgeOfEachBucketEvenWhenBucketsAreUneven) {
  for (const std::uint32_t buckets : {1u, 7u, 64u, 1024u}) {
    for (std::uint32_t scans = 1; scans <= 16; ++scans) {
      const Histogram h({.buckets = buckets, .hotness_max = scans}, kNodes);
      for (std::uint32_t b = 0; b < buckets; ++b) {
        ASSERT_EQ(h.bucket_of(h.lower_edge_q16(b)), b);
        if (b) {
          ASSERT_EQ(h.bucket_of(h.lower_edge_q16(b) - 1), b - 1);
        }
      }
    }
  }
}

TEST_F(HistogramTest, ClampsAnImpossibleShape) {
  EXPECT_EQ(Histogram({.buckets = 0, .hotness_max = 0}, kNodes).buckets(), 1u);
  EXPECT_EQ(Histogram({.buckets = 5000, .hotness_max = 3}, kNodes).buckets(), 1024u);
}

TEST_F(HistogramTest, ListsARegionUnderItsBucketAndNode) {
  const auto id = h_.insert(9, region(0, 2, 7, 1.5));
  EXPECT_EQ(ids(32, 1), std::vector{id});
  EXPECT_EQ(h_[id].process, 9u);
  EXPECT_EQ(h_[id].length(), 2 * kMiB);
  EXPECT_EQ(h_.size(), 1u);
}

TEST_F(HistogramTest, ListsAPartlyAwayRegionApart) {
  RegionView r = region(0, 2, 4, 1.5);
  r.away = kPage;
  r.away_node = 9;
  const auto id = h_.insert(0, r);
  EXPECT_EQ(ids(32, h_.away_column(0)), std::vector{id});
  EXPECT_EQ(h_.away_node(id), 9);
  EXPECT_EQ(h_[id].home(), 2 * kMiB - kPage);
  r.node = 7;
  r.away_node = 4;
  h_.update(id, r);
  EXPECT_EQ(ids(32, h_.away_column(1)), std::vector{id});
  EXPECT_EQ(h_.away_node(id), 4);
  r.away = kPage - 1;
  h_.update(id, r);
  EXPECT_EQ(ids(32, 1), std::vector{id});
  EXPECT_EQ(h_.away_node(id), kNoNode) << "nothing is away";
}

TEST_F(HistogramTest, ListsEachClassOfARegionUnderItsOwnHotness) {
  RegionView hot = region(0, 64, 4, 3), cold = region(0, 64, 7, 0);
  hot.page_class = 33;
  hot.resident = kPage;
  cold.page_class = 1;
  const auto hot_id = h_.insert(0, hot), cold_id = h_.insert(0, cold);
  EXPECT_EQ(ids(63, 0), std::vector{hot_id});
  EXPECT_EQ(ids(0, 1), std::vector{cold_id});
  EXPECT_EQ(h_[hot_id].page_class, 33);
  EXPECT_EQ(h_[hot_id].size_pages(), 1u);
  EXPECT_EQ(h_[hot_id].start, h_[cold_id].start);
}

TEST_F(HistogramTest, KnowsTheHighestAddressOfAProgram) {
  RegionView r = region(0, 2, 4, 1);
  r.start = (1ull << 57) - r.length;
  EXPECT_EQ(h_[h_.insert(0, r)].start, r.start);
}

TEST_F(HistogramTest, ListsNothingThatCannotMove) {
  RegionView r = region(0, 2, 4, 1.5);
  r.movable = false;
  h_.insert(0, r);
  r = region(2, 2, 99, 1.5);
  h_.insert(0, r);
  r = region(4, 2, kNoNode, 1.5);
  h_.insert(0, r);
  r = region(6, 2, 4, 1.5);
  r.resident = 0;
  h_.insert(0, r);
  EXPECT_EQ(h_.size(), 4u);
  EXPECT_EQ(listed(), 0u);
}

TEST_F(HistogramTest, FollowsARegionFromListToList) {
  const auto id = h_.insert(0, region(0, 2, 7, 1.5));
  h_.update(id, region(0, 2, 7, 3));
  EXPECT_TRUE(ids(32, 1).empty());
  EXPECT_EQ(ids(63, 1), std::vector{id});
  h_.update(id, region(0, 2, 4, 3));
  EXPECT_EQ(ids(63, 0), std::vector{id});
  RegionView still = region(0, 2, 4, 3);
  still.movable = false;
  h_.update(id, still);
  EXPECT_EQ(listed(), 0u);
  h_.update(id, region(0, 2, 4, 0));
  EXPECT_EQ(ids(0, 0), std::vector{id});
}

TEST_F(HistogramTest, ErasesFromTheBeginningTheMiddleAndTheEndOfAList) {
  std::vector<Histogram::Id> all;
  for (std::uint64_t i = 0; i < 5; ++i) all.push_back(h_.insert(0, region(2 * i, 2, 7, 1)));
  h_.erase(all[4]);
  h_.erase(all[2]);
  h_.erase(all[0]);
  EXPECT_EQ(ids(h_.bucket_of(q16(1)), 1), (std::vector{all[1], all[3]}));
  EXPECT_EQ(h_.size(), 2u);
}

TEST_F(HistogramTest, UsesIdsAgain) {
  const auto a = h_.insert(0, region(0, 2, 7, 1));
  h_.erase(a);
  EXPECT_EQ(h_.insert(0, region(2, 2, 7, 1)), a);
  EXPECT_EQ(h_.id_limit(), 1u);
}

TEST_F(HistogramTest, BelievesNoResidencyLargerThanTheRegion) {
  RegionView r = region(0, 2, 7, 1);
  r.resident = 4 * kMiB;
  r.away = 8 * kMiB;
  const auto id = h_.insert(0, r);
  EXPECT_EQ(h_[id].resident(), 2 * kMiB);
  EXPECT_EQ(h_[id].home(), 0u);
}

}  // namespace

// SPDX-License-Identifier: MIT
#include "page_classes.hpp"

#include <gtest/gtest.h>

namespace hmk {
namespace {

hmk_record record(std::uint64_t start, std::uint32_t pages, int node, int log_rate) {
  hmk_record r{};
  r.start = start;
  r.length = 0x100000;
  r.hi_q16 = r.whi_q16 = 65536;
  r.rate_q8 = static_cast<__s16>(256 * log_rate);
  r.rate_dev_q8 = 7;
  r.resident_pages = pages;
  r.node = node;
  r.away_node = -1;
  r.generation = 3;
  r.samples = 5;
  r.leaf_shift = 12;
  return r;
}

hmk_record part(std::uint64_t start, unsigned page_class, std::uint32_t pages, int node,
                int log_rate) {
  hmk_record r = record(start, pages, node, log_rate);
  r.flags = static_cast<__u16>((page_class + 1) << HMK_RECORD_CLASS_SHIFT);
  return r;
}

Snapshot of(std::vector<hmk_record> records) {
  Snapshot snapshot;
  snapshot.interval.nr_regions = static_cast<__u32>(records.size());
  snapshot.records = std::move(records);
  return snapshot;
}

TEST(PageClasses, AreKnownByTheFlags) {
  EXPECT_EQ(page_class(record(0, 1, 0, 0)), 0);
  EXPECT_EQ(page_class(part(0, 0, 1, 0, 0)), 1);
  EXPECT_EQ(page_class(part(0, HMK_CLASSES - 1, 1, 0, 0)), HMK_CLASSES);
  hmk_record stale = part(0, 4, 1, 0, 0);
  stale.flags |= HMK_RECORD_STALE;
  EXPECT_EQ(page_class(stale), 5);
}

TEST(PageClasses, WithoutAnyNothingChanges) {
  Snapshot snapshot = of({record(0, 10, 0, 3), record(0x100000, 20, 1, 2)});
  EXPECT_TRUE(fold(snapshot).empty());
  EXPECT_EQ(snapshot.records.size(), 2u);
  EXPECT_EQ(snapshot.records[1].resident_pages, 20u);
}

TEST(PageClasses, OfARegionAreOneRecordAndThePartsAreReturned) {
  Snapshot snapshot =
      of({record(0, 10, 0, 3), part(0x100000, 6, 10, 0, 5), part(0x100000, 6, 20, 1, 5),
          part(0x100000, 2, 70, 1, 1), part(0x200000, 3, 4, 2, 0), record(0x300000, 20, 1, 2)});
  snapshot.records[1].flags |= HMK_RECORD_STALE;
  const std::vector<hmk_record> parts = fold(snapshot);
  EXPECT_EQ(parts.size(), 6u);
  ASSERT_EQ(snapshot.records.size(), 4u);
  EXPECT_EQ(snapshot.interval.nr_regions, 4u);
  const hmk_record& mixed = snapshot.records[1];
  EXPECT_EQ(mixed.flags, HMK_RECORD_STALE);
  EXPECT_EQ(mixed.start, 0x100000u);
  EXPECT_EQ(mixed.resident_pages, 100u);
  EXPECT_EQ(mixed.node, 1);
  EXPECT_EQ(mixed.away_pages, 10u);
  EXPECT_EQ(mixed.away_node, 0);
  EXPECT_EQ(mixed.samples, 5);
  EXPECT_EQ(mixed.generation, 3u);
  EXPECT_EQ(snapshot.records[2].away_node, -1);
  EXPECT_EQ(snapshot.records[3].resident_pages, 20u);
}

TEST(PageClasses, HaveTheMeanHotnessAndTheRateOfAllTheirAccesses) {
  Snapshot snapshot = of({part(0, 8, 25, 0, 8), part(0, 0, 75, 0, 0)});
  snapshot.records[0].whi_q16 = 4 * 65536;
  snapshot.records[1].hi_q16 = snapshot.records[1].whi_q16 = 0;  // its rate is a bound only
  snapshot.records[0].rate_dev_q8 = 99;
  (void)fold(snapshot);
  EXPECT_EQ(snapshot.records.at(0).whi_q16, 65536u);
  EXPECT_EQ(snapshot.records[0].hi_q16, 65536u / 4);
  EXPECT_EQ(snapshot.records[0].rate_q8, 6 * 256) << "a quarter of the pages, 256 a second each";
  EXPECT_EQ(snapshot.records[0].rate_dev_q8, 99) << "of the part that has the accesses";
}

TEST(PageClasses, CountTheRateByThePageWhereLeavesAreHuge) {
  Snapshot snapshot = of({part(0, 8, 50, 0, 12), part(0, 7, 50, 0, 3)});
  snapshot.records[0].leaf_shift = 21;  // 8 a second and page, too
  (void)fold(snapshot);
  EXPECT_EQ(snapshot.records.at(0).leaf_shift, 21);
  EXPECT_EQ(snapshot.records[0].rate_q8, 12 * 256);
}

TEST(PageClasses, OfNoPagesKeepWhatIsKnown) {
  Snapshot snapshot = of({part(0, 8, 0, -1, 5)});
  (void)fold(snapshot);
  EXPECT_EQ(snapshot.records.at(0).rate_q8, 5 * 256);
  EXPECT_EQ(snapshot.records[0].node, -1);
  EXPECT_EQ(snapshot.records[0].whi_q16, 65536u);
}

}  // namespace
}  // namespace hmk

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/table_reader.h>

#include <vector>

#include "support/table.hpp"

using hmk::test::Table;

namespace {

class TableReader : public testing::Test {
 protected:
  hmk_interval iv_{};
  std::vector<hmk_record> records_ = std::vector<hmk_record>(64);
  std::size_t nr_ = 99;

  int read(const Table& table) { return read(table.base(), table.bytes()); }
  int read(const void* base, std::size_t len) {
    return hmk_table_read(base, len, &iv_, records_.data(), records_.size(), &nr_);
  }
  void expect_records(std::uint64_t seq, std::size_t nr) {
    ASSERT_EQ(nr_, nr);
    for (std::uint32_t i = 0; i < nr; ++i) {
      const hmk_record expected = Table::record_of(seq, i);
      EXPECT_EQ(memcmp(&records_[i], &expected, sizeof(expected)), 0) << i;
    }
  }
};

TEST_F(TableReader, CopiesTheLastPublishedInterval) {
  Table table(8);
  table.publish(1, 8);
  table.publish(2, 5);
  ASSERT_EQ(read(table), 0);
  EXPECT_EQ(iv_.seq, 2u);
  EXPECT_EQ(iv_.resident_pages, 6u);
  expect_records(2, 5);
  EXPECT_EQ(hmk_table_seq(table.base(), table.bytes()), 2u);
}

TEST_F(TableReader, SaysWhenNothingIsPublishedYet) {
  Table table(8);
  EXPECT_EQ(read(table), -EAGAIN);
  EXPECT_EQ(nr_, 0u);
  EXPECT_EQ(hmk_table_seq(table.base(), table.bytes()), 0u);
}

TEST_F(TableReader, ReadsAnIntervalWithoutRegions) {
  Table table(0);
  table.publish(1, 0);
  EXPECT_EQ(read(table), 0);
  EXPECT_EQ(nr_, 0u);
}

TEST_F(TableReader, SaysHowMuchRoomItNeeds) {
  Table table(64);
  table.publish(1, 64);
  EXPECT_EQ(read(table), 0);
  records_.resize(63);
  EXPECT_EQ(read(table), -ENOSPC);
  EXPECT_EQ(nr_, 64u);
  EXPECT_EQ(iv_.seq, 1u);
  EXPECT_EQ(hmk_table_read(table.base(), table.bytes(), &iv_, nullptr, 0, &nr_), -ENOSPC);
  EXPECT_EQ(nr_, 64u);
}

TEST_F(TableReader, SaysWhenTheTableHasMoved) {
  Table table(8);
  table.publish(1, 1);
  table.header().flags = HMK_TABLE_MOVED;
  EXPECT_EQ(read(table), -ESTALE);
}

TEST_F(TableReader, StridesOverLongerRecordsAndIntervalsOfANewerModule) {
  Table table(8, sizeof(hmk_record) + 16, sizeof(hmk_interval) + 8);
  table.publish(3, 8);
  ASSERT_EQ(read(table), 0);
  expect_records(3, 8);
}

TEST_F(TableReader, RefusesWhatIsNoTable) {
  Table table(8);
  table.publish(1, 1);
  table.header().magic ^= 1;
  EXPECT_EQ(read(table), -EPROTO);
}

TEST_F(TableReader, RefusesAnotherLayout) {
  Table table(8);
  table.publish(1, 1);
  table.header().layout++;
  EXPECT_EQ(read(table), -EPROTO);
}

TEST_F(TableReader, RefusesNoMappingOrAnUnalignedOne) {
  Table table(8);
  table.publish(1, 1);
  EXPECT_EQ(read(nullptr, 4096), -EPROTO);
  EXPECT_EQ(read(static_cast<const char*>(table.base()) + 4, table.bytes() - 8), -EPROTO);
  EXPECT_EQ(hmk_table_seq(nullptr, 4096), 0u);
}

TEST_F(TableReader, RefusesAMappingShorterThanTheBuffers) {
  Table table(8);
  table.publish(1, 1);
  EXPECT_EQ(read(table.base(), table.bytes()), 0);
  EXPECT_EQ(read(table.base(), table.bytes() - 8), -EPROTO);
  EXPECT_EQ(read(table.base(), sizeof(hmk_table_header)), -EPROTO);
  EXPECT_EQ(read(table.base(), sizeof(hmk_table_header) - 1), -EPROTO);
  EXPECT_EQ(read(table.base(), 0), -EPROTO);
  EXPECT_EQ(hmk_table_seq(table.base(), sizeof(hmk_table_header) - 1), 0u);
}

TEST_F(TableReader, RefusesSizesThatAreTooSmallOrUneven) {
  const auto refused = [this](auto&& damage) {
    Table table(8);
    table.publish(1, 1);
    damage(table.header());
    return read(table) == -EPROTO;
  };
  EXPECT_TRUE(refused([](auto& h) { h.header_size = sizeof(h) - 1; }));
  EXPECT_TRUE(refused([](auto& h) { h.header_size = ~0u; }));
  EXPECT_TRUE(refused([](auto& h) { h.record_size = 0; }));
  EXPECT_TRUE(refused([](auto& h) { h.record_size = sizeof(hmk_record) - 8; }));
  EXPECT_TRUE(refused([](auto& h) { h.record_size = sizeof(hmk_record) + 4; }));
  EXPECT_TRUE(refused([](auto& h) { h.record_size = ~0u; }));
  EXPECT_TRUE(refused([](auto& h) { h.interval_size = sizeof(hmk_interval) - 8; }));
  EXPECT_TRUE(refused([](auto& h) { h.interval_size = sizeof(hmk_interval) + 4; }));
  EXPECT_TRUE(refused([](auto& h) { h.capacity = 9; }));
  EXPECT_TRUE(refused([](auto& h) { h.capacity = ~0u; }));
  EXPECT_TRUE(refused([](auto& h) { h.buffer_offset[0] = 8; }));
  EXPECT_TRUE(refused([](auto& h) { h.capacity = 7, h.buffer_offset[1] += 4; }));
  EXPECT_TRUE(refused([](auto& h) { h.buffer_offset[1] += 8; }));
  EXPECT_TRUE(refused([](auto& h) { h.buffer_offset[1] = ~7ull; }));
}

TEST_F(TableReader, RefusesMoreRegionsThanTheTableHolds) {
  Table table(8);
  table.publish(1, 8);
  table.interval(1).nr_regions = 9;
  EXPECT_EQ(read(table), -EPROTO);
  EXPECT_EQ(nr_, 0u);
  table.interval(1).nr_regions = ~0u;
  EXPECT_EQ(read(table), -EPROTO);
}

TEST_F(TableReader, RefusesABufferThatIsNotOfThePublishedInterval) {
  Table table(8);
  table.publish(1, 8);
  table.interval(1).seq = 7;
  EXPECT_EQ(read(table), -EPROTO);
}

}  // namespace

// SPDX-License-Identifier: MIT
#include "sort.hpp"

#include <gtest/gtest.h>

namespace hmk::load {
namespace {

/// Goes on for so many records.
struct Work {
  bool goes_on(std::uint64_t records) {
    left -= std::min(left, records);
    return left > 0;
  }
  std::uint64_t left = UINT64_MAX;
};

struct Sort {
  explicit Sort(std::uint64_t nr)
      : input(nr), output(nr), parts(nr), sorter(input.data(), output.data(), parts.data(), nr, 1) {
    Work work;
    EXPECT_TRUE(sorter.fill(work));
  }

  std::uint64_t wrong() {
    std::uint64_t wrong = 0;
    Work work;
    EXPECT_TRUE(sorter.validate(work, wrong));
    return wrong;
  }

  std::vector<Record> input, output;
  std::vector<std::uint8_t> parts;
  Sorter sorter;
};

TEST(Sort, PutsRecordsInOrderRoundAfterRound) {
  Sort sort(20000);
  for (int i = 0; i < 3; ++i) {
    Work work;
    ASSERT_TRUE(sort.sorter.round(work));
    EXPECT_TRUE(std::is_sorted(sort.input.begin(), sort.input.end()));
    EXPECT_EQ(sort.wrong(), 0u);
    EXPECT_FALSE(sort.sorter.is_changed());
  }
}

TEST(Sort, ComparesAllTenBytesOfAKey) {
  Record a{}, b{};
  b.bytes[9] = 1;
  EXPECT_TRUE(a < b);
  a.bytes[8] = 1;
  EXPECT_TRUE(b < a);
  b.bytes[0] = 1;
  a.bytes[7] = 255;
  EXPECT_TRUE(a < b);
  b = a;
  b.bytes[10] = 1;
  EXPECT_FALSE(a < b || b < a);
}

TEST(Sort, FindsOneBitChangedInAnyByteOfARecord) {
  Sort sort(1000);
  Work work;
  ASSERT_TRUE(sort.sorter.round(work));
  for (std::size_t byte = 0; byte < sizeof(Record); ++byte) {
    sort.input[500].bytes[byte] ^= 1;
    EXPECT_GT(sort.wrong(), 0u) << byte;
    EXPECT_TRUE(sort.sorter.is_changed()) << byte;
    sort.input[500].bytes[byte] ^= 1;
  }
  EXPECT_EQ(sort.wrong(), 0u);
}

TEST(Sort, FindsRecordsThatChangedPlacesOrContents) {
  Sort sort(1000);
  Work work;
  ASSERT_TRUE(sort.sorter.round(work));
  std::swap(sort.input[10], sort.input[20]);
  EXPECT_GT(sort.wrong(), 0u);
  EXPECT_FALSE(sort.sorter.is_changed());  // all there, out of order
  std::swap(sort.input[10], sort.input[20]);
  std::swap_ranges(&sort.input[10].bytes[50], &sort.input[10].bytes[100],
                   &sort.input[20].bytes[50]);
  EXPECT_TRUE(sort.sorter.is_changed());
}

TEST(Sort, HasEveryRecordWhereverItIsStopped) {
  for (std::uint64_t records = 64; records < 6000; records += 64) {
    Sort sort(1000);
    Work once, work{records};
    ASSERT_TRUE(sort.sorter.round(once));
    EXPECT_EQ(sort.sorter.round(work), records > 5000);
    EXPECT_FALSE(sort.sorter.is_changed()) << records;
  }
}

}  // namespace
}  // namespace hmk::load

// SPDX-License-Identifier: MIT
//
// A writer that publishes far faster than any module would, and readers that
// must never see two intervals mixed. Run under ThreadSanitizer as well.
#include <gtest/gtest.h>
#include <hmk/table_reader.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/table.hpp"

using hmk::test::Table;

namespace {

constexpr std::uint32_t kRecords = 64;
constexpr std::uint64_t kIntervals = 4000;

struct Seen {
  std::uint64_t whole = 0, overtaken = 0, mixed = 0, last = 0;
};

void read_all(const Table& table, Seen& seen) {
  std::vector<hmk_record> records(kRecords);
  while (seen.last < kIntervals) {
    hmk_interval iv;
    std::size_t nr = 0;
    const int rc =
        hmk_table_read(table.base(), table.bytes(), &iv, records.data(), records.size(), &nr);
    if (rc == -EAGAIN) continue;
    if (rc == -EBUSY) {
      ++seen.overtaken;
      continue;
    }
    bool whole = rc == 0 && nr == 1 + iv.seq % kRecords && iv.seq >= seen.last;
    for (std::uint32_t i = 0; whole && i < nr; ++i) {
      const hmk_record expected = Table::record_of(iv.seq, i);
      whole = std::memcmp(&records[i], &expected, sizeof(expected)) == 0;
    }
    whole ? ++seen.whole : ++seen.mixed;
    if (rc == 0) seen.last = iv.seq;
    if (seen.mixed) return;
  }
}

TEST(TableReaderBesideAWriter, NeverSeesTwoIntervalsMixed) {
  Table table(kRecords);
  Seen seen[2];
  std::thread first([&] { read_all(table, seen[0]); });
  std::thread second([&] { read_all(table, seen[1]); });
  for (std::uint64_t seq = 1; seq <= kIntervals; ++seq)
    table.publish(seq, static_cast<std::uint32_t>(1 + seq % kRecords));
  first.join();
  second.join();
  for (const Seen& s : seen) {
    EXPECT_EQ(s.mixed, 0u);
    EXPECT_GT(s.whole, 0u);
    EXPECT_EQ(s.last, kIntervals);
  }
}

}  // namespace

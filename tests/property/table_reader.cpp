// SPDX-License-Identifier: MIT
//
// A damaged table is refused or read, never read out of bounds: the table ends
// where its memory ends, so AddressSanitizer sees the first byte too far.
#include <gtest/gtest.h>
#include <hmk/table_reader.h>

#include <vector>

#include "support/random.hpp"
#include "support/table.hpp"

using hmk::test::Random;
using hmk::test::rounds;
using hmk::test::Table;

namespace {

TEST(TableReaderProperties, SurvivesAnyDamageToTheHeaderAndTheInterval) {
  std::vector<hmk_record> records(16);
  int read = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < rounds(20000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto capacity = static_cast<std::uint32_t>(random.below(16));
    Table table(capacity);
    table.publish(1 + random.below(2), random.below32(capacity + 1));
    char* bytes = reinterpret_cast<char*>(&table.header());
    for (std::uint64_t hits = 1 + random.below(3); hits; --hits) {
      const bool header = !random.one_in(4);
      const std::uint64_t at = header ? random.below(sizeof(hmk_table_header))
                                      : 4096 + random.below(sizeof(hmk_interval));
      if (at < 12 && !random.one_in(8)) continue;  // magic and layout end it too early
      bytes[at] = static_cast<char>(random.one_in(2) ? random.next() : 0xff);
    }
    hmk_interval iv;
    std::size_t nr;
    const int rc =
        hmk_table_read(table.base(), table.bytes(), &iv, records.data(), records.size(), &nr);
    rc == 0 ? ++read : ++refused;
    ASSERT_TRUE(rc == 0 || rc == -EPROTO || rc == -EAGAIN || rc == -ESTALE || rc == -ENOSPC) << rc;
    if (rc == 0) {
      ASSERT_LE(nr, records.size());
    }
  }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 50);
}

}  // namespace

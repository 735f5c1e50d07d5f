// SPDX-License-Identifier: MIT
#include "policy/wanted.hpp"

#include <gtest/gtest.h>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

Wanted wanted(std::uint64_t start_mib, std::uint64_t end_mib, int tier, std::uint32_t by = 0) {
  return {start_mib * kMiB, end_mib * kMiB, tier, by};
}

TEST(Wanted, TheFirstCountsAndOfTheRestWhatItLeaves) {
  const std::vector first{wanted(4, 8, 0), wanted(12, 16, 1)};
  EXPECT_EQ(joined(first, std::vector{wanted(0, 20, 2, 7)}),
            (std::vector{wanted(0, 4, 2, 7), wanted(4, 8, 0), wanted(8, 12, 2, 7),
                         wanted(12, 16, 1), wanted(16, 20, 2, 7)}));
  EXPECT_EQ(joined(first, std::vector{wanted(5, 7, 2)}), first);
  EXPECT_EQ(joined(first, {}), first);
  EXPECT_EQ(joined({}, first), first);
  EXPECT_EQ(joined(std::vector{wanted(4, 8, 0)}, std::vector{wanted(0, 4, 1), wanted(8, 9, 1)}),
            (std::vector{wanted(0, 4, 1), wanted(4, 8, 0), wanted(8, 9, 1)}));
}

TEST(SetApart, CutsRegionsWhereItBeginsAndEndsAndKeepsAllOfThem) {
  RegionView half = region(0, 16, 1, 2);
  half.resident = 8 * kMiB;
  half.away = 4 * kMiB;
  const auto parts = set_apart(std::vector{half, region(16, 4, 0, 1)},
                               std::vector{wanted(4, 8, 0), wanted(14, 17, 0)});
  ASSERT_EQ(parts.size(), 6u);
  const std::vector<std::uint64_t> starts{0, 4, 8, 14, 16, 17};
  const std::vector<bool> movable{true, false, true, false, false, true};
  Bytes length = 0, resident = 0, away = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].start, starts[i] * kMiB);
    EXPECT_EQ(parts[i].movable, movable[i]) << i;
    length += parts[i].length;
    resident += parts[i].resident;
    away += parts[i].away;
  }
  EXPECT_EQ(parts[0].resident, 2 * kMiB) << "taken as evenly spread";
  EXPECT_EQ(length, 20 * kMiB);
  EXPECT_EQ(resident, 12 * kMiB);
  EXPECT_EQ(away, 4 * kMiB);
}

TEST(SetApart, CutsNoHugePage) {
  RegionView huge = region(0, 8, 1, 2);
  huge.leaf_shift = 21;
  const auto parts = set_apart(std::vector{huge}, std::vector{wanted(3, 5, 0)});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].start, 2 * kMiB);
  EXPECT_EQ(parts[1].length, 4 * kMiB);
  EXPECT_FALSE(parts[1].movable);
}

TEST(SetApart, KeepsTheClassesOfAPartSideBySide) {
  const auto parts = set_apart(std::vector{class_of(0, 8, 0, 3, 4), class_of(0, 8, 1, 3, 2)},
                               std::vector{wanted(0, 4, 0)});
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].start, parts[1].start);
  EXPECT_EQ(parts[2].start, 4 * kMiB);
  EXPECT_EQ(parts[0].node, 0);
  EXPECT_EQ(parts[1].node, 1);
  EXPECT_EQ(parts[1].resident, kMiB);
  EXPECT_TRUE(parts[3].movable);
}

TEST(SetApart, LeavesTheRestAsItIs) {
  RegionView waits = region(0, 2, 1, 2);
  waits.movable = false;
  const auto parts =
      set_apart(std::vector{waits, region(2, 2, 1, 2)}, std::vector{wanted(100, 200, 0)});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_FALSE(parts[0].movable);
  EXPECT_EQ(parts[1].length, 2 * kMiB);
  EXPECT_EQ(parts[1].resident, 2 * kMiB);
}

TEST(FirstPart, EndsWithAHugePage) {
  const Ledger::Displaced extent{kMiB, 8 * kMiB, 4 * kMiB, 0, 1};
  EXPECT_EQ(first_part(extent, 4 * kMiB)->length, 8 * kMiB);
  const auto part = first_part(extent, 2 * kMiB);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->start, kMiB);
  EXPECT_EQ(part->length, 3 * kMiB);
  EXPECT_EQ(part->bytes, 3 * kMiB / 2);
  EXPECT_FALSE(first_part(extent, kMiB / 4));
  EXPECT_FALSE(first_part(extent, 0));
}

}  // namespace

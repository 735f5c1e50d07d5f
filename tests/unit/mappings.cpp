// SPDX-License-Identifier: MIT
#include "mappings.hpp"

#include <gtest/gtest.h>

#include "record/mappings.hpp"

using namespace hmkctl;

namespace {

TEST(Mappings, TakeTheirNamesFromTheKernelsLines) {
  const auto mappings = hmk::parse_mappings(
      "1000-2000 r--p 00000000 08:01 7   /usr/lib/lib a.so\n"
      "2000-3000 r-xp 00001000 08:01 7   /usr/lib/lib a.so\n"
      "3000-5000 rw-p 00000000 00:00 0   [heap]\n"
      "5000-6000 rw-p 00000000 00:00 0\n"
      "8000-9000 rw-p 00000000 00:00 0   [anon:jemalloc]\n");
  EXPECT_EQ(mappings, (std::vector<Mapping>{{0x1000, 0x3000, "/usr/lib/lib a.so"},
                                            {0x3000, 0x5000, "[heap]"},
                                            {0x5000, 0x6000, "anonymous"},
                                            {0x8000, 0x9000, "[anon:jemalloc]"}}));
  EXPECT_EQ(Mappings(mappings).name(0x1000), "lib a.so") << "a file is shown by its last name";
}

TEST(Mappings, HoldTheirFirstByteAndNotTheOneBehindTheLast) {
  const Mappings mappings({{0x3000, 0x5000, "[heap]"}});
  EXPECT_EQ(mappings.name(0x2fff), "");
  EXPECT_EQ(mappings.name(0x3000), "[heap]");
  EXPECT_EQ(mappings.name(0x4fff), "[heap]");
  EXPECT_EQ(mappings.name(0x5000), "");
  EXPECT_EQ(Mappings().name(0x3000), "");
}

TEST(Mappings, LeaveOutWhatMakesNoSense) {
  EXPECT_TRUE(
      hmk::parse_mappings("\nx-y rw-p\n5000 rw-p\n5000-5000 rw-p\n5000-4000 x\n5000-6000z x\n"
                          "ffffffffffffffffff-1 rw-p\n4001-5001 rw-p\n")
          .empty());
  // Never out of order, so that a search finds what is there.
  EXPECT_EQ(
      hmk::parse_mappings("5000-6000 r 0 0 0 a\n4000-5000 r 0 0 0 b\n6000-7000 r 0 0 0 c\n").size(),
      2u);
}

}  // namespace

// SPDX-License-Identifier: MIT
#include "policy/cold.hpp"

#include <gtest/gtest.h>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

using Ranges = std::vector<ColdMemory::Range>;

/// Of so much, all there, with so much hotness.
RegionView seen(std::uint64_t at_mib, Bytes mib, double hotness) {
  RegionView r = region(at_mib, mib, 0, 0);
  r.hi_q16 = q16(hotness);
  return r;
}
RegionView stale(RegionView r) {
  r.stale = true;
  return r;
}
ColdMemory::Range range(std::uint64_t at_mib, Bytes mib, double since_s) {
  return {at_mib * kMiB, mib * kMiB, mib * kMiB, since_s};
}

/// Intervals of a second; what was not accessed for three is cold.
class Cold : public ::testing::Test {
 protected:
  void see(const std::vector<RegionView>& regions) {
    cold_.saw(regions, {.now_s = ++now_s_, .seconds = 1, .after_s = 3});
  }
  double now_s_ = 0;
  ColdMemory cold_;
};

TEST_F(Cold, IsWhatWasNotAccessedForSoLong) {
  for (int n = 0; n < 2; ++n) see({seen(0, 4, 0), seen(4, 4, 0.1)});
  EXPECT_EQ(cold_.bytes(), 0u);
  see({seen(0, 4, 0), seen(4, 4, 0)});
  EXPECT_EQ(cold_.bytes(), 4 * kMiB);
  EXPECT_EQ(cold_.oldest(~0ull), (Ranges{range(0, 4, 0)}));
  see({seen(0, 4, 0.01), seen(4, 4, 0)});
  EXPECT_EQ(cold_.bytes(), 0u) << "one access is enough";
}

TEST_F(Cold, GoesByAddressWhateverTheRegionsAre) {
  see({seen(0, 8, 0)});
  see({seen(0, 2, 0), seen(2, 6, 0)});
  see({seen(0, 5, 0), seen(5, 1, 1), seen(6, 2, 0), seen(8, 2, 0)});
  EXPECT_EQ(cold_.oldest(~0ull), (Ranges{range(0, 5, 0), range(6, 2, 0)}));
  see({seen(0, 10, 0)});
  EXPECT_EQ(cold_.bytes(), 7 * kMiB) << "the rest is not yet";
  see({seen(0, 10, 0)});
  EXPECT_EQ(cold_.bytes(), 9 * kMiB);
}

TEST_F(Cold, WhatWasNotSampledIsWhatItWas) {
  see({seen(0, 4, 0), seen(4, 4, 1)});
  see({stale(seen(0, 4, 0)), stale(seen(4, 4, 0))});
  see({stale(seen(0, 2, 0)), stale(seen(2, 6, 0))});
  EXPECT_EQ(cold_.oldest(~0ull), (Ranges{range(0, 2, 0), range(2, 2, 0)}));
}

TEST_F(Cold, WhatIsGoneIsForgottenAndWhatIsNotThereDoesNotCount) {
  for (int n = 0; n < 3; ++n) see({seen(0, 4, 0), seen(4, 4, 0)});
  RegionView half = seen(4, 4, 0);
  half.resident = 2 * kMiB;
  see({half});
  EXPECT_EQ(cold_.oldest(~0ull), (Ranges{{4 * kMiB, 4 * kMiB, 2 * kMiB, 0}}));
  half.resident = 0;
  see({seen(0, 4, 0), half});
  EXPECT_EQ(cold_.bytes(), 0u);
}

TEST_F(Cold, WhatMayNotMoveDoesNotCountYetStaysCold) {
  RegionView moves = seen(0, 4, 0);
  moves.movable = false;
  for (int n = 0; n < 3; ++n) see({moves});
  EXPECT_EQ(cold_.bytes(), 0u);
  see({seen(0, 4, 0)});
  EXPECT_EQ(cold_.oldest(~0ull), (Ranges{range(0, 4, 0)}));
}

TEST_F(Cold, TheOldestComesFirstAndIsCutAtHugePages) {
  see({seen(0, 4, 1), seen(8, 8, 0)});
  for (int n = 0; n < 4; ++n) see({seen(0, 4, 0), seen(8, 8, 0)});
  EXPECT_EQ(cold_.oldest(12 * kMiB), (Ranges{range(8, 8, 0), range(0, 4, 1)}));
  EXPECT_EQ(cold_.oldest(11 * kMiB), (Ranges{range(8, 8, 0), range(0, 2, 1)}));
  EXPECT_EQ(cold_.oldest(5 * kMiB), (Ranges{range(8, 4, 0)}));
  EXPECT_EQ(cold_.oldest(2 * kMiB - 1), Ranges{});
  EXPECT_EQ(cold_.oldest(0), Ranges{});
}

TEST_F(Cold, WhatIsForgottenBeginsAnew) {
  for (int n = 0; n < 3; ++n) see({seen(0, 16, 0), seen(20, 4, 0)});
  cold_.forget({range(22, 4, 0), range(2, 2, 0), range(8, 4, 0)});
  see({seen(0, 16, 0), seen(20, 4, 0)});
  EXPECT_EQ(cold_.oldest(~0ull),
            (Ranges{range(0, 2, 0), range(4, 4, 0), range(12, 4, 0), range(20, 2, 0)}));
  for (int n = 0; n < 2; ++n) see({seen(0, 16, 0), seen(20, 4, 0)});
  EXPECT_EQ(cold_.bytes(), 20 * kMiB);
}

TEST_F(Cold, SaysHowMuchOfItIsAccessedAgain) {
  for (int n = 0; n < 3; ++n) see({seen(0, 4, 0), seen(4, 4, 0)});
  EXPECT_FALSE(cold_.wakes_per_s());
  see({seen(0, 4, 0), seen(4, 4, 0)});
  EXPECT_EQ(cold_.wakes_per_s(), 0.);
  see({seen(0, 4, 0.25), seen(4, 4, 0)});
  EXPECT_DOUBLE_EQ(*cold_.wakes_per_s(), 256 / 2.) << "a quarter of 1,024 pages, in two intervals";
  see({seen(0, 4, 3), seen(4, 4, 3)});
  EXPECT_DOUBLE_EQ(*cold_.wakes_per_s(), (256 + 1024) / 3.) << "the first was not cold any more";
  for (int n = 0; n < 2000; ++n) see({seen(0, 4, 0), seen(4, 4, 0)});
  EXPECT_LT(*cold_.wakes_per_s(), 100 * std::exp(-3)) << "ten minutes count";
}

}  // namespace

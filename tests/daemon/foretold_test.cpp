// SPDX-License-Identifier: MIT
#include "foretold.hpp"

#include <gtest/gtest.h>

#include "support/policy.hpp"

namespace hmk::test {
namespace {

Hint hint(std::uint32_t slot, hmk_says says, std::uint64_t number = 1) {
  const std::uint64_t start = std::uint64_t{slot} * 2 * kMiB;
  return {.slot = slot,
          .start = start,
          .end = start + 2 * kMiB,
          .says = says,
          .passes = 1,
          .number = number};
}

/// Of one interval: two MiB each, accessed or not.
std::vector<RegionView> seen(const std::vector<bool>& accessed) {
  std::vector<RegionView> regions;
  regions.reserve(accessed.size());
  for (const bool is_hot : accessed) regions.push_back(region(2 * regions.size(), 2, 0, is_hot));
  return regions;
}

TEST(Foretold, WhatIsAboutToBeUsedCountsUntilItWasMeasured) {
  Foretold foretold;
  EXPECT_TRUE(foretold.heard({hint(0, HMK_SAYS_WRITE)}, 5)) << "while interval 6 runs";
  EXPECT_FALSE(foretold.heard({hint(0, HMK_SAYS_WRITE)}, 5)) << "the same word";
  ASSERT_EQ(foretold.expected(5).size(), 1u);
  EXPECT_EQ(foretold.expected(5)[0],
            (policy::Expectation{.start = 0, .end = 2 * kMiB, .passes = 1, .written = true}));
  EXPECT_EQ(foretold.expected(6).size(), 1u) << "it was said in the middle of that one";
  EXPECT_TRUE(foretold.expected(7).empty()) << "which began afterwards";
  EXPECT_TRUE(foretold.heard({hint(0, HMK_SAYS_WRITE, 2)}, 8)) << "said again";
  EXPECT_EQ(foretold.expected(8).size(), 1u);
  EXPECT_FALSE(foretold.heard({}, 8));
  EXPECT_TRUE(foretold.expected(8).empty()) << "the object is gone";
}

TEST(Foretold, AnObjectThatMovedIsAnotherWord) {
  Foretold foretold;
  Hint one = hint(0, HMK_SAYS_READ);
  EXPECT_TRUE(foretold.heard({one}, 1));
  one.end += 4096;
  EXPECT_TRUE(foretold.heard({one}, 1));
}

TEST(Foretold, WhatIsPutAsideCountsUntilTheOppositeIsSaidOrMeasured) {
  Foretold foretold;
  EXPECT_FALSE(foretold.heard({hint(0, HMK_SAYS_ARCHIVE)}, 1)) << "nothing rises for it";
  EXPECT_EQ(foretold.expected(100).size(), 1u);
  EXPECT_EQ(foretold.expected(100)[0].passes, 0);
  foretold.saw(seen({true}), 2);
  EXPECT_EQ(foretold.expected(100).size(), 1u) << "that interval had begun before";
  foretold.saw(seen({true}), 3);
  EXPECT_EQ(foretold.nr_broken(), 1u);
  EXPECT_TRUE(foretold.expected(100).empty());
  foretold.heard({hint(0, HMK_SAYS_ARCHIVE, 2)}, 3);
  foretold.saw(seen({false}), 5);
  foretold.saw(seen({true}), 6);
  EXPECT_EQ(foretold.nr_kept(), 1u) << "judged once";
  EXPECT_EQ(foretold.expected(100).size(), 1u);
}

TEST(Foretold, NothingIsSaidOfWhatIsOnlyRegistered) {
  Foretold foretold;
  EXPECT_FALSE(foretold.heard({hint(0, HMK_SAYS_NOTHING)}, 1));
  EXPECT_TRUE(foretold.expected(1).empty());
  foretold.saw(seen({true}), 9);
  EXPECT_EQ(foretold.nr_kept() + foretold.nr_broken(), 0u);
}

TEST(Foretold, WhatIsDeadIsPutAsideAndNotJudged) {
  Foretold foretold;
  foretold.heard({hint(0, HMK_SAYS_RETIRED)}, 1);
  foretold.saw(seen({true}), 9);
  EXPECT_EQ(foretold.nr_kept() + foretold.nr_broken(), 0u);
  EXPECT_EQ(foretold.expected(9).size(), 1u);
}

TEST(Foretold, WhatWasNotSampledIsJudgedLater) {
  Foretold foretold;
  foretold.heard({hint(0, HMK_SAYS_READ)}, 1);
  std::vector<RegionView> regions = seen({true});
  regions[0].stale = true;
  foretold.saw(regions, 3);
  foretold.saw({}, 4);
  EXPECT_EQ(foretold.nr_kept() + foretold.nr_broken(), 0u);
  foretold.saw(seen({true}), 5);
  EXPECT_EQ(foretold.nr_kept(), 1u);
}

TEST(Foretold, HalfOfItWasAccessedOrItWasNot) {
  for (const Bytes mib : {4, 5}) {  // of eight
    Foretold foretold;
    Hint one = hint(0, HMK_SAYS_READ);
    one.end = 8 * kMiB;
    foretold.heard({one}, 1);
    foretold.saw(std::vector{region(0, mib, 0, 0), region(mib, 8, 0, 1)}, 3);
    EXPECT_EQ(foretold.nr_kept(), mib == 4 ? 1u : 0u);
  }
}

/// `broken` of `all` words do not come true, in one interval.
Foretold after(unsigned all, unsigned broken) {
  Foretold foretold;
  std::vector<Hint> hints;
  std::vector<bool> accessed;
  for (unsigned slot = 0; slot < all; ++slot) {
    hints.push_back(hint(slot, HMK_SAYS_READ));
    accessed.push_back(slot >= broken);
  }
  foretold.heard(hints, 1);
  foretold.saw(seen(accessed), 3);
  return foretold;
}

TEST(Foretold, WhoIsWrongMoreOftenThanNotIsIgnoredForAWhile) {
  EXPECT_FALSE(after(Foretold::kLeastJudged - 1, Foretold::kLeastJudged - 1).is_ignored(3))
      << "too few";
  EXPECT_FALSE(after(Foretold::kLeastJudged, Foretold::kLeastJudged / 2).is_ignored(3)) << "half";
  Foretold wrong = after(Foretold::kLeastJudged, Foretold::kLeastJudged / 2 + 1);
  EXPECT_TRUE(wrong.is_ignored(3));
  EXPECT_TRUE(wrong.is_ignored(3 + Foretold::kIgnored - 1));
  EXPECT_FALSE(wrong.is_ignored(3 + Foretold::kIgnored));
  EXPECT_FALSE(wrong.heard({hint(0, HMK_SAYS_READ, 2)}, 4)) << "nothing is decided for it";
  EXPECT_TRUE(wrong.expected(4).empty());
  EXPECT_EQ(wrong.expected(3 + Foretold::kIgnored).size(), 0u) << "an old word";
  EXPECT_TRUE(wrong.heard({hint(0, HMK_SAYS_READ, 3)}, 3 + Foretold::kIgnored));
}

TEST(Foretold, ForgetsWhatWasJudgedLongAgo) {
  Foretold foretold = after(Foretold::kJudged, 0);
  std::uint64_t seq = 3, number = 1;
  unsigned broken = 0;
  for (; !foretold.is_ignored(seq); ++broken) {
    foretold.heard({hint(0, HMK_SAYS_READ, ++number)}, seq);
    seq += 2;
    foretold.saw(seen({false}), seq);
    ASSERT_LE(broken, Foretold::kJudged);
  }
  EXPECT_EQ(broken, Foretold::kJudged / 2 + 1) << "of the last 64";
}

TEST(Foretold, TellsEachAddressOnce) {
  Foretold foretold;
  Hint wide = hint(1, HMK_SAYS_READ), inside = hint(2, HMK_SAYS_ARCHIVE);
  wide.start = 0;
  wide.end = 8 * kMiB;
  foretold.heard({wide, inside}, 1);
  ASSERT_EQ(foretold.expected(1).size(), 1u);
  EXPECT_EQ(foretold.expected(1)[0].end, 8 * kMiB);
}

}  // namespace
}  // namespace hmk::test

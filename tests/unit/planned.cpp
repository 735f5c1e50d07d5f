// SPDX-License-Identifier: MIT
#include "planned.hpp"

#include <gtest/gtest.h>

#include "support/sizes.hpp"

using namespace hmkctl;

namespace {

using hmk::test::kMiB;
using Piece = HeatPieces::Piece;
using Path = std::vector<std::uint8_t>;

constexpr std::uint64_t kBase = 1ull << 40;

Piece piece(std::uint64_t start_mib, std::uint64_t mib, double accesses, std::size_t first = 0) {
  return {static_cast<double>(mib * kMiB), {accesses}, kBase + start_mib * kMiB, mib * kMiB, first};
}

hmk::policy::Schedule::Part part(std::size_t group, double count, Path tier) {
  return {group, count, std::move(tier)};
}

TEST(Planned, NamesMemoryByMappingAndOffset) {
  hmk::policy::Schedule found;
  found.parts = {part(0, 1, {0, 1}), part(1, 1, {1, 1})};
  const auto plan = planned({piece(0, 4, 1), piece(16, 2, 1)}, found,
                            {{kBase - kMiB, kBase + 8 * kMiB, "[heap]"},
                             {kBase + 12 * kMiB, kBase + 20 * kMiB, "anonymous"}});
  EXPECT_EQ(plan, (std::vector<hmk::PlannedMapping>{
                      {"[heap]", 0, 9 * kMiB, {{kMiB, 4 * kMiB, {0, 1}}}},
                      {"anonymous", 0, 8 * kMiB, {{4 * kMiB, 2 * kMiB, {1, 1}}}}}));
}

TEST(Planned, TellsMappingsOfOneNameApartByTheirOrder) {
  hmk::policy::Schedule found;
  found.parts = {part(0, 1, {0})};
  const std::vector<hmk::RecordedMapping> mappings{
      {kBase, kBase + 2 * kMiB, "anonymous"},
      {kBase + 2 * kMiB, kBase + 3 * kMiB, "x"},
      {kBase + 3 * kMiB, kBase + 9 * kMiB, "anonymous"}};
  const auto plan = planned({piece(4, 2, 1)}, found, mappings);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].name, "anonymous");
  EXPECT_EQ(plan[0].before, 1u);
}

TEST(Planned, APieceOverTwoMappingsIsCutAndWhatIsOutsideIsLeftOut) {
  hmk::policy::Schedule found;
  found.parts = {part(0, 1, {0})};
  const auto plan =
      planned({piece(0, 8, 1)}, found,
              {{kBase, kBase + 2 * kMiB, "a"}, {kBase + 4 * kMiB, kBase + 6 * kMiB, "b"}});
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].pieces, (std::vector<hmk::PlannedPiece>{{0, 2 * kMiB, {0}}}));
  EXPECT_EQ(plan[1].pieces, (std::vector<hmk::PlannedPiece>{{0, 2 * kMiB, {0}}}));
}

TEST(Planned, PartsOfAPieceGetRangesAndAllOfIt) {
  hmk::policy::Schedule found;
  found.parts = {part(0, 1, {0}), part(0, 3, {1})};
  const auto plan = planned({piece(0, 8, 1)}, found, {{kBase, kBase + 8 * kMiB, "a"}});
  EXPECT_EQ(plan[0].pieces,
            (std::vector<hmk::PlannedPiece>{{0, 2 * kMiB, {0}}, {2 * kMiB, 6 * kMiB, {1}}}));
}

TEST(Planned, NeighboursWithOneWayAreOnePiece) {
  hmk::policy::Schedule found;
  found.parts = {part(0, 1, {0}), part(1, 1, {0})};
  const auto plan =
      planned({piece(0, 2, 1), piece(2, 2, 1)}, found, {{kBase, kBase + 8 * kMiB, "a"}});
  EXPECT_EQ(plan[0].pieces, (std::vector<hmk::PlannedPiece>{{0, 4 * kMiB, {0}}}));
}

TEST(FirstTouch, GivesTheFastestTierToWhatCameFirst) {
  // The one that came second is hot.
  const auto outcome = first_touch({piece(0, 4, 90, 1), piece(8, 4, 10, 0)},
                                   {static_cast<double>(4 * kMiB), kNoLimit}, {100, 200});
  EXPECT_DOUBLE_EQ(outcome.shares[0], 0.1);
  EXPECT_DOUBLE_EQ(outcome.latency_ns, 190);
}

TEST(FirstTouch, PutsWhatDoesNotFitInPartIntoTheNextTier) {
  const auto outcome =
      first_touch({piece(0, 4, 8)}, {static_cast<double>(kMiB), kNoLimit}, {100, 200});
  EXPECT_DOUBLE_EQ(outcome.shares[0], 0.25);
  EXPECT_DOUBLE_EQ(outcome.latency_ns, 175);
  EXPECT_EQ(outcome.moved_bytes, 0);
}

}  // namespace

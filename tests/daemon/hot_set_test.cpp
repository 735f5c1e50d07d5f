// SPDX-License-Identifier: MIT
#include "metrics/hot_set.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "region_order.hpp"

namespace hmk {
namespace {

/// `rate`: accesses per second and page, a power of two; 0: none was seen.
hmk_record record(std::uint64_t start, std::uint32_t pages, int rate, int node) {
  hmk_record r{};
  r.start = start;
  r.length = pages * std::uint64_t{HMK_PAGE_SIZE};
  r.whi_q16 = rate == 0 ? 0 : 65536;
  r.rate_q8 =
      static_cast<__s16>(rate == 0 ? 0 : 256 * std::countr_zero(static_cast<unsigned>(rate)));
  r.resident_pages = pages;
  r.away_node = -1;
  r.node = node;
  r.leaf_shift = 12;
  return r;
}

std::map<int, std::uint64_t> hot_pages(std::vector<hmk_record> records) {
  Snapshot snapshot{};
  snapshot.records = std::move(records);
  auto bytes = HotSet(snapshot.records).bytes_by_node(snapshot.records);
  for (auto& [node, value] : bytes) value /= HMK_PAGE_SIZE;
  return bytes;
}

using Pages = std::map<int, std::uint64_t>;

TEST(HotSet, IsTheHottestMemoryThatGetsNineTenthsOfTheAccesses) {
  // 36 accesses of 40 are exactly nine tenths: the rest is not hot.
  EXPECT_EQ(hot_pages({record(0, 9, 4, 0), record(1 << 20, 4, 1, 3)}), (Pages{{0, 9}}));
  // 36 of 41 are less.
  EXPECT_EQ(hot_pages({record(0, 9, 4, 0), record(1 << 20, 5, 1, 3)}), (Pages{{0, 9}, {3, 5}}));
}

TEST(HotSet, IsAllOfWhatIsAccessedAlike) {
  EXPECT_EQ(hot_pages({record(0, 9, 1, 0), record(1 << 20, 1, 1, 3)}), (Pages{{0, 9}, {3, 1}}));
}

TEST(HotSet, HoldsNothingOfWhichNoAccessWasSeen) {
  EXPECT_EQ(hot_pages({record(0, 9, 0, 0)}), Pages{});
  EXPECT_EQ(hot_pages({}), Pages{});
}

TEST(HotSet, CountsPagesWhereTheyAre) {
  hmk_record split = record(0, 9, 4, 0);
  split.away_pages = 2;
  split.away_node = 3;
  EXPECT_EQ(hot_pages({split}), (Pages{{0, 7}, {3, 2}}));
  const std::vector<Tier> tiers{{.nodes = {0}}, {.nodes = {3}}};
  Snapshot snapshot{};
  snapshot.records = {split};
  EXPECT_EQ(hot_slow_bytes(split, HotSet(snapshot.records), tiers), 2u * HMK_PAGE_SIZE);
}

class RegionOrders : public testing::TestWithParam<std::pair<RegionOrder, const char*>> {};

TEST_P(RegionOrders, PutFirstWhatTheyAreCalledBy) {
  // a: hot, fast. b: hot, slow, small. c: hot, slow, larger. d: cold, slow, largest. e: as c.
  Snapshot snapshot{};
  snapshot.records = {record(0xa000000, 20, 8, 0), record(0xb000000, 2, 8, 3),
                      record(0xc000000, 4, 4, 2), record(0xd000000, 30, 0, 3),
                      record(0xe000000, 4, 4, 2)};
  snapshot.records[3].rate_q8 = -256 * 9;
  snapshot.records[2].whi_q16 = 2 * 65536;
  const std::vector<Tier> tiers{{.nodes = {0}}, {.nodes = {2}}, {.nodes = {3}}};
  const auto names = [&](std::size_t limit) {
    std::string out;
    for (const hmk_record* const r :
         ordered(snapshot.records, GetParam().first, limit, HotSet(snapshot.records), tiers))
      out += static_cast<char>('a' + (r->start >> 24) - 0xa);
    return out;
  };
  const std::string all = GetParam().second;
  EXPECT_EQ(names(0), all);
  EXPECT_EQ(names(2), all.substr(0, 2));
  EXPECT_EQ(names(6), all);
}

INSTANTIATE_TEST_SUITE_P(All, RegionOrders,
                         testing::Values(std::pair{RegionOrder::hotness, "cabed"},
                                         std::pair{RegionOrder::hot_slow, "cebad"},
                                         std::pair{RegionOrder::size, "daceb"},
                                         std::pair{RegionOrder::rate, "abced"},
                                         std::pair{RegionOrder::address, "abcde"},
                                         std::pair{RegionOrder::tier, "bdcea"}));

TEST(RegionOrder, HasAWordForEach) {
  EXPECT_EQ(region_order("hot-slow"), RegionOrder::hot_slow);
  EXPECT_EQ(region_order("tier"), RegionOrder::tier);
  EXPECT_EQ(region_order("Tier"), std::nullopt);
}

}  // namespace
}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// The promises of pins, for machines and workloads nobody thought of.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "policy/plan.hpp"
#include "policy/rank.hpp"
#include "policy/wanted.hpp"
#include "support/machine.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr std::uint64_t kPinRounds = rounds(2000);

/// Of the first process of a machine.
struct Pins {
  ProcessId process = 0;
  std::vector<Wanted> wanted;
  std::vector<Ledger::Displaced> misplaced;
};

NodeId first_node(const Machine& m, int tier) {
  for (const TierView& one : m.tiers)
    if (m.tier_of(one.node) == static_cast<std::size_t>(tier)) return one.node;
  return kNoNode;
}

Pins random_pins(const Machine& m, Random& random) {
  if (m.regions.empty()) return {};
  Pins pins{.process = m.regions.begin()->first, .wanted = {}, .misplaced = {}};
  std::uint64_t end = 0;
  for (const RegionView& region : m.regions.begin()->second) {
    if (region.start < end || random.below(3) != 0) continue;
    const std::uint64_t pages = region.length / kPage, from = random.below(pages);
    const std::uint64_t to = from + 1 + random.below(pages - from);
    const auto tier = static_cast<int>(m.tier_of(m.tiers[random.below(m.tiers.size())].node));
    pins.wanted.push_back({region.start + from * kPage, region.start + to * kPage, tier, 0});
    end = region.start + region.length;
    if (m.index_of(region.node) == m.tiers.size()) continue;
    const Bytes bytes = expected_in_piece(region.length, region.resident, from * kPage, to * kPage);
    if (bytes != 0 && m.tier_of(region.node) != static_cast<std::size_t>(tier))
      pins.misplaced.push_back(
          {pins.wanted.back().start, (to - from) * kPage, bytes, first_node(m, tier), region.node});
  }
  return pins;
}

Plan plan_of(const Machine& m, const Pins& pins) {
  Ranking ranking({.buckets = m.params.buckets, .hotness_max = m.params.hotness_max}, m.nodes());
  for (const auto& [process, regions] : m.regions)
    ranking.update(process, process == pins.process ? set_apart(regions, pins.wanted) : regions);
  const ProcessView all{.histogram = &ranking.histogram(),
                        .tiers = m.tiers,
                        .pinned = pins.misplaced,
                        .process = pins.process};
  return make_plans({&all, 1}, m.params).front();
}

template <typename Check>
void for_each_pinned(Check&& check) {
  std::size_t pinned = 0, victims = 0;
  for (std::uint64_t seed = 0; seed < kPinRounds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine m = random_machine(random);
    const Pins pins = random_pins(m, random);
    const Plan plan = plan_of(m, pins);
    for (const auto* const moves : {&plan.promotions, &plan.demotions})
      for (const Move& move : *moves) {
        pinned += move.reason == Reason::kPin;
        victims += move.reason == Reason::kForPin;
      }
    check(m, pins, plan);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(pinned, kPinRounds / 4);  // or the rounds show nothing
  EXPECT_GT(victims, kPinRounds / 8);
}

const Wanted* wanted_at(const Pins& pins, const Move& move) {
  if (move.process != pins.process) return nullptr;
  const auto at = std::ranges::upper_bound(pins.wanted, move.start, {}, &Wanted::end);
  return at == pins.wanted.end() || at->start >= move.start + move.length ? nullptr : &*at;
}

TEST(PinProperties, OnlyPinsMoveWhatIsPinnedAndOnlyToItsTier) {
  for_each_pinned([](const Machine& m, const Pins& pins, const Plan& plan) {
    for (const auto* const moves : {&plan.promotions, &plan.demotions})
      for (const Move& move : *moves) {
        const Wanted* const wanted = wanted_at(pins, move);
        ASSERT_EQ(wanted != nullptr, move.reason == Reason::kPin);
        if (wanted == nullptr) continue;
        ASSERT_EQ(m.tier_of(move.to), static_cast<std::size_t>(wanted->tier));
        ASSERT_GE(move.start, wanted->start);
        ASSERT_LE(move.start + move.length, wanted->end);
        ASSERT_EQ(m.rises(move), moves == &plan.promotions);
      }
  });
}

TEST(PinProperties, PromoteAtMostTheLimitAndSumUp) {
  for_each_pinned([](const Machine& m, const Pins&, const Plan& plan) {
    ASSERT_EQ(bytes_of(plan.promotions), plan.promoted);
    ASSERT_EQ(bytes_of(plan.demotions), plan.demoted);
    ASSERT_LE(plan.promoted, m.params.promote_limit);
  });
}

TEST(PinProperties, ComeFirst) {
  for_each_pinned([](const Machine&, const Pins&, const Plan& plan) {
    const auto is_other = [](const Move& move) { return move.reason != Reason::kPin; };
    const auto other = std::ranges::find_if(plan.promotions, is_other);
    ASSERT_TRUE(std::all_of(other, plan.promotions.end(), is_other));
    std::uint32_t serves = 0;
    for (const Move& move : plan.demotions) {
      if (move.served == kNobody) continue;
      ASSERT_GE(move.serves, serves);
      serves = move.serves;
    }
  });
}

TEST(PinProperties, SettingApartLosesNothing) {
  for (std::uint64_t seed = 0; seed < kPinRounds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine m = random_machine(random);
    const Pins pins = random_pins(m, random);
    if (m.regions.empty()) continue;
    const auto& regions = m.regions.begin()->second;
    const auto parts = set_apart(regions, pins.wanted);
    const auto sum = [](const std::vector<RegionView>& all, Bytes RegionView::*of) {
      return std::accumulate(all.begin(), all.end(), Bytes{0},
                             [=](Bytes bytes, const RegionView& one) { return bytes + one.*of; });
    };
    ASSERT_EQ(sum(parts, &RegionView::length), sum(regions, &RegionView::length));
    ASSERT_EQ(sum(parts, &RegionView::resident), sum(regions, &RegionView::resident));
    ASSERT_TRUE(std::ranges::is_sorted(parts, {}, &RegionView::start));
    for (const RegionView& part : parts) {
      ASSERT_LE(part.away, part.resident);
      ASSERT_LE(part.resident, part.length);
    }
  }
}

}  // namespace

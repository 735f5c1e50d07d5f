// SPDX-License-Identifier: MIT
//
// The promises of the closed loop, for machines, workloads and moves nobody thought of.
#include "policy/balance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/plan.hpp"
#include "policy/rank.hpp"
#include "support/machine.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr std::uint64_t kLoopRounds = rounds(2000);

Plan plan_of(const Machine& m, const std::vector<RegionView>& regions, const Balance& balance) {
  Ranking ranking({.buckets = m.params.buckets, .hotness_max = m.params.hotness_max}, m.nodes());
  ranking.update(0, regions);
  const ProcessView view{
      .histogram = &ranking.histogram(), .tiers = m.tiers, .measured = balance.plans_by()};
  return make_plans({&view, 1}, m.params).front();
}

double promised(const Plan& plan) {
  double sum = 0;
  for (const Move& move : plan.promotions) sum += move.saved_ns_per_s;
  return sum;
}

TEST(BalanceProperties, NoPlanPromisesMoreThanTheCpuTimeOfTheInterval) {
  std::uint64_t bound = 0;
  for (std::uint64_t seed = 0; seed < kLoopRounds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Machine m = random_machine(random);
    const double seconds = 0.1 * static_cast<double>(1 + random.below(100));
    const std::uint64_t cpu_ns =
        random.below(static_cast<std::uint64_t>(seconds * 1e9)) >> random.below(24);
    if (!GainModel(m.tiers, {}).knows()) continue;
    Balance balance;
    const std::vector<RegionView>& regions = m.regions[0];
    balance.saw(regions, m.tiers,
                {.seconds = seconds, .cpu_ns = cpu_ns, .horizon = 1000, .is_governed = true});
    const double sum = promised(plan_of(m, regions, balance)) * seconds;
    ASSERT_LE(sum, static_cast<double>(cpu_ns) * (1 + 1e-5));
    bound += promised(plan_of(m, regions, Balance())) * seconds > static_cast<double>(cpu_ns);
  }
  EXPECT_GT(bound, kLoopRounds / 20) << "or the rounds show nothing";
}

/// What the ledger does, page by page.
struct Pages {
  std::map<std::uint64_t, std::pair<NodeId, NodeId>> nodes;  // first, now

  void moved(const Ledger::Moved& what) {
    for (std::uint64_t page = what.start; page < what.start + what.length; page += kPage) {
      auto& [first, now] = nodes.try_emplace(page, what.from, what.from).first->second;
      now = what.to;
      if (first == now) nodes.erase(page);
    }
  }
  double realized(const std::vector<RegionView>& regions, const GainModel& model) const {
    double sum = 0;
    for (const RegionView& r : regions)
      for (auto at = nodes.lower_bound(r.start);
           at != nodes.end() && at->first < r.start + r.length; ++at)
        sum += model.saved_ns_per_s(heat_of(r), kPage, *model.tier_of(at->second.first),
                                    *model.tier_of(at->second.second));
    return sum;
  }
};

TEST(BalanceProperties, TheLedgerAddsUpToWhatEachPageSaves) {
  double all = 0;
  for (std::uint64_t seed = 0; seed < kLoopRounds / 4; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Machine m = random_machine(random);
    std::vector<RegionView>& regions = m.regions[0];
    std::erase_if(regions, [](const RegionView& r) { return r.page_class != 0; });
    for (RegionView& r : regions) r.resident = r.length;
    if (regions.empty()) continue;
    const GainModel model(m.tiers, {});
    Ledger ledger;
    Pages pages;
    for (int k = 0; k < 12; ++k) {
      const RegionView& r = regions[random.below(regions.size())];
      const std::uint64_t begin = random.below(r.length / kPage);
      Ledger::Moved what{.start = r.start + begin * kPage,
                         .length = (1 + random.below(r.length / kPage - begin)) * kPage,
                         .from = m.tiers[random.below(m.tiers.size())].node,
                         .to = m.tiers[random.below(m.tiers.size())].node};
      what.bytes = what.length;
      ledger.moved(what);
      pages.moved(what);
      if (!random.one_in(3)) continue;
      ledger.saw(regions, model, {.seconds = 1});
      const double expected = pages.realized(regions, model);
      ASSERT_NEAR(ledger.total().realized, expected, 1e-6 * std::abs(expected) + 1e-3);
      all += std::abs(expected);
    }
    ledger.saw(regions, model, {.seconds = 1});
    double sum = 0;
    for (const auto& [nodes, figures] : ledger.pairs()) sum += figures.realized;
    ASSERT_NEAR(sum, ledger.total().realized, 1e-6 * std::abs(sum) + 1e-3);
    ASSERT_NEAR(ledger.figures(0, (1 << 20) * kMiB).realized, sum, 1e-6 * std::abs(sum) + 1e-3);
  }
  EXPECT_GT(all, 0);
}

TEST(BalanceProperties, SharesAndHorizonAreWithinTheirBounds) {
  for (std::uint64_t seed = 0; seed < kLoopRounds / 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Persistence persistence;
    for (int k = 0; k < 24; ++k) {
      std::vector<RegionView> regions;
      std::vector<float> hits;
      Bytes resident = 0;
      Machine m = random_machine(random);
      for (const RegionView& r : m.regions[0]) {
        if (random.one_in(6)) continue;
        regions.push_back(r);
        hits.push_back(static_cast<float>(accesses_per_s(heat_of(r), r.resident)));
        resident += r.resident;
      }
      persistence.saw(regions, hits, resident);
      const double most = static_cast<double>(1 + random.below(100));
      for (const auto* const curve : {&persistence.stays(), &persistence.stands_out()}) {
        ASSERT_GE(curve->horizon(most), 0);
        ASSERT_LE(curve->horizon(most), most);
        for (std::size_t lag = 0; lag < curve->known(); ++lag) {
          ASSERT_GE(*curve->share(lag), curve == &persistence.stays() ? 0 : -1);
          ASSERT_LE(*curve->share(lag), 1 + 1e-9);
        }
      }
    }
  }
}

// As much as is promised for it, a limit of its own is kept by each process.
TEST(BalanceProperties, NobodyIsPromotedBeyondItsOwnLimit) {
  std::uint64_t bound = 0;
  for (std::uint64_t seed = 0; seed < kLoopRounds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine m = random_machine(random);
    std::vector<Ranking> rankings;
    std::vector<ProcessView> views;
    for (const auto& [process, regions] : m.regions) {
      rankings.emplace_back(Histogram::Shape{m.params.buckets, m.params.hotness_max}, m.nodes());
      rankings.back().update(process, regions);
    }
    views.reserve(rankings.size());
    for (const Ranking& ranking : rankings)
      views.push_back({.histogram = &ranking.histogram(),
                       .tiers = m.tiers,
                       .promote_limit = random.below(m.params.promote_limit + 1)});
    const std::vector<Plan> plans = make_plans(views, m.params);
    Bytes all = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      ASSERT_LE(plans[i].promoted, views[i].promote_limit);
      all += plans[i].promoted;
      bound += plans[i].limit_reached;
    }
    ASSERT_LE(all, m.params.promote_limit);
  }
  EXPECT_GT(bound, kLoopRounds / 10) << "or the rounds show nothing";
}

}  // namespace

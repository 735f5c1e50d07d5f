// SPDX-License-Identifier: MIT
//
// Promises of plans over several processes: shares, caps and floors.
#include "policy/shares.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "policy/demote.hpp"
#include "policy/rank.hpp"
#include "support/machine.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

/// A machine whose processes have weights, caps and floors of their own.
struct Shared {
  Machine machine;
  std::vector<ProcessView> views;
  std::vector<Ranking> rankings;

  explicit Shared(Machine m) : machine(std::move(m)) {
    rankings.reserve(machine.regions.size());
    for (const auto& [process, regions] : machine.regions) {
      rankings.emplace_back(Histogram::Shape{machine.params.buckets, machine.params.hotness_max},
                            machine.nodes());
      rankings.back().update(process, regions);
      views.push_back({.histogram = &rankings.back().histogram(), .tiers = machine.tiers});
      ProcessView& view = views.back();
      view.held.assign(machine.tiers.size(), 0);
      for (const RegionView& r : regions)
        if (r.node != kNoNode) view.held[machine.index_of(r.node)] += r.resident - r.away;
    }
  }
  std::vector<Plan> plans() const { return make_plans(views, machine.params); }
};

/// Sums over the nodes of each tier.
template <typename T>
std::vector<T> by_tier(const Machine& m, const std::vector<T>& by_node) {
  std::vector<T> sums;
  for (std::size_t n = 0; n < by_node.size(); ++n) {
    sums.resize(m.tier_of(m.tiers[n].node) + 1);
    sums.back() += by_node[n];
  }
  return sums;
}

Shared random_shared(std::uint64_t seed) {
  Random random(seed);
  Shared shared(random_machine(random));
  shared.machine.params.shares_by_weight = !random.one_in(4);
  for (ProcessView& view : shared.views) {
    view.weight = random.below32(5);
    for (const Bytes held : by_tier(shared.machine, view.held)) {
      view.cap.push_back(random.one_in(2) ? kNoBound
                                          : held + (random.below(32 * kMiB) & ~(kPage - 1)));
      view.floor.push_back(random.one_in(2) ? 0 : random.below(held + kPage) & ~(kPage - 1));
    }
  }
  return shared;
}

/// Bytes that a move takes out of its tier, as the planner counts them.
Bytes leaving(const Machine& m, const Move& move) {
  return move.from == move.to ? 0 : m.leaves(move);
}

template <typename Check>
void for_each_shared(Check&& check) {
  std::size_t promotions = 0, given_up = 0;
  for (std::uint64_t seed = 0; seed < rounds(2000); ++seed) {
    SCOPED_TRACE(seed);
    const Shared shared = random_shared(seed);
    const std::vector<Plan> plans = shared.plans();
    ASSERT_EQ(plans.size(), shared.views.size());
    for (const Plan& plan : plans) {
      promotions += plan.promotions.size();
      for (const Move& move : plan.demotions) given_up += move.process != move.served;
    }
    check(shared, plans);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(promotions, rounds(2000));  // or the rounds show nothing
  EXPECT_GT(given_up, rounds(2000) / 2);
}

TEST(ShareProperties, TheLimitHoldsOverAll) {
  for_each_shared([](const Shared& shared, const std::vector<Plan>& plans) {
    Bytes promoted = 0;
    for (const Plan& plan : plans) {
      promoted += plan.promoted;
      ASSERT_EQ(bytes_of(plan.promotions), plan.promoted);
      ASSERT_EQ(bytes_of(plan.demotions), plan.demoted);
    }
    ASSERT_LE(promoted, shared.machine.params.promote_limit);
  });
}

/// By tier, what a process holds once its plan is done.
std::vector<std::int64_t> held_after(const Shared& shared, std::size_t i, const Plan& plan) {
  std::vector<std::int64_t> held(shared.views[i].held.begin(), shared.views[i].held.end());
  for (const auto* moves : {&plan.promotions, &plan.demotions})
    for (const Move& move : *moves) {
      held[shared.machine.index_of(move.from)] -=
          static_cast<std::int64_t>(leaving(shared.machine, move));
      held[shared.machine.index_of(move.to)] += static_cast<std::int64_t>(move.bytes);
    }
  return by_tier(shared.machine, held);
}

TEST(ShareProperties, NobodyGrowsBeyondItsCap) {
  for_each_shared([](const Shared& shared, const std::vector<Plan>& plans) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const std::vector<std::int64_t> sums = held_after(shared, i, plans[i]);
      for (std::size_t t = 0; t < sums.size(); ++t)
        ASSERT_LE(sums[t], static_cast<std::int64_t>(shared.views[i].cap[t]));
    }
  });
}

TEST(ShareProperties, NoGroupGrowsBeyondItsCap) {
  std::size_t moved = 0;
  for (std::uint64_t seed = 0; seed < rounds(2000); ++seed) {
    SCOPED_TRACE(seed);
    Shared shared = random_shared(seed);
    Random random(seed);
    if (shared.views.size() < 2) continue;
    ProcessView &one = shared.views[0], &other = shared.views[1];
    const std::vector<Bytes> first = by_tier(shared.machine, one.held),
                             second = by_tier(shared.machine, other.held);
    for (std::size_t t = 0; t < first.size(); ++t)
      one.cap[t] = first[t] + second[t] + (random.below(16 * kMiB) & ~(kPage - 1));
    other.cap = one.cap;
    other.floor = one.floor;
    other.weight = one.weight;
    one.group = other.group = 3;
    const std::vector<Plan> plans = shared.plans();
    moved += plans[0].promotions.size() + plans[1].promotions.size();
    const auto after = held_after(shared, 0, plans[0]), beside = held_after(shared, 1, plans[1]);
    for (std::size_t t = 0; t < after.size(); ++t)
      ASSERT_LE(after[t] + beside[t], static_cast<std::int64_t>(one.cap[t]));
  }
  EXPECT_GT(moved, rounds(2000) / 2);  // or the rounds show nothing
}

TEST(ShareProperties, OthersNeverPushAnybodyBelowItsFloor) {
  for_each_shared([](const Shared& shared, const std::vector<Plan>& plans) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      std::vector<Bytes> had = by_tier(shared.machine, shared.views[i].held), lost(had.size());
      for (const auto* moves : {&plans[i].promotions, &plans[i].demotions})
        for (const Move& move : *moves) {
          had[shared.machine.tier_of(move.to)] += move.bytes;
          if (move.served != move.process)
            lost[shared.machine.tier_of(move.from)] += leaving(shared.machine, move);
        }
      for (std::size_t t = 0; t < lost.size(); ++t)
        ASSERT_TRUE(lost[t] == 0 || had[t] >= lost[t] + shared.views[i].floor[t]);
    }
  });
}

TEST(ShareProperties, EveryTierKeepsItsReserveOrNoLessThanItHad) {
  for_each_shared([](const Shared& shared, const std::vector<Plan>& plans) {
    const Machine& m = shared.machine;
    std::vector<std::int64_t> free(m.tiers.size());
    for (std::size_t t = 0; t < free.size(); ++t)
      free[t] = static_cast<std::int64_t>(m.tiers[t].free);
    for (const Plan& plan : plans)
      for (const auto* moves : {&plan.promotions, &plan.demotions})
        for (const Move& move : *moves) {
          free[m.index_of(move.to)] -= static_cast<std::int64_t>(move.bytes);
          free[m.index_of(move.from)] += static_cast<std::int64_t>(leaving(m, move));
        }
    for (std::size_t t = 0; t < free.size(); ++t)
      ASSERT_GE(free[t], static_cast<std::int64_t>(std::min(m.tiers[t].free, m.tiers[t].reserve)));
  });
}

TEST(ShareProperties, WhatGoesForAnotherIsColderUnlessTheWeightsSaySo) {
  for_each_shared([](const Shared& shared, const std::vector<Plan>& plans) {
    std::map<ProcessId, const Plan*> plan_of;
    std::size_t i = 0;
    for (const auto& [process, regions] : shared.machine.regions) plan_of[process] = &plans[i++];
    for (const Plan& plan : plans)
      for (const Move& victim : plan.demotions) {
        const Move& rise = plan_of.at(victim.served)->promotions.at(victim.serves);
        ASSERT_EQ(rise.to, victim.from);
        ASSERT_GT(shared.machine.tier_of(victim.to), shared.machine.tier_of(victim.from));
        if (victim.reason == Reason::kShare)
          ASSERT_TRUE(shared.machine.params.shares_by_weight && victim.served != victim.process);
        else
          ASSERT_GT(rise.whi_q16, victim.whi_q16);
      }
  });
}

TEST(ShareProperties, AloneAProcessHasThePlanItHasWithoutShares) {
  std::size_t moves = 0;
  for (std::uint64_t seed = 0; seed < rounds(2000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Machine m = random_machine(random);
    m.regions = {{7, m.regions[0]}};
    Shared shared(std::move(m));
    shared.views[0].weight = random.below32(5);
    const Plan with_shares = shared.plans().front();
    moves += with_shares.promotions.size();
    ASSERT_EQ(with_shares,
              make_plan(*shared.views[0].histogram, shared.machine.tiers, shared.machine.params));
  }
  EXPECT_GT(moves, rounds(2000));
}

// Every other process sees each node as a tier of its own: it runs on one socket.
TEST(ShareProperties, ProcessesThatSeeOtherTiersKeepTheirBounds) {
  std::size_t moves = 0, sees_sets = 0;
  for (std::uint64_t seed = 0; seed < rounds(2000); ++seed) {
    SCOPED_TRACE(seed);
    Shared shared = random_shared(seed);
    Machine together = shared.machine, apart = shared.machine;
    for (TierView& tier : together.tiers) tier.latency_ns = 0;
    for (TierView& tier : apart.tiers) {
      sees_sets += tier.joins;
      tier.joins = false;
      tier.latency_ns = 0;
    }
    for (std::size_t i = 0; i < shared.views.size(); ++i) {
      ProcessView& view = shared.views[i];
      const Machine& seen = i % 2 == 0 ? together : apart;
      view.tiers = seen.tiers;
      view.cap = by_tier(seen, view.held);
      for (Bytes& cap : view.cap) cap += 8 * kMiB;
      view.floor.clear();
    }
    std::vector<std::int64_t> free;
    for (const TierView& tier : shared.machine.tiers)
      free.push_back(static_cast<std::int64_t>(tier.free));
    const std::vector<Plan> plans = shared.plans();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const Machine& seen = i % 2 == 0 ? together : apart;
      std::vector<std::int64_t> held(shared.views[i].held.begin(), shared.views[i].held.end());
      for (const auto* of : {&plans[i].promotions, &plans[i].demotions})
        for (const Move& move : *of) {
          ++moves;
          ASSERT_TRUE(move.reason == Reason::kGather ||
                      seen.tier_of(move.from) != seen.tier_of(move.to));
          const auto left = static_cast<std::int64_t>(leaving(seen, move));
          for (auto* const bytes : {&held, &free}) {
            const bool is_held = bytes == &held;
            (*bytes)[seen.index_of(move.from)] += is_held ? -left : left;
            const auto arrived = static_cast<std::int64_t>(move.bytes);
            (*bytes)[seen.index_of(move.to)] += is_held ? arrived : -arrived;
          }
        }
      const std::vector<std::int64_t> sums = by_tier(seen, held);
      for (std::size_t t = 0; t < sums.size(); ++t)
        ASSERT_LE(sums[t], static_cast<std::int64_t>(shared.views[i].cap[t]));
    }
    for (std::size_t n = 0; n < free.size(); ++n)
      ASSERT_GE(free[n], static_cast<std::int64_t>(std::min(shared.machine.tiers[n].free,
                                                            shared.machine.tiers[n].reserve)));
  }
  EXPECT_GT(moves, rounds(2000));
  EXPECT_GT(sees_sets, rounds(2000) / 2);
}

// Acceptance: two processes, each hot in more than the fast tier holds, weights 3 and 1.
TEST(ShareProperties, UnderPressureTheFastTierAndTheLimitAreSharedThreeToOne) {
  for (std::uint64_t seed = 0; seed < rounds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Machine m;
    for (NodeId node = 0; node < 4; ++node)
      m.tiers.push_back({.node = node, .total = 256 * kMiB, .free = 0, .reserve = 0});
    m.params.promote_limit = 16 * kMiB;
    // Who had the fast tier first is left to chance, and so is how hot each region is.
    const std::uint64_t first = random.below(129);
    for (std::uint64_t i = 0; i < 512; ++i) {
      const NodeId node = static_cast<NodeId>(i / 128);
      const bool is_first = i < 128 ? i < first : random.one_in(2);
      RegionView r = region(2 * i, 2, node, 0);
      r.whi_q16 = r.hi_q16 = kOneQ16 + random.below32(2 << 16);
      set_sure_rate(r);
      m.regions[is_first ? 1 : 2].push_back(r);
    }
    std::map<ProcessId, Bytes> promoted, fast;
    for (int interval = 0; interval < 80; ++interval) {
      Shared shared(m);
      std::size_t i = 0;
      for (const auto& [process, regions] : m.regions)
        shared.views[i++].weight = process == 1 ? 3 : 1;
      for (const Plan& plan : shared.plans())
        for (const auto* moves : {&plan.promotions, &plan.demotions})
          for (const Move& move : *moves) {
            if (moves == &plan.promotions && interval < 8) promoted[move.process] += move.bytes;
            for (RegionView& r : m.regions[move.process])
              if (r.start == move.start) r.node = move.to;
            m.tiers[m.tier_of(move.to)].free -= move.bytes;
            m.tiers[m.tier_of(move.from)].free += move.bytes;
          }
    }
    for (const auto& [process, regions] : m.regions)
      for (const RegionView& r : regions) fast[process] += r.node == 0 ? r.resident : 0;
    ASSERT_NEAR(static_cast<double>(fast[1]) / static_cast<double>(fast[2]), 3, 0.3);
    ASSERT_NEAR(static_cast<double>(promoted[1]) / static_cast<double>(promoted[2]), 3, 0.3);
    Shared shared(m);
    shared.views[0].weight = 3;
    for (const Plan& plan : shared.plans()) ASSERT_EQ(plan.promoted, 0u) << "at rest";
  }
}

}  // namespace

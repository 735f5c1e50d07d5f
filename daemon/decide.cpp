// SPDX-License-Identifier: MIT
#include "decide.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "config/whom.hpp"
#include "metrics/timeline.hpp"
#include "policy/gain.hpp"
#include "policy/plan.hpp"
#include "policy/shares.hpp"

namespace hmk {
namespace {

// One in so many parts of what may be promoted in an interval, each time a program says something.
constexpr policy::Bytes kAtOnce = 2;

policy::Bytes limit_of(const Target& target, std::span<const policy::TierView> tiers,
                       const Surroundings& around) {
  const Config& config = target.config();
  if (around.is_short_of_memory) return 0;
  if (!config.is_promote_limit_auto) return config.promote_limit;
  const auto interval_ns = static_cast<double>(config.interval.count());
  return policy::auto_limit(tiers, interval_ns * config.move_time_bp / 10000,
                            target.balance().plans_by());
}

policy::PolicyParams to_params(const Target& target, std::span<const policy::TierView> tiers,
                               const Surroundings& around) {
  const Config& config = target.config();
  policy::PolicyParams params;
  const hmk_interval& interval = target.snapshot().interval;
  params.hotness_max = interval.hotness_max;
  params.turn = interval.seq;
  params.interval_s = seconds_of(interval);
  params.buckets = config.buckets;
  params.promote_limit = limit_of(target, tiers, around);
  params.gain_margin = config.gain_margin;
  params.horizon = std::numeric_limits<std::uint32_t>::max();  // each has its own
  params.tier_by_tier = config.is_tier_by_tier;
  params.shares_by_weight = config.shares_by_weight;
  return params;
}

/// What a process holds on each node of its tiers, as its regions say. What several map is held by
/// the one that stands for all of them.
std::vector<policy::Bytes> held_by(const Target& target, std::span<const policy::TierView> tiers,
                                   const SharedMemory* shared) {
  std::vector<policy::Bytes> held(tiers.size());
  const auto add = [&](int node, std::uint64_t pages) {
    const auto at = std::ranges::find(tiers, node, &policy::TierView::node);
    if (at != tiers.end())
      held[static_cast<std::size_t>(at - tiers.begin())] += pages * HMK_PAGE_SIZE;
  };
  for (const hmk_record& record : target.snapshot().records) {
    if (shared != nullptr && shared->is_of_another(target.pid(), record.start)) continue;
    by_node(record, add);
  }
  return held;
}

/// The same in the middle of an interval: regions tell where they were when it began.
std::vector<policy::Bytes> held_now(const Target& target, std::span<const policy::TierView> tiers,
                                    const SharedMemory* shared) {
  std::vector<policy::Bytes> held = held_by(target, tiers, shared);
  for (const auto& [node, bytes] : target.arrived_since()) {
    const auto at = std::ranges::find(tiers, node, &policy::TierView::node);
    if (at == tiers.end()) continue;
    policy::Bytes& here = held[static_cast<std::size_t>(at - tiers.begin())];
    here = static_cast<policy::Bytes>(
        std::max<std::int64_t>(0, static_cast<std::int64_t>(here) + bytes));
  }
  return held;
}

policy::ProcessView view_of(const Target& target, std::span<const policy::TierView> tiers,
                            policy::Bytes limit) {
  const Config& config = target.config();
  const std::string& comm = target.process().comm;
  policy::ProcessView view{.histogram = &target.histogram(),
                           .tiers = tiers,
                           .weight = weight_of(config, target.pid(), comm),
                           .promote_limit = target.balance().governor().limit(limit),
                           .measured = target.balance().plans_by(),
                           .only_fills = target.balance().effort().is_rough(),
                           .process = static_cast<policy::ProcessId>(target.pid())};
  for (std::size_t t = 0; t < target.tiers().size(); ++t) {
    view.cap.push_back(bound_of(config.caps, target.pid(), comm, t).value_or(policy::kNoBound));
    view.floor.push_back(bound_of(config.floors, target.pid(), comm, t).value_or(0));
  }
  return view;
}

/// Of a class whose processes are one, the place of the first: two classes are not one.
std::optional<std::uint32_t> group_of(const std::vector<Target*>& seen, std::size_t i) {
  const Config& config = seen[i]->config();
  if (!config.is_together) return std::nullopt;
  const auto first = std::ranges::find(
      seen, config.own_class, [](const Target* target) { return target->config().own_class; });
  return static_cast<std::uint32_t>(first - seen.begin());
}

bool serves_others(const policy::Plan& plan) {
  return std::ranges::any_of(plan.demotions,
                             [](const policy::Move& move) { return move.process != move.served; });
}

/// Others plan beside it with what it leaves free.
void decide_by_plan(Target& target, const Surroundings& around) {
  if (target.new_intervals() == 0) return target.take({}, around);
  target.prepare(around);
  const std::vector<policy::TierView> tiers = target.tier_views(around);
  target.take(target.followed_plan(around, limit_of(target, tiers, around)), around);
}

void decide_together(const std::vector<Target*>& seen, const Surroundings& around) {
  std::vector<std::vector<policy::TierView>> tiers;
  tiers.reserve(seen.size());
  for (Target* const target : seen) {
    target->prepare(around);
    tiers.push_back(target->tier_views(around));
  }
  const policy::PolicyParams params = to_params(*seen.front(), tiers.front(), around);
  std::vector<policy::ProcessView> views;
  std::vector<std::vector<policy::Ledger::Displaced>> pinned(seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    // Who lags holds its share, and rises no more before it is seen again.
    const bool lags = seen[i]->new_intervals() == 0;
    if (!lags) pinned[i] = seen[i]->misplaced_pins(params.promote_limit);
    views.push_back(view_of(*seen[i], tiers[i], lags ? 0 : params.promote_limit));
    views.back().group = group_of(seen, i);
    views.back().pinned = pinned[i];
  }
  if (seen.size() > 1 || !seen.front()->config().caps.empty())  // else nobody asks
    for (std::size_t i = 0; i < seen.size(); ++i)
      views[i].held = held_by(*seen[i], tiers[i], around.shared);

  std::vector<policy::Plan> plans = policy::make_plans(views, params);
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i]->balance().conserve(plans[i]);
  // What makes room for others is sent first.
  std::vector<bool> goes_first(plans.size());
  std::transform(plans.begin(), plans.end(), goes_first.begin(), serves_others);
  for (const bool is_first : {true, false})
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (goes_first[i] == is_first) seen[i]->take(std::move(plans[i]), around);
}

}  // namespace

bool is_due(const std::vector<Target*>& targets) {
  const auto has = [](unsigned intervals) {
    return [=](const Target* target) { return target->new_intervals() >= intervals; };
  };
  return std::ranges::any_of(targets, has(2)) ||
         (std::ranges::any_of(targets, has(1)) &&
          std::ranges::all_of(targets, [&](const Target* target) {
            return has(1)(target) || !target->is_awaited();
          }));
}

void decide_at_once(Target& target, const Surroundings& around) {
  target.prepare_at_once(around);
  const std::vector<policy::TierView> tiers = target.tier_views(around);
  policy::PolicyParams params = to_params(target, tiers, around);
  params.promote_limit /= kAtOnce;
  policy::ProcessView view = view_of(target, tiers, params.promote_limit);
  view.held = held_now(target, tiers, around.shared);
  policy::Plan plan = std::move(policy::make_plans({&view, 1}, params).front());
  target.balance().conserve(plan);
  target.take_at_once(std::move(plan), around);
}

void decide(const std::vector<Target*>& targets, const Surroundings& around) {
  // What is only watched must take no room from what is managed.
  std::map<Mode, std::vector<Target*>> by_mode;
  for (Target* const target : targets)
    if (target->has_seen() && !target->follower()) by_mode[target->mode()].push_back(target);
  for (Target* const target : targets)
    if (target->has_seen() && target->follower()) decide_by_plan(*target, around);
  for (const auto& [mode, seen] : by_mode) decide_together(seen, around);
}

}  // namespace hmk

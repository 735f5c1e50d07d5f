// SPDX-License-Identifier: MIT
//
// hmkd's policy at 1.5 TB in four tiers, fed with what a profiler would see: each
// region's samples are accessed by a rate per page, the module's core judges what
// their windows tell of it, and the moves of each plan are made before the next
// interval. No clock but for the time of a decision, no random source: the same
// figures each time.
#include <hmk/core/ladder.h>
#include <hmk/core/rate.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "bench.hpp"
#include "policy/plan.hpp"
#include "policy/rank.hpp"

namespace hmk::bench {

namespace {

using namespace hmk::policy;

constexpr Bytes kRegion = 2ull << 20;
constexpr Bytes kGiB = 1ull << 30;
constexpr std::uint32_t kScans = 3, kSamples = 2, kIntervals = 20;
constexpr double kIntervalS = 10;
// Two sockets, each with DRAM and persistent memory: the machine of the paper.
constexpr Bytes kTierGiB[] = {96, 96, 756, 756};
constexpr std::uint32_t kLatencyNs[] = {90, 145, 275, 340};
constexpr std::uint32_t kBandwidthGiB[] = {95, 35, 35, 1};
// The default is for ten seconds of a small machine: 96 GB would take 80 minutes.
constexpr Bytes kPromoteLimit = 8 * kGiB;

/// Uniform in [0, 1), from its arguments alone.
double draw(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15ull + b * 0xd1b54a32d192ed03ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// Visits to each page of a region in a third of an interval, by region; hot ones anywhere.
std::vector<double> gups(std::size_t nr) {
  std::vector<double> rate(nr);
  const double hot_share = 64.0 / 1536;  // of the memory; nine accesses in ten go there
  for (std::size_t i = 0; i < nr; ++i)
    rate[i] = draw(i, 1) < hot_share ? 3 : 3 * (0.1 / (1 - hot_share)) / (0.9 / hot_share);
  return rate;
}

std::vector<double> zipf(std::size_t nr) {
  std::vector<std::size_t> at(nr);
  std::iota(at.begin(), at.end(), std::size_t{0});
  std::sort(at.begin(), at.end(),
            [](std::size_t a, std::size_t b) { return draw(a, 2) < draw(b, 2); });
  std::vector<double> rate(nr);
  for (std::size_t rank = 0; rank < nr; ++rank)
    rate[at[rank]] = 7600 * std::pow(static_cast<double>(rank + 1), -0.99);
  return rate;
}

/// The share of accesses that the fastest tier would serve, had it the hottest regions.
double oracle(std::vector<double> rate, std::size_t fits) {
  std::sort(rate.begin(), rate.end(), std::greater{});
  const auto middle = rate.begin() + static_cast<std::ptrdiff_t>(std::min(fits, rate.size()));
  return std::accumulate(rate.begin(), middle, 0.0) /
         std::accumulate(rate.begin(), rate.end(), 0.0);
}

class Machine {
 public:
  explicit Machine(std::vector<double> rate)
      : rate_(std::move(rate)), regions_(rate_.size()), profiled_(rate_.size()) {
    hmk_ladder_make(&ladder_, static_cast<__u64>(kIntervalS * 1e9 / 16 * 15), kScans);
    for (NodeId node = 0; node < 4; ++node) {
      const auto t = static_cast<std::size_t>(node);
      tiers_.push_back({.node = node,
                        .total = kTierGiB[t] * kGiB,
                        .free = kTierGiB[t] * kGiB,
                        .reserve = kTierGiB[t] * kGiB / 50,
                        .latency_ns = kLatencyNs[t],
                        .bandwidth_mib = kBandwidthGiB[t] * 1024});
    }
    NodeId node = 0;  // first touch, in address order
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      while (node < 3 && tier(node).free < tier(node).reserve + kRegion) ++node;
      tier(node).free -= kRegion;
      regions_[i] = {.start = i * kRegion,
                     .length = kRegion,
                     .resident = kRegion,
                     .generation = 1,
                     .node = node,
                     .leaf_shift = HMK_CORE_PAGE_SHIFT};
      hmk_region& r = profiled_[i];
      r.start = i * kRegion;
      r.end = r.start + kRegion;
      r.quota = kSamples;
      r.flags = HMK_REGION_NEW;
      r.leaf_shift = HMK_CORE_PAGE_SHIFT;
    }
  }

  /// What is published counts in these.
  std::uint32_t hotness_max() const { return ladder_.nr; }

  /// As kmod/interval.c: place, watch, judge, take, publish.
  void profile(std::uint64_t interval) {
    const auto nr = static_cast<__u32>(profiled_.size());
    hmk_ladder_place(&ladder_, &crowd_, profiled_.data(), nr);
    for (std::size_t i = 0; i < nr; ++i) watch(profiled_[i], i, interval);
    hmk_ladder_judge(&ladder_, &crowd_, profiled_.data(), nr);
    hmk_crowd_take(&crowd_, &ladder_);
    for (std::size_t i = 0; i < nr; ++i) publish(profiled_[i], regions_[i]);
  }

  void move(const Plan& plan) {
    for (const auto* moves : {&plan.promotions, &plan.demotions}) {
      for (const Move& move : *moves) {
        regions_[move.start / kRegion].node = move.to;
        tier(move.from).free += move.bytes;
        tier(move.to).free -= move.bytes;
      }
    }
  }

  /// Of the accesses, by tier.
  std::vector<double> shares() const {
    std::vector<double> share(4);
    for (std::size_t i = 0; i < regions_.size(); ++i)
      share[static_cast<std::size_t>(regions_[i].node)] += rate_[i];
    const double all = std::accumulate(share.begin(), share.end(), 0.0);
    for (double& s : share) s /= all;
    return share;
  }

  const std::vector<RegionView>& regions() const { return regions_; }
  const std::vector<TierView>& tiers() const { return tiers_; }

 private:
  /// A read finds a sample accessed when its first access, after a time that chance gives, was before it.
  void watch(hmk_region& r, std::size_t i, std::uint64_t interval) const {
    r.accesses = 0;
    r.count_min = 0xff;
    r.count_max = 0;
    for (std::uint64_t k = 0; k < kSamples; ++k) {
      const double first_s = -std::log1p(-draw(i, 1000 + interval * 64 + k)) * kIntervalS / 3 / rate_[i];
      __u32 count = r.rung;
      for (__u32 read = 0; read < kScans; ++read)
        count += static_cast<double>(ladder_.window_ns[r.rung + read]) / 1e9 >= first_s;
      r.accesses = static_cast<__u16>(r.accesses + count);
      r.count_min = std::min(r.count_min, static_cast<__u8>(count));
      r.count_max = std::max(r.count_max, static_cast<__u8>(count));
    }
  }

  /// As kmod/windows.c.
  void publish(const hmk_region& r, RegionView& view) const {
    view.hi_q16 = r.hi_q16;
    view.whi_q16 = r.whi_q16 ? hmk_crowd_shrink_q16(&crowd_, &r) : 0;
    view.rate_q8 = hmk_ladder_rate_q8(&ladder_, view.whi_q16);
    view.rate_dev_q8 = hmk_rate_dev_q8(&ladder_, view.whi_q16, r.trust + crowd_.kappa);
  }

  TierView& tier(NodeId node) { return tiers_[static_cast<std::size_t>(node)]; }

  std::vector<double> rate_;
  std::vector<RegionView> regions_;
  std::vector<TierView> tiers_;
  std::vector<hmk_region> profiled_;
  hmk_ladder ladder_{};
  hmk_crowd crowd_{};
};

double mean_latency(const std::vector<double>& shares) {
  double sum = 0;
  for (std::size_t t = 0; t < 4; ++t) sum += shares[t] * kLatencyNs[t];
  return sum;
}

nlohmann::ordered_json run(const char* workload, const std::vector<double>& rate,
                           bool tier_by_tier) {
  Machine machine(rate);
  PolicyParams params;
  params.promote_limit = kPromoteLimit;
  params.hotness_max = machine.hotness_max();
  params.tier_by_tier = tier_by_tier;
  const std::vector<NodeId> nodes = {0, 1, 2, 3};
  Ranking ranking({.buckets = params.buckets, .hotness_max = params.hotness_max}, nodes);
  std::vector<double> decide_ms;
  double latency_sum = 0;
  Bytes promoted = 0, demoted = 0, last_promoted = 0;
  for (std::uint64_t interval = 0; interval < kIntervals; ++interval) {
    latency_sum += mean_latency(machine.shares());
    machine.profile(interval);
    const auto begin = Clock::now();
    ranking.update(1, machine.regions());
    const Plan plan = make_plan(ranking.histogram(), machine.tiers(), params);
    decide_ms.push_back(ms(Clock::now() - begin));
    machine.move(plan);
    promoted += plan.promoted;
    demoted += plan.demoted;
    last_promoted = plan.promoted;
  }
  const std::vector<double> shares = machine.shares();
  const double best = oracle(rate, kTierGiB[0] * kGiB / kRegion);
  return {{"workload", workload},
          {"view", tier_by_tier ? "tier-by-tier" : "flat"},
          {"regions", rate.size()},
          {"intervals", kIntervals},
          {"tier1_share", shares[0]},
          {"oracle_share", best},
          {"of_oracle", shares[0] / best},
          {"latency_ns", mean_latency(shares)},
          {"latency_ns_over_run", latency_sum / kIntervals},
          {"promoted_gib", static_cast<double>(promoted) / static_cast<double>(kGiB)},
          {"demoted_gib", static_cast<double>(demoted) / static_cast<double>(kGiB)},
          {"last_promoted_gib", static_cast<double>(last_promoted) / static_cast<double>(kGiB)},
          {"decide_ms", median(decide_ms)},
          {"decide_ms_max", quantile(decide_ms, 1)},
          {"bytes_per_region", static_cast<double>(ranking.histogram().memory_bytes()) /
                                       static_cast<double>(rate.size()) +
                                   sizeof(Histogram::Id)}};
}

}  // namespace

nlohmann::ordered_json scale() {
  const std::size_t nr = 1536 * kGiB / kRegion;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [workload, rate] : {std::pair("gups", gups(nr)), std::pair("zipf", zipf(nr))}) {
    rows.push_back(run(workload, rate, false));
    const double flat = rows.back()["latency_ns_over_run"];
    rows.push_back(run(workload, rate, true));
    const double climbing = rows.back()["latency_ns_over_run"];
    rows.back()["flat_saves_percent"] = 100 * (1 - flat / climbing);
  }
  return rows;
}

}  // namespace hmk::bench

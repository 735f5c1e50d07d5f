// SPDX-License-Identifier: MIT
//
// One judge-and-publish pass as the module makes it: judge, publish, split,
// merge, assign quotas. Neighbours differ, so that most regions stay; one in 16
// splits and one in 16 merges.
#include <hmk/core/budget.h>
#include <hmk/core/hotness.h>
#include <hmk/core/quota.h>
#include <hmk/core/rate.h>
#include <hmk/core/region.h>
#include <linux/hmk.h>

#include <array>

#include "bench.hpp"

namespace hmk::bench {

namespace {

constexpr std::uint32_t kScans = 3;

void fill(std::vector<hmk_region>& regions, std::uint32_t nr) {
  regions.resize(nr);
  for (std::uint32_t i = 0; i < nr; i++) {
    const bool hot = i % 2 != 0 && i % 32 != 1;  // one of 32 is as cold as its neighbours
    hmk_region& r = regions[i];
    r = {};
    r.start = i * HMK_CORE_BASE_REGION;
    r.end = r.start + HMK_CORE_BASE_REGION;
    r.quota = 2;
    r.accesses = hot ? 2 * kScans : 0;
    r.hi_q16 = r.prev_hi_q16 = r.whi_q16 = (hot ? kScans : 0) << 16;
    r.count_min = r.count_max = hot ? kScans : 0;
    if (i % 16 == 4) {  // its samples disagree
      r.count_max = kScans;
      r.accesses = kScans;
    }
    r.generation = 1;
    r.resident_pages = 512;
    r.leaf_shift = HMK_CORE_PAGE_SHIFT;
    r.age = 9;
  }
}

/// Two for each region, one with its most and one with its least.
std::vector<hmk_sample> samples_of(const std::vector<hmk_region>& regions) {
  std::vector<hmk_sample> samples;
  for (const hmk_region& r : regions)
    for (const __u8 count : {r.count_max, r.count_min})
      samples.push_back({.addr = r.start, .count = count, .dirty = 0, .node = 0, .turn = 0});
  return samples;
}

void publish(const std::vector<hmk_region>& regions, std::vector<hmk_record>& table) {
  static const hmk_ladder windows = [] {
    hmk_ladder made;
    hmk_ladder_make_equal(&made, 1'000'000'000 / kScans, kScans);
    return made;
  }();
  for (std::size_t i = 0; i < regions.size(); i++) {
    const hmk_region& r = regions[i];
    table[i] = {.start = r.start,
                .length = r.end - r.start,
                .hi_q16 = r.hi_q16,
                .whi_q16 = r.whi_q16,
                .rate_q8 = hmk_ladder_rate_q8(&windows, r.whi_q16),
                .rate_dev_q8 = hmk_rate_dev_q8(&windows, r.whi_q16, r.quota * 48u),
                .resident_pages = r.resident_pages,
                .away_pages = r.away_pages,
                .node = r.node,
                .generation = r.generation,
                .samples = r.quota,
                .writes = r.writes,
                .leaf_shift = r.leaf_shift,
                .kind = r.kind,
                .flags = 0,
                .away_node = r.away_node};
  }
}

struct Parts {
  std::vector<double> all, judge, publish, split, merge, quota;
};

void pass(std::vector<hmk_region>& now, std::vector<hmk_region>& next,
          const std::vector<hmk_sample>& samples, std::vector<hmk_record>& table,
          hmk_quota_state& state, Parts& parts) {
  const auto nr = static_cast<__u32>(now.size());
  const hmk_tau_rule tau = hmk_budget_tau_rule(kScans, 0, 0, 0);
  const hmk_split_rule split = {tau.tau2_q16, HMK_CORE_Q16_ONE / 2, 2, nullptr};
  const hmk_merge_rule merge = {256ull << 20, tau.base_q16, 2};
  const hmk_quota_rule quota = {.num_ps = 2 * nr, .top_k = 5, .scout_bp = 1000, .by_size = 0};
  hmk_split_result splits;
  hmk_merge_result merges;
  hmk_quota_result quotas;

  std::array<Clock::time_point, 6> at;
  at[0] = Clock::now();
  hmk_hotness_judge(now.data(), nr, HMK_CORE_Q16_ONE / 2);
  at[1] = Clock::now();
  publish(now, table);
  at[2] = Clock::now();
  __u32 n = hmk_regions_split(now.data(), nr, samples.data(), next.data(),
                              static_cast<__u32>(next.size()), &split, &splits);
  at[3] = Clock::now();
  n = hmk_regions_merge(next.data(), n, &merge, &merges);
  at[4] = Clock::now();
  hmk_quota_assign(next.data(), n, merges.freed_quota, &quota, &state, &quotas);
  at[5] = Clock::now();
  parts.all.push_back(ms(at[5] - at[0]));
  parts.judge.push_back(ms(at[1] - at[0]));
  parts.publish.push_back(ms(at[2] - at[1]));
  parts.split.push_back(ms(at[3] - at[2]));
  parts.merge.push_back(ms(at[4] - at[3]));
  parts.quota.push_back(ms(at[5] - at[4]));
}

}  // namespace

nlohmann::ordered_json core(const std::vector<std::uint32_t>& sizes, unsigned repetitions) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::uint32_t nr : sizes) {
    std::vector<hmk_region> now, next(nr + nr / 8);
    std::vector<hmk_record> table(nr);
    hmk_quota_state state{};
    Parts parts;
    for (unsigned i = 0; i < repetitions; i++) {
      fill(now, nr);
      pass(now, next, samples_of(now), table, state, parts);
    }
    rows.push_back({{"regions", nr},
                    {"pass_ms", median(parts.all)},
                    {"pass_ms_p10", quantile(parts.all, 0.1)},
                    {"pass_ms_p90", quantile(parts.all, 0.9)},
                    {"ns_per_region", median(parts.all) * 1e6 / nr},
                    {"judge_ms", median(parts.judge)},
                    {"publish_ms", median(parts.publish)},
                    {"split_ms", median(parts.split)},
                    {"merge_ms", median(parts.merge)},
                    {"quota_ms", median(parts.quota)}});
  }
  return rows;
}

}  // namespace hmk::bench

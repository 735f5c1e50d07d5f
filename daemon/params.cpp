// SPDX-License-Identifier: MIT
#include "params.hpp"

namespace hmk {

hmk_params to_params(const Config& config) {
  hmk_params params{};
  params.mask = HMK_PARAM_INTERVAL | HMK_PARAM_BUDGET | HMK_PARAM_NUM_SCANS | HMK_PARAM_ALPHA |
                HMK_PARAM_TAU1 | HMK_PARAM_TAU2 | HMK_PARAM_TOP_K | HMK_PARAM_SCOUTS |
                HMK_PARAM_MAX_REGION | HMK_PARAM_TAU_STEP | HMK_PARAM_FLUSH | HMK_PARAM_SEED |
                HMK_PARAM_SWITCHES | HMK_PARAM_WEIGHT;
  params.interval_ns = static_cast<__u64>(config.interval.count());
  params.budget_bp = config.overhead_bp;
  params.num_scans = config.num_scans;
  params.alpha_q16 = config.alpha_q16;
  params.tau1_q16 = config.tau1_q16;
  params.tau2_q16 = config.tau2_q16;
  params.top_k = config.top_k;
  params.scout_bp = config.scouts_bp;
  params.max_region = config.max_region;
  params.weight = config.weight;
  params.tau_step_q16 = config.tau_step_q16;
  params.flush = config.flush ? HMK_FLUSH_ROUND : HMK_FLUSH_NONE;
  params.seed = config.seed;
  // The module reads no page by equal windows, nor more often than a byte of it counts.
  const bool is_dense =
      config.dense && !config.equal_windows && config.num_scans <= HMK_DENSE_SCANS;
  params.switches = config.ablation | (config.split_huge ? HMK_SWITCH_SPLIT_HUGE : 0) |
                    (config.equal_windows ? HMK_SWITCH_EQUAL_WINDOWS : 0) |
                    (is_dense ? HMK_SWITCH_DENSE : 0);
  return params;
}

std::uint32_t to_move_flags(const Config& config) {
  return (config.copy == Copy::sync ? HMK_MOVE_SYNC_COPY : 0) |
         (config.move_shared ? HMK_MOVE_SHARED : 0) | (config.move_bound ? HMK_MOVE_BOUND : 0);
}

hmk_params changed_params(const Config& now, const Config& old) {
  hmk_params params = to_params(now);
  const hmk_params before = to_params(old);
  const auto keep_if = [&](bool differs, __u64 bit) {
    if (!differs) params.mask &= ~bit;
  };
  keep_if(params.interval_ns != before.interval_ns, HMK_PARAM_INTERVAL);
  keep_if(params.budget_bp != before.budget_bp, HMK_PARAM_BUDGET);
  keep_if(params.num_scans != before.num_scans, HMK_PARAM_NUM_SCANS);
  keep_if(params.alpha_q16 != before.alpha_q16, HMK_PARAM_ALPHA);
  keep_if(params.tau1_q16 != before.tau1_q16, HMK_PARAM_TAU1);
  keep_if(params.tau2_q16 != before.tau2_q16, HMK_PARAM_TAU2);
  keep_if(params.top_k != before.top_k, HMK_PARAM_TOP_K);
  keep_if(params.scout_bp != before.scout_bp, HMK_PARAM_SCOUTS);
  keep_if(params.max_region != before.max_region, HMK_PARAM_MAX_REGION);
  keep_if(params.weight != before.weight, HMK_PARAM_WEIGHT);
  keep_if(params.tau_step_q16 != before.tau_step_q16, HMK_PARAM_TAU_STEP);
  keep_if(params.flush != before.flush, HMK_PARAM_FLUSH);
  keep_if(params.seed != before.seed, HMK_PARAM_SEED);
  keep_if(params.switches != before.switches, HMK_PARAM_SWITCHES);
  return params;
}

}  // namespace hmk

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The budget: how many samples an interval can pay for (Eq. 8.1), what one
 * scan costs now (HK-30), and how eagerly regions merge while there are too
 * many of them (HK-15, A-6).
 */
#ifndef HMK_CORE_BUDGET_H
#define HMK_CORE_BUDGET_H

#include <hmk/core/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HMK_BUDGET_BP_ONE	10000u	/* basis points in one whole */
#define HMK_BUDGET_BP_MOST	80000u	/* of an interval: CPU time of several threads */
#define HMK_BUDGET_BP_THREAD	5000u	/* what one thread is to use of an interval */
#define HMK_BUDGET_AIM_PERCENT	75u	/* planned use: what one noisy interval may exceed */

/* How tau1 moves. Make one with hmk_budget_tau_rule(). */
struct hmk_tau_rule {
	__u32 base_q16;		/* where it rests */
	__u32 step_q16;		/* per interval, up or down; never 0 */
	__u32 tau2_q16;		/* cap in normal operation; at least @base_q16 */
	__u32 limit_q16;	/* cap of the last resort: num_scans */
};

/* What work costs, and how far a measurement is from that. All 0: none yet. */
struct hmk_budget_cost {
	__u64 ns;
	__u64 dev_ns;
};

__u64 hmk_budget_ns(__u64 interval_ns, __u32 budget_bp);
__u32 hmk_budget_num_ps(__u64 interval_ns, __u32 budget_bp, __u32 scan_cost_ns,
			__u32 num_scans, __u64 fixed_ns);
__u32 hmk_budget_threads(__u64 interval_ns, __u64 budget_ns);
__u64 hmk_budget_share(__u64 budget_ns, __u32 weight, __u64 all);
__u64 hmk_budget_interval(__u64 interval_ns, __u64 budget_ns, __u64 fixed_ns, __u64 max_ns);
__u32 hmk_budget_plan(__u64 budget_ns, __u32 aim_percent, __u32 scan_cost_ns,
		      __u32 num_scans, __u64 fixed_ns);
__u32 hmk_budget_track(__u32 old_ns, __u32 now_ns);
__u64 hmk_budget_track_fixed(__u64 old_ns, __u64 now_ns);
void hmk_budget_track_cost(struct hmk_budget_cost *cost, __u64 now_ns);
__u64 hmk_budget_forget(__u64 old_ns);

struct hmk_tau_rule hmk_budget_tau_rule(__u32 num_scans, __u32 tau1_q16,
					__u32 tau2_q16, __u32 step_q16);
__u32 hmk_budget_tau1(__u32 now_q16, const struct hmk_tau_rule *rule,
		      __u32 nr_regions, __u32 num_ps);
__u32 hmk_budget_next_tau1(__u32 now_q16, const struct hmk_tau_rule *rule,
			   const struct hmk_region *r, __u32 nr, __u32 num_ps);
int hmk_budget_may_split(__u32 tau1_q16, const struct hmk_tau_rule *rule);

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_BUDGET_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* The regions as an array, and what becomes of them between two intervals. */
#ifndef HMK_ADAPT_H
#define HMK_ADAPT_H

#include <linux/types.h>
#include <hmk/core/budget.h>
#include <hmk/core/quota.h>
#include <hmk/core/types.h>

struct hmk_profile;

struct hmk_region_array {
	struct hmk_region *at;
	u32 nr, cap;
};

struct hmk_adapted {
	u32 num_ps;		/* samples there are in this interval */
	u32 generation;
	struct hmk_tau_rule tau;
	u32 tau1_q16;		/* in force; moves between the parameter and the top of hotness */
	struct hmk_quota_state quota;
	bool changed;		/* regions came or went since quotas were given */
	u32 merges, splits;	/* of the last interval */
	u64 quota_moves;
};

int hmk_regions_reserve(struct hmk_region_array *a, u32 want);
void hmk_regions_cut(struct hmk_profile *p, u32 nr);
int hmk_plan_samples(struct hmk_profile *p);
void hmk_adapt(struct hmk_profile *p);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_COST_H
#define HMK_COST_H

#include <linux/types.h>
#include <hmk/core/budget.h>

struct hmk_profile;

/* CPU time, moving averages. */
struct hmk_costs {
	u32 look_ns;		/* at a sample */
	u32 sample_ns;		/* all its looks, its share of flushes and waits included */
	u32 choice_ns;		/* choosing it */
	u64 group_ns;		/* a group, beside its looks */
	struct hmk_budget_cost fixed;	/* everything but samples and census, of an interval */
};

void hmk_cost_track(struct hmk_profile *p, u64 profile_ns);

#endif

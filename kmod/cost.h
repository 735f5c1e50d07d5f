/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_COST_H
#define HMK_COST_H

#include <linux/types.h>

struct hmk_profile;

/* CPU time, moving averages. */
struct hmk_costs {
	u32 look_ns;		/* at a sample */
	u32 sample_ns;		/* all its looks, its share of flushes and waits included */
	u32 choice_ns;		/* choosing it */
	u64 group_ns;		/* a group, beside its looks */
	u64 fixed_ns;		/* everything but samples and census */
	u64 fixed_dev_ns;	/* how far an interval was from that */
};

void hmk_cost_track(struct hmk_profile *p, u64 profile_ns);

#endif

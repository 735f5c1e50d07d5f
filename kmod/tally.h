/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_TALLY_H
#define HMK_TALLY_H

#include <linux/hmk.h>
#include <linux/types.h>

struct hmk_profile;
struct hmk_region;

/* Pages of a region, by class and node. */
struct hmk_tally {
	u32 pages[HMK_CLASSES][HMK_MAX_NODES];
	u64 heat[HMK_CLASSES];	/* sums, in 1/16 of a window */
	u32 of_class[HMK_CLASSES];
	u64 nodes;		/* a bit for each that has any */
};

const struct hmk_tally *hmk_tally(struct hmk_profile *p, const struct hmk_region *r);

#endif

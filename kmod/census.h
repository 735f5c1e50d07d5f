/* SPDX-License-Identifier: GPL-2.0-only */
/* How far the counting of pages has come. */
#ifndef HMK_CENSUS_H
#define HMK_CENSUS_H

#include <linux/types.h>
#include <linux/hmk.h>

struct hmk_session;
struct mm_struct;

#define HMK_CENSUS_PARTS	8u	/* of the budget at most: samples tell of places, too */

struct hmk_census {
	/* The region whose pages are being counted, in as many intervals as it takes. */
	u64 start, end;			/* @end 0: none */
	u64 at, step_end;
	u32 generation;
	u32 pages[HMK_MAX_NODES + 1];	/* the last: of nodes beyond */
	u8 leaf_shift, kind;
	/* The next ones. */
	u64 flagged_at;			/* address where those that are new or were moved go on */
	u32 rotation;			/* index of one of all */
};

void hmk_census(struct hmk_session *s, struct mm_struct *mm);

#endif

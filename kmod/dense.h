/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages read one by one (HMK_SWITCH_DENSE): core/dense.h says what is kept of one. */
#ifndef HMK_DENSE_H
#define HMK_DENSE_H

#include <linux/types.h>
#include <linux/xarray.h>

#include "piece.h"
#include "tally.h"

struct hmk_dense {
	/*
	 * By index. The interval thread alone puts in and takes out; under the array's lock,
	 * for moves look pieces up under it.
	 */
	struct xarray pieces;
	u32 nr;
	u32 piece_ns;		/* of a look at one; 0: not known */
	u32 seen_ns;		/* what it was while on, forgotten slowly; 0: never was */
	bool on;		/* in this interval */
	bool whole;		/* all of them, instead of samples; else some beside samples */
	u32 most, noted;	/* pieces that this interval pays for; that were only noted */
	struct hmk_piece **order;	/* of the groups */
	u32 order_cap;
	unsigned long turn, next_turn;	/* index of the piece that comes first; of the next */
	struct hmk_tally *tally;	/* of the region that is told */
};

struct hmk_profile;
struct hmk_read;
struct hmk_session;
struct mm_struct;

/* Of a region, what lies in one piece. */
struct hmk_piece_part {
	const struct hmk_piece *piece;	/* NULL: there is none */
	u32 first, nr;		/* pages */
};

int hmk_dense_init(void);
void hmk_dense_exit(void);
void hmk_dense_create(struct hmk_dense *d);
void hmk_dense_destroy(struct hmk_dense *d);
u64 hmk_dense_bytes(const struct hmk_dense *d);
u64 hmk_dense_cost_ns(const struct hmk_profile *p);

/* By the interval thread. */
void hmk_dense_reset(struct hmk_profile *p);
void hmk_dense_begin(struct hmk_profile *p, struct mm_struct *mm);
u32 hmk_dense_group(struct mm_struct *mm, struct hmk_profile *p, u32 group, u32 nr,
		    const struct hmk_read *read);
void hmk_dense_forget(struct hmk_profile *p, u32 group, u32 nr, bool late);
void hmk_dense_settle(struct hmk_profile *p);
void hmk_dense_touched(struct hmk_dense *d, u64 start, u64 end);
struct hmk_piece_part hmk_dense_part(struct hmk_dense *d, u64 at, u64 end);
void hmk_dense_judge_regions(struct hmk_profile *p);

/* By whoever moves. */
void hmk_dense_pick(struct hmk_session *s, u32 flags, unsigned long start, u32 nr,
		    unsigned long *picked);

#endif

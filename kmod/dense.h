/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages read one by one (HMK_SWITCH_DENSE): core/dense.h says what is kept of one. */
#ifndef HMK_DENSE_H
#define HMK_DENSE_H

#include <linux/types.h>

#include "pieces.h"
#include "tally.h"

struct hmk_dense {
	struct hmk_pieces pieces;
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
struct mm_struct;

void hmk_dense_destroy(struct hmk_dense *d);
u64 hmk_dense_bytes(const struct hmk_dense *d);

/* By the interval thread. */
void hmk_dense_reset(struct hmk_profile *p);
void hmk_dense_begin(struct hmk_profile *p, struct mm_struct *mm);
u32 hmk_dense_group(struct mm_struct *mm, struct hmk_profile *p, u32 group, u32 nr,
		    const struct hmk_read *read);
void hmk_dense_forget(struct hmk_profile *p, u32 group, u32 nr, bool late);
void hmk_dense_settle(struct hmk_profile *p);

/* Pieces and regions. */
void hmk_dense_cut(struct hmk_profile *p);
void hmk_dense_place(struct hmk_profile *p);
void hmk_dense_count_samples(struct hmk_profile *p);
void hmk_dense_judge_regions(struct hmk_profile *p);

/* Of a piece's pages; HMK_DENSE_UNKNOWN where it was never read. */
static inline u32 hmk_dense_mean(const struct hmk_piece *piece)
{
	return piece->age ? hmk_dense_mean_q16(piece->page, HMK_DENSE_PAGES, piece->rung)
			  : HMK_DENSE_UNKNOWN;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The pieces of a session: what is kept, and where it is found. */
#ifndef HMK_PIECES_H
#define HMK_PIECES_H

#include <linux/types.h>
#include <linux/xarray.h>

#include "piece.h"

struct hmk_pieces {
	/*
	 * By index. The interval thread alone puts in and takes out; under the array's lock,
	 * for moves look pieces up under it.
	 */
	struct xarray all;
	u32 nr;
};

/* Goes over all of them once, from an index on and then over those before it. */
struct hmk_round {
	struct hmk_pieces *of;
	unsigned long from, at, last;
};

static inline struct hmk_round hmk_round_from(struct hmk_pieces *ps, unsigned long index)
{
	return (struct hmk_round){ .of = ps, .from = index, .at = index, .last = ULONG_MAX };
}

struct hmk_region;
struct hmk_span;

/* Of a region, what lies in one piece. */
struct hmk_piece_part {
	const struct hmk_piece *piece;	/* NULL: there is none */
	u32 first, nr;		/* pages */
};

int hmk_pieces_init(void);
void hmk_pieces_exit(void);
void hmk_pieces_create(struct hmk_pieces *ps);
void hmk_pieces_clear(struct hmk_pieces *ps);
u64 hmk_pieces_bytes(const struct hmk_pieces *ps);

/* By the interval thread. */
u32 hmk_pieces_count(const struct hmk_span *spans, u32 nr);
void hmk_pieces_match(struct hmk_pieces *ps, const struct hmk_span *spans, u32 nr);
struct hmk_piece *hmk_round_next(struct hmk_round *round);
void hmk_pieces_ask(struct hmk_pieces *ps, const struct hmk_region *r);
void hmk_pieces_touched(struct hmk_pieces *ps, u64 start, u64 end);
struct hmk_piece_part hmk_pieces_part(struct hmk_pieces *ps, u64 at, u64 end);

/* By whoever moves. */
void hmk_pieces_classes(struct hmk_pieces *ps, unsigned long start, u32 nr, u8 *class);

#endif

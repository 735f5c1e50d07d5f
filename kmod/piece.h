/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of the pages of one last-level table: core/dense.h says what of each. */
#ifndef HMK_PIECE_H
#define HMK_PIECE_H

#include <linux/mm_types.h>
#include <linux/types.h>
#include <hmk/core/dense.h>

#define HMK_PIECE_NODES	4u	/* that are told apart in a piece */

struct hmk_piece {
	unsigned long index;	/* its address in units of 2 MiB */
	s16 node[HMK_PIECE_NODES];
	u8 nr_nodes;
	u8 rung;
	u8 age;			/* intervals in which it was read, saturating */
	u8 rest;		/* turns that it lets pass */
	bool due;		/* to be read in this interval */
	bool read;		/* to its end, in this interval */
	bool late;		/* begun, and not read in time */
	bool asked;		/* never read, or samples do not agree with it: it comes first */
	bool moved;		/* its nodes are of before */
	u8 place[HMK_DENSE_PAGES / 4];	/* of each page's node, two bits */
	u8 page[HMK_DENSE_PAGES];
};

void hmk_piece_clear(struct mm_struct *mm, struct hmk_piece *piece);
void hmk_piece_read(struct mm_struct *mm, struct hmk_piece *piece, u32 seen);
void hmk_piece_note(struct mm_struct *mm, struct hmk_piece *piece);

/* The node of a page that was there when the piece was cleared last. */
static inline int hmk_piece_node(const struct hmk_piece *piece, u32 i)
{
	return piece->node[piece->place[i / 4] >> i % 4 * 2 & 3];
}

#endif

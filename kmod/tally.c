// SPDX-License-Identifier: GPL-2.0-only
/* The pages of a region by class and node, from what was read of each (dense.h). */
#include <linux/mm.h>
#include <linux/string.h>

#include "session.h"
#include "tally.h"

static void tally_part(struct hmk_tally *t, const struct hmk_piece_part *part)
{
	const struct hmk_piece *piece = part->piece;
	u32 i;

	if (!piece || piece->moved)
		return;
	for (i = part->first; i < part->first + part->nr; i++) {
		s32 class = hmk_dense_class(piece->page[i], piece->rung);
		int node = hmk_piece_node(piece, i);

		if (class < 0)
			continue;
		t->pages[class][node]++;
		t->of_class[class]++;
		t->heat[class] += HMK_DENSE_STEP * piece->rung + hmk_dense_heat(piece->page[i]);
		t->nodes |= 1ull << node;
	}
}

/**
 * hmk_tally() - the pages of a region by class and node.
 * @p: judged.
 * @r: one of its regions.
 *
 * Return: NULL where one record tells all: nothing was read, or its pages are alike. Pages that
 * were not read, or moved since, are not in it.
 */
const struct hmk_tally *hmk_tally(struct hmk_profile *p, const struct hmk_region *r)
{
	struct hmk_tally *t = p->dense.tally;
	struct hmk_piece_part part;
	u64 at;

	if (!p->dense.on || !(r->flags & HMK_REGION_MIXED))
		return NULL;
	memset(t, 0, sizeof(*t));
	for (at = r->start; at < r->end; at += (u64)part.nr << PAGE_SHIFT) {
		part = hmk_pieces_part(&p->dense.pieces, at, r->end);
		tally_part(t, &part);
	}
	return t;
}

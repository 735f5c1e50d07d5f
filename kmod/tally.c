// SPDX-License-Identifier: GPL-2.0-only
/* The pages of a region by class and node, from what was read of each (dense.h). */
#include <linux/mm.h>
#include <linux/string.h>

#include "session.h"
#include "tally.h"

static void tally_piece(struct hmk_tally *t, const struct hmk_piece *piece, u32 from, u32 to)
{
	u32 i;

	for (i = from; i < to; i++) {
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
 * Return: NULL where one record tells all: not all was read, or its pages are alike.
 */
const struct hmk_tally *hmk_tally(struct hmk_profile *p, const struct hmk_region *r)
{
	struct hmk_tally *t = p->dense.tally;
	u64 at, next;

	if (!p->dense.on || !(r->flags & HMK_REGION_MIXED))
		return NULL;
	memset(t, 0, sizeof(*t));
	for (at = r->start; at < r->end; at = next) {
		next = min((at | (PMD_SIZE - 1)) + 1, r->end);
		tally_piece(t, xa_load(&p->dense.pieces, at >> PMD_SHIFT),
			    (at >> PAGE_SHIFT) % HMK_DENSE_PAGES,
			    ((next - 1) >> PAGE_SHIFT) % HMK_DENSE_PAGES + 1);
	}
	return t;
}

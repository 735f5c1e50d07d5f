// SPDX-License-Identifier: GPL-2.0-only
/* What pieces tell of regions: where they come apart, and their hotness from all of their pages. */
#include <hmk/core/region.h>

#include "dense.h"
#include "scan.h"
#include "session.h"

static bool regions_is_inside(const struct hmk_profile *p, u64 addr)
{
	u32 i = hmk_region_at(p->now.at, p->now.nr, addr);

	return i < p->now.nr && p->now.at[i].start < addr && addr < p->now.at[i].end;
}

static bool regions_differ(const struct hmk_profile *p, u32 a_q16, u32 b_q16)
{
	return a_q16 != HMK_DENSE_UNKNOWN && b_q16 != HMK_DENSE_UNKNOWN &&
	       (a_q16 > b_q16 ? a_q16 - b_q16 : b_q16 - a_q16) >= p->adapt.tau.tau2_q16;
}

/*
 * Regions come apart where a piece is as much hotter than its neighbour as samples would have
 * to differ (they are too few here to tell, and a page that is odd has a class). Where pieces
 * take turns samples tell that, and what was read comes apart from what was not.
 */
void hmk_dense_cut(struct hmk_profile *p)
{
	u32 mean, last_mean = HMK_DENSE_UNKNOWN, nr = 0, at = 0;
	unsigned long index, last_end = 0;
	struct hmk_piece *piece;
	bool last_read = false;
	u64 border;

	if (p->params.switches & HMK_SWITCH_FIXED_REGIONS)
		return;
	xa_for_each(&p->dense.pieces.all, index, piece) {
		hmk_pause(++at);
		border = (u64)index << PMD_SHIFT;
		mean = hmk_dense_mean(piece);
		if (last_end == index && nr < HMK_CUTS_MAX &&
		    (p->dense.whole ? regions_differ(p, last_mean, mean)
				    : last_read == !piece->age) &&
		    regions_is_inside(p, border))
			p->cuts[nr++] = border;
		last_mean = mean;
		last_read = piece->age;
		last_end = index + 1;
	}
	if (nr)
		hmk_regions_cut(p, nr);
}

/* What a sample's page was seen to do. One in a piece that was not read is not counted. */
void hmk_dense_count_samples(struct hmk_profile *p)
{
	struct hmk_sample *s = p->samples.at;
	u32 i, k;

	for (i = 0; i < p->now.nr; hmk_pause(++i)) {
		const struct hmk_region *r = hmk_scan_region(p, i);
		const u32 most = r->rung + p->params.num_scans;

		if (r->flags & HMK_REGION_STALE)
			continue;
		for (k = 0; k < r->quota; k++, s++) {
			struct hmk_piece *piece;
			u8 page;

			piece = xa_load(&p->dense.pieces.all, s->addr >> PMD_SHIFT);
			if (!piece || !piece->read)
				continue;
			page = piece->page[(s->addr >> PAGE_SHIFT) % HMK_DENSE_PAGES];
			if (page < HMK_DENSE_ABSENT)
				s->count = clamp_t(u32, piece->rung + (page & HMK_DENSE_SEEN),
						   r->rung, most);
		}
	}
}

/* Windows are the pieces' own: a region's samples get their counts from the piece it begins in. */
void hmk_dense_place(struct hmk_profile *p)
{
	struct hmk_piece *piece;
	u32 i;

	for (i = 0; i < p->now.nr; hmk_pause(++i)) {
		piece = xa_load(&p->dense.pieces.all, p->now.at[i].start >> PMD_SHIFT);
		if (piece)
			p->now.at[i].rung = piece->rung;
	}
}

/* Pieces that were never read are left out. Return: whether all were read in this interval. */
static bool regions_add_up(struct hmk_dense *d, const struct hmk_region *r,
			   struct hmk_dense_sum *sum)
{
	struct hmk_piece_part part;
	bool fresh = true;
	u64 at;

	for (at = r->start; at < r->end; at += (u64)part.nr << PAGE_SHIFT) {
		part = hmk_pieces_part(&d->pieces, at, r->end);
		fresh &= part.piece && part.piece->read;
		if (part.piece && part.piece->age)
			hmk_dense_add(sum, &part.piece->page[part.first], part.nr,
				      part.piece->rung, part.piece->age);
	}
	return fresh;
}

static void regions_judge(struct hmk_profile *p, struct hmk_region *r)
{
	struct hmk_dense_sum sum = { .age = HMK_DENSE_AGE_MOST };
	bool fresh = regions_add_up(&p->dense, r, &sum);

	if (p->dense.whole) {
		if (fresh)
			hmk_region_clear(r, HMK_REGION_STALE);
		hmk_dense_judge(&p->windows.ladder, &sum, r);
	} else if (hmk_dense_compare(&p->windows.ladder, &sum, r)) {
		hmk_pieces_ask(&p->dense.pieces, r);
	}
}

/**
 * hmk_dense_judge_regions() - regions' hotness from all of their pages.
 * @p: regions judged by their samples: what was not read keeps that, and where pieces take
 *     turns all do.
 */
void hmk_dense_judge_regions(struct hmk_profile *p)
{
	u32 i;

	for (i = 0; p->dense.on && i < p->now.nr; hmk_pause(++i))
		regions_judge(p, &p->now.at[i]);
}

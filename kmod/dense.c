// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages are read one by one, piece by piece. Where half of the budget pays for all of them, the
 * groups of an interval are of pieces; samples are chosen as ever and take their counts from the
 * pieces they lie in, so that regions go on as without. Of a larger process pieces take turns,
 * as many in an interval as half of the budget pays for; the other half pays for samples, which
 * tell regions as ever and say which pieces are to come first.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <hmk/core/ladder.h>
#include <hmk/core/region.h>

#include "dense.h"
#include "scan.h"
#include "session.h"
#include "sweep.h"
#include "turns.h"

#define RESTS		3u	/* turns, of pieces of which no page was accessed */

/* What is known of all pages is forgotten. */
void hmk_dense_reset(struct hmk_profile *p)
{
	u32 i;

	p->dense.on = false;
	p->dense.whole = false;
	if (!p->dense.pieces.nr)
		return;
	hmk_pieces_clear(&p->dense.pieces);
	for (i = 0; i < p->now.nr; hmk_pause(++i))
		hmk_region_clear(&p->now.at[i], HMK_REGION_MIXED);
}

void hmk_dense_destroy(struct hmk_dense *d)
{
	hmk_pieces_clear(&d->pieces);
	kvfree(d->order);
	kvfree(d->tally);
}

u64 hmk_dense_bytes(const struct hmk_dense *d)
{
	return hmk_pieces_bytes(&d->pieces) + (u64)d->order_cap * sizeof(*d->order) +
	       (d->tally ? sizeof(*d->tally) : 0);
}

static int dense_reserve(struct hmk_dense *d, u32 nr)
{
	if (!d->tally)
		d->tally = kvmalloc(sizeof(*d->tally), GFP_KERNEL);
	if (!d->tally)
		return -ENOMEM;
	if (nr <= d->order_cap)
		return 0;
	kvfree(d->order);
	d->order_cap = 0;
	nr += nr / 16;
	d->order = kvmalloc_array(nr, sizeof(*d->order), GFP_KERNEL);
	if (!d->order)
		return -ENOMEM;
	d->order_cap = nr;
	return 0;
}

/* Of one that was not read nothing new is known, but that its windows are too short. */
static s32 dense_wish(const struct hmk_piece *piece)
{
	return piece->read ? hmk_dense_wish(piece->page, HMK_DENSE_PAGES) : -(s32)piece->late;
}

/* What was published is of the windows before. */
static void dense_climb(struct hmk_profile *p)
{
	const s32 top = hmk_ladder_top(&p->windows.ladder);
	struct hmk_piece *piece;
	unsigned long index;
	u32 at = 0;

	xa_for_each(&p->dense.pieces.all, index, piece) {
		s32 wish = dense_wish(piece);
		s32 rung = clamp(piece->rung + wish, 0, top);

		hmk_pause(++at);
		piece->read = false;
		piece->late = false;
		if (rung == piece->rung)
			continue;
		hmk_dense_climb(piece->page, HMK_DENSE_PAGES, rung - piece->rung);
		piece->rung = rung;
	}
}

/**
 * hmk_dense_begin() - decide which pages this interval reads one by one, and make ready.
 * @p:  regions refreshed and placed on their rungs.
 * @mm: grabbed by the caller.
 */
void hmk_dense_begin(struct hmk_profile *p, struct mm_struct *mm)
{
	struct hmk_dense *d = &p->dense;
	const bool wanted = p->params.switches & HMK_SWITCH_DENSE &&
			    hmk_ladder_climbs(&p->windows.ladder) &&
			    p->params.num_scans <= HMK_DENSE_SCANS;
	u32 nr = wanted ? hmk_pieces_count(p->spans, p->nr_spans) : 0;

	if (wanted && !d->on)
		hmk_turns_probe(p, mm);
	d->most = nr ? hmk_turns_most(p, nr) : 0;
	d->on = d->most && !dense_reserve(d, d->most);
	d->whole = d->on && d->most == nr;
	if (!d->on) {
		hmk_dense_reset(p);
		return;
	}
	hmk_pieces_match(&d->pieces, p->spans, p->nr_spans);
	hmk_dense_cut(p);
	dense_climb(p);
	hmk_turns_choose(d);
	if (d->whole)
		hmk_dense_place(p);
	else
		hmk_turns_note(p, mm);
}

static u32 dense_group_look(struct hmk_sweep *sweep, struct hmk_sweeper *by, u32 i)
{
	struct hmk_piece *piece = sweep->p->dense.order[sweep->group + i];
	const struct hmk_read *read = sweep->read;

	if (read)
		hmk_piece_read(by->hold.mm, piece, read->seen - piece->rung);
	else
		hmk_piece_clear(by->hold.mm, piece);
	piece->read = read && read->last;
	by->visits++;
	return HMK_DENSE_PAGES;
}

/**
 * hmk_dense_group() - clear the pieces of a group, or read them.
 * @mm:    grabbed by the caller.
 * @p:     on in this interval.
 * @group: the place of its first piece in the order.
 * @nr:    number of them.
 * @read:  what the read means; NULL to clear.
 *
 * A read ends early when the budget is used up.
 *
 * Return: how many it came to.
 */
u32 hmk_dense_group(struct mm_struct *mm, struct hmk_profile *p, u32 group, u32 nr,
		    const struct hmk_read *read)
{
	struct hmk_sweep sweep = {
		.p = p, .mm = mm, .look = dense_group_look, .group = group, .nr = nr,
		.step = 1, .read = read, .counted = ATOMIC_INIT(-1),	/* whatever samples are */
	};

	nr = hmk_sweep(&sweep);
	p->watch.pieces += sweep.visits;
	return nr;
}

/* What the reads of a group said does not count: it was @late, or could not be paid for. */
void hmk_dense_forget(struct hmk_profile *p, u32 group, u32 nr, bool late)
{
	u32 i;

	for (i = group; i < group + nr; i++) {
		p->dense.order[i]->read = false;
		p->dense.order[i]->late = late;
	}
}

/* Where pieces take turns the last look was long ago: this one counts half. */
static u32 dense_age(const struct hmk_dense *d, const struct hmk_piece *piece)
{
	return d->whole ? piece->age : min_t(u32, piece->age, 1);
}

static bool dense_is_cold(const struct hmk_piece *piece)
{
	u32 mean = hmk_dense_mean(piece);

	return !mean || mean == HMK_DENSE_UNKNOWN;
}

/**
 * hmk_dense_settle() - judge the pages of what was read, and count the samples.
 * @p: all groups are closed.
 */
void hmk_dense_settle(struct hmk_profile *p)
{
	struct hmk_dense *d = &p->dense;
	struct hmk_piece *piece;
	unsigned long index;
	u32 at = 0;

	if (d->whole)
		hmk_dense_count_samples(p);
	xa_for_each(&d->pieces.all, index, piece) {
		hmk_pause(++at);
		if (!piece->read)
			continue;
		hmk_dense_fold(piece->page, HMK_DENSE_PAGES, dense_age(d, piece));
		piece->age = min_t(u32, piece->age + 1, HMK_DENSE_AGE_MOST);
		piece->rest = !d->whole && dense_is_cold(piece) ? RESTS : 0;
		piece->asked = false;
	}
	hmk_turns_end(d);
}

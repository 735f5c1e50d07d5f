// SPDX-License-Identifier: GPL-2.0-only
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "session.h"
#include "turns.h"

#define PROBES		2u	/* pieces that say what one costs while it is not on, */
#define PROBE_FIRST	4u	/* in so many intervals, */
#define PROBE_EVERY	16u	/* and then in one of so many: a small budget pays for no more */
#define FORGET_PARTS	4u	/* of what a look cost, at each probe */
#define ROUND_MOST	16u	/* intervals in which all have their turn, or it is not worth it */
#define NOTE_LOOKS	2u	/* what noting where a piece's pages are takes, in mean looks */
#define SPARSE		2u	/* so many pieces' worth of address space for one of memory */

static const struct hmk_span *turns_largest(const struct hmk_profile *p)
{
	const struct hmk_span *s = p->spans, *end = s + p->nr_spans, *largest = s;

	for (; s < end; s++) {
		if (s->end - s->start > largest->end - largest->start)
			largest = s;
		hmk_pause(s - p->spans);
	}
	return largest;
}

/* Clears some pieces of the largest span: small ones are cheap. Return: CPU time of one, or 0. */
static u64 turns_ask(struct hmk_profile *p, struct mm_struct *mm, struct hmk_piece *piece)
{
	const struct hmk_span *span = turns_largest(p);
	u64 begin = hmk_charge_used(p);
	u32 i;

	if (!p->nr_spans || !hmk_hold_begin(&p->hold, mm))
		return 0;
	for (i = 0; i < PROBES; i++) {
		piece->index = (span->start + (span->end - span->start) / PROBES * i) >> PMD_SHIFT;
		hmk_piece_clear(mm, piece);
	}
	hmk_hold_end(&p->hold);
	return div_u64(hmk_charge_since(p, begin), PROBES) + 1;
}

/*
 * While it is off: what it would cost. Clearing some bits harms nobody: the folios know. What
 * was seen of late is forgotten slowly, or it would come on and go off for ever where looks
 * take longer than the probes say.
 */
void hmk_turns_probe(struct hmk_profile *p, struct mm_struct *mm)
{
	struct hmk_dense *d = &p->dense;
	struct hmk_piece *piece;
	u64 piece_ns;

	if (p->seq >= PROBE_FIRST && p->seq % PROBE_EVERY)
		return;
	piece = kzalloc(sizeof(*piece), GFP_KERNEL);
	if (!piece)
		return;
	piece_ns = turns_ask(p, mm, piece);
	kfree(piece);
	if (!piece_ns)
		return;
	d->seen_ns -= d->seen_ns / FORGET_PARTS;
	d->piece_ns = max_t(u32, d->seen_ns, piece_ns);
}

/* How many pieces a part of the budget pays for. */
static u32 turns_paid(const struct hmk_profile *p, u64 budget_ns)
{
	u64 piece_ns = (u64)p->dense.piece_ns * (p->params.num_scans + 1);

	if (p->params.switches & HMK_SWITCH_NO_BUDGET)
		return U32_MAX;
	return min_t(u64, div64_u64(budget_ns, piece_ns), U32_MAX);
}

static u64 turns_resident(const struct hmk_profile *p)
{
	u64 pages = 0;
	u32 i;

	for (i = 0; i < p->now.nr; hmk_pause(++i))
		pages += p->now.at[i].resident_pages;
	return pages;
}

/*
 * How many of @nr pieces this interval reads. All where half of the budget pays for that beside
 * all fixed work, three quarters once they are, so that it stays. Else as many as half of what
 * fixed work leaves pays for, if all have their turn within ROUND_MOST intervals (half as many
 * more once it is on) and most of what would be kept is of memory that is there.
 */
u32 hmk_turns_most(const struct hmk_profile *p, u32 nr)
{
	const u64 budget_ns = p->charge.budget_ns, fixed_ns = hmk_charge_fixed(p);
	const u64 left_ns = budget_ns - min(fixed_ns, budget_ns / 4 * 3);
	const struct hmk_dense *d = &p->dense;
	u32 most;

	if (!d->piece_ns)
		return 0;
	if (turns_paid(p, min(budget_ns / 4 * (d->whole ? 3 : 2), left_ns / 8 * 7)) >= nr)
		return nr;
	most = turns_paid(p, left_ns / 2);
	if ((u64)most * ROUND_MOST * (d->on ? 3 : 2) / 2 < nr ||
	    (u64)nr * HMK_DENSE_PAGES > SPARSE * turns_resident(p))
		return 0;
	return most;
}

/**
 * hmk_turns_cost_ns() - what of the budget is for pieces, beside samples.
 * @p: the interval has begun.
 *
 * Return: nanoseconds.
 */
u64 hmk_turns_cost_ns(const struct hmk_profile *p)
{
	const struct hmk_dense *d = &p->dense;

	return d->on && !d->whole ?
	       ((u64)d->most * (p->params.num_scans + 1) + NOTE_LOOKS * d->noted) * d->piece_ns : 0;
}

/* From the turn on, as long as some can be paid for. */
static void turns_choose_next(struct hmk_dense *d, u32 left)
{
	struct hmk_round round = hmk_round_from(&d->pieces, d->turn);
	struct hmk_piece *piece;
	u32 at = 0;

	while ((piece = hmk_round_next(&round))) {
		hmk_pause(++at);
		d->next_turn = piece->index;
		if (!left)
			return;
		piece->rest -= !!piece->rest;
		if (piece->rest || piece->due)
			continue;
		piece->due = true;
		left--;
	}
}

/* Which pieces the interval reads: those that are asked for, then those whose turn it is. */
void hmk_turns_choose(struct hmk_dense *d)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 left = d->most, at = 0;

	xa_for_each(&d->pieces.all, index, piece) {
		piece->due = left && (d->whole || piece->asked);
		left -= piece->due;
		hmk_pause(++at);
	}
	d->next_turn = d->turn;
	if (!d->whole && left)
		turns_choose_next(d, left);
}

/* What was moved, and is not read now, is told where it lies now. */
void hmk_turns_note(struct hmk_profile *p, struct mm_struct *mm)
{
	struct hmk_dense *d = &p->dense;
	bool held = hmk_hold_begin(&p->hold, mm);
	struct hmk_piece *piece;
	unsigned long index;

	d->noted = 0;
	xa_for_each(&d->pieces.all, index, piece) {
		if (!held || d->noted == d->most)
			break;
		if (!piece->moved || piece->due)
			continue;
		hmk_piece_note(mm, piece);
		d->noted++;
		held = hmk_hold_on(&p->hold, HMK_DENSE_PAGES);
	}
	if (held)
		hmk_hold_end(&p->hold);
}

/* Where all are to be read: the first that was not, behind the one whose turn it was. */
static unsigned long turns_left_over(struct hmk_dense *d)
{
	struct hmk_round round = hmk_round_from(&d->pieces, d->turn);
	struct hmk_piece *piece;
	u32 at = 0;

	while ((piece = hmk_round_next(&round))) {
		if (!piece->read && piece->index != d->turn)
			return piece->index;
		hmk_pause(++at);
	}
	return d->turn;
}

/* The interval has read what it could. */
void hmk_turns_end(struct hmk_dense *d)
{
	d->turn = d->whole ? turns_left_over(d) : d->next_turn;
}

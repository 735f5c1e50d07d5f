// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages are read one by one, piece by piece. Where half of the budget pays for all of them, the
 * groups of an interval are of pieces; samples are chosen as ever and take their counts from the
 * pieces they lie in, so that regions go on as without. Of a larger process pieces take turns,
 * as many in an interval as half of the budget pays for; the other half pays for samples, which
 * tell regions as ever and say which pieces are to come first.
 */
#include <linux/bitfield.h>
#include <linux/bitmap.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <hmk/core/budget.h>
#include <hmk/core/ladder.h>
#include <hmk/core/region.h>

#include "dense.h"
#include "scan.h"
#include "session.h"
#include "walk.h"

#define PROBES		2u	/* pieces that say what one costs while it is not on, */
#define PROBE_FIRST	4u	/* in so many intervals, */
#define PROBE_EVERY	16u	/* and then in one of so many: a small budget pays for no more */
#define FORGET_PARTS	4u	/* of what a look cost, at each probe */
#define ROUND_MOST	16u	/* intervals in which all have their turn, or it is not worth it */
#define RESTS		3u	/* turns, of pieces of which no page was accessed */
#define NOTE_LOOKS	2u	/* what noting where a piece's pages are takes, in mean looks */
#define SPARSE		2u	/* so many pieces' worth of address space for one of memory */

static struct kmem_cache *hmk_pieces;

int __init hmk_dense_init(void)
{
	hmk_pieces = KMEM_CACHE(hmk_piece, 0);
	return hmk_pieces ? 0 : -ENOMEM;
}

void hmk_dense_exit(void)
{
	kmem_cache_destroy(hmk_pieces);
}

void hmk_dense_create(struct hmk_dense *d)
{
	xa_init(&d->pieces);
}

static void dense_drop(struct hmk_dense *d, struct hmk_piece *piece)
{
	xa_erase(&d->pieces, piece->index);	/* nobody looks at it from here on */
	kmem_cache_free(hmk_pieces, piece);
	d->nr--;
}

static void dense_drop_all(struct hmk_dense *d)
{
	struct hmk_piece *piece;
	unsigned long index;

	xa_for_each(&d->pieces, index, piece) {
		dense_drop(d, piece);
		hmk_pause(d->nr);
	}
	d->on = false;
	d->whole = false;
}

/* What is known of all pages is forgotten. */
void hmk_dense_reset(struct hmk_profile *p)
{
	u32 i;

	if (!p->dense.nr)
		return;
	dense_drop_all(&p->dense);
	for (i = 0; i < p->now.nr; hmk_pause(++i))
		hmk_region_clear(&p->now.at[i], HMK_REGION_MIXED);
}

void hmk_dense_destroy(struct hmk_dense *d)
{
	dense_drop_all(d);
	xa_destroy(&d->pieces);
	kvfree(d->order);
	kvfree(d->tally);
}

/* Return: of all that is kept, the array's own nodes (one for 64 pieces) included. */
u64 hmk_dense_bytes(const struct hmk_dense *d)
{
	return (u64)d->nr * (sizeof(struct hmk_piece) + sizeof(struct xa_node) / 64) +
	       (u64)d->order_cap * sizeof(*d->order) + (d->tally ? sizeof(*d->tally) : 0);
}

static struct hmk_piece *dense_add(struct hmk_dense *d, unsigned long index)
{
	struct hmk_piece *piece = kmem_cache_zalloc(hmk_pieces, GFP_KERNEL);

	if (!piece)
		return NULL;
	piece->index = index;
	piece->asked = true;
	memset(piece->page, HMK_DENSE_ABSENT, sizeof(piece->page));
	if (xa_err(xa_store(&d->pieces, index, piece, GFP_KERNEL))) {
		kmem_cache_free(hmk_pieces, piece);
		return NULL;
	}
	d->nr++;
	return piece;
}

static unsigned long dense_first(const struct hmk_span *span)
{
	return span->start >> PMD_SHIFT;
}

static unsigned long dense_end(const struct hmk_span *span)
{
	return (span->end + PMD_SIZE - 1) >> PMD_SHIFT;
}

/* How many pieces there are; two spans may share one. */
static u32 dense_count(const struct hmk_profile *p)
{
	unsigned long at = 0;
	u64 nr = 0;
	u32 i;

	for (i = 0; i < p->nr_spans; hmk_pause(++i)) {
		unsigned long first = max(dense_first(&p->spans[i]), at);

		at = max(dense_end(&p->spans[i]), first);
		nr += at - first;
	}
	return min_t(u64, nr, U32_MAX);
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

/* Pieces of what is mapped, and of nothing else. Both are in the order of addresses. */
static void dense_match(struct hmk_profile *p)
{
	struct hmk_dense *d = &p->dense;
	struct hmk_piece *piece;
	unsigned long index, n;
	u32 i = 0, at = 0;

	xa_for_each(&d->pieces, index, piece) {
		while (i < p->nr_spans && dense_end(&p->spans[i]) <= index)
			i++;
		if (i == p->nr_spans || dense_first(&p->spans[i]) > index)
			dense_drop(d, piece);
		hmk_pause(++at);
	}
	for (i = 0; i < p->nr_spans; i++) {
		for (n = dense_first(&p->spans[i]); n < dense_end(&p->spans[i]); n++) {
			if (!xa_load(&d->pieces, n) && !dense_add(d, n))
				return;		/* what has none is not read, and told as it was */
			hmk_pause(++at);
		}
	}
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

	xa_for_each(&p->dense.pieces, index, piece) {
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

static bool dense_is_inside(const struct hmk_profile *p, u64 addr)
{
	u32 i = hmk_region_at(p->now.at, p->now.nr, addr);

	return i < p->now.nr && p->now.at[i].start < addr && addr < p->now.at[i].end;
}

/* Of a piece's pages; HMK_DENSE_UNKNOWN where it was never read. */
static u32 dense_mean(const struct hmk_piece *piece)
{
	return piece->age ? hmk_dense_mean_q16(piece->page, HMK_DENSE_PAGES, piece->rung)
			  : HMK_DENSE_UNKNOWN;
}

static bool dense_differ(const struct hmk_profile *p, u32 a_q16, u32 b_q16)
{
	return a_q16 != HMK_DENSE_UNKNOWN && b_q16 != HMK_DENSE_UNKNOWN &&
	       (a_q16 > b_q16 ? a_q16 - b_q16 : b_q16 - a_q16) >= p->adapt.tau.tau2_q16;
}

/*
 * Regions come apart where a piece is as much hotter than its neighbour as samples would have
 * to differ (they are too few here to tell, and a page that is odd has a class). Where pieces
 * take turns samples tell that, and what was read comes apart from what was not.
 */
static void dense_cut(struct hmk_profile *p)
{
	u32 mean, last_mean = HMK_DENSE_UNKNOWN, nr = 0, at = 0;
	unsigned long index, last_end = 0;
	struct hmk_piece *piece;
	bool last_read = false;
	u64 border;

	if (p->params.switches & HMK_SWITCH_FIXED_REGIONS)
		return;
	xa_for_each(&p->dense.pieces, index, piece) {
		hmk_pause(++at);
		border = (u64)index << PMD_SHIFT;
		mean = dense_mean(piece);
		if (last_end == index && nr < HMK_CUTS_MAX &&
		    (p->dense.whole ? dense_differ(p, last_mean, mean)
				    : last_read == !piece->age) &&
		    dense_is_inside(p, border))
			p->cuts[nr++] = border;
		last_mean = mean;
		last_read = piece->age;
		last_end = index + 1;
	}
	if (nr)
		hmk_regions_cut(p, nr);
}

/* Of those from a piece to another. Return: how many more can be paid for. */
static u32 dense_choose_range(struct hmk_dense *d, u32 left, unsigned long from, unsigned long to)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 at = 0;

	xa_for_each_range(&d->pieces, index, piece, from, to) {
		hmk_pause(++at);
		d->next_turn = index;
		if (!left)
			break;
		piece->rest -= !!piece->rest;
		if (piece->rest || piece->due)
			continue;
		piece->due = true;
		left--;
	}
	return left;
}

/* Which pieces the interval reads: those that are asked for, then those whose turn it is. */
static void dense_choose(struct hmk_dense *d)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 left = d->most, at = 0;

	xa_for_each(&d->pieces, index, piece) {
		piece->due = left && (d->whole || piece->asked);
		left -= piece->due;
		hmk_pause(++at);
	}
	d->next_turn = d->turn;
	if (d->whole || !left)
		return;
	left = dense_choose_range(d, left, d->turn, ULONG_MAX);
	if (left && d->turn)
		dense_choose_range(d, left, 0, d->turn - 1);
}

/* Windows are the pieces' own: a region's samples get their counts from the piece it begins in. */
static void dense_place(struct hmk_profile *p)
{
	struct hmk_piece *piece;
	u32 i;

	for (i = 0; i < p->now.nr; hmk_pause(++i)) {
		piece = xa_load(&p->dense.pieces, p->now.at[i].start >> PMD_SHIFT);
		if (piece)
			p->now.at[i].rung = piece->rung;
	}
}

static const struct hmk_span *dense_largest(const struct hmk_profile *p)
{
	const struct hmk_span *s = p->spans, *end = s + p->nr_spans, *largest = s;

	for (; s < end; s++) {
		if (s->end - s->start > largest->end - largest->start)
			largest = s;
		hmk_pause(s - p->spans);
	}
	return largest;
}

/*
 * While it is off: what it would cost. Small spans are cheap, so the largest is asked. Clearing
 * some bits harms nobody: the folios know. What was seen of late is forgotten slowly, or it
 * would come on and go off for ever where looks take longer than the probes say.
 */
static void dense_probe(struct hmk_profile *p, struct mm_struct *mm)
{
	struct hmk_dense *d = &p->dense;
	struct hmk_piece *piece = kmem_cache_zalloc(hmk_pieces, GFP_KERNEL);
	const struct hmk_span *span = dense_largest(p);
	u64 begin = hmk_charge_used(p);
	u32 i;

	if (!piece)
		return;
	if (!p->nr_spans || !hmk_hold_begin(&p->hold, mm)) {
		kmem_cache_free(hmk_pieces, piece);
		return;
	}
	for (i = 0; i < PROBES; i++) {
		piece->index = (span->start + (span->end - span->start) / PROBES * i) >> PMD_SHIFT;
		hmk_piece_clear(mm, piece);
	}
	hmk_hold_end(&p->hold);
	kmem_cache_free(hmk_pieces, piece);
	d->seen_ns -= d->seen_ns / FORGET_PARTS;
	d->piece_ns = max_t(u32, d->seen_ns, div_u64(hmk_charge_since(p, begin), PROBES) + 1);
}

/* How many pieces a part of the budget pays for. */
static u32 dense_paid(const struct hmk_profile *p, u64 budget_ns)
{
	u64 piece_ns = (u64)p->dense.piece_ns * (p->params.num_scans + 1);

	if (p->params.switches & HMK_SWITCH_NO_BUDGET)
		return U32_MAX;
	return min_t(u64, div64_u64(budget_ns, piece_ns), U32_MAX);
}

static u64 dense_resident(const struct hmk_profile *p)
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
static u32 dense_most(const struct hmk_profile *p, u32 nr)
{
	const u64 budget_ns = p->charge.budget_ns, fixed_ns = hmk_charge_fixed(p);
	const u64 left_ns = budget_ns - min(fixed_ns, budget_ns / 4 * 3);
	const struct hmk_dense *d = &p->dense;
	u32 most;

	if (!d->piece_ns)
		return 0;
	if (dense_paid(p, min(budget_ns / 4 * (d->whole ? 3 : 2), left_ns / 8 * 7)) >= nr)
		return nr;
	most = dense_paid(p, left_ns / 2);
	if ((u64)most * ROUND_MOST * (d->on ? 3 : 2) / 2 < nr ||
	    (u64)nr * HMK_DENSE_PAGES > SPARSE * dense_resident(p))
		return 0;
	return most;
}

/* What was moved, and is not read now, is told where it lies now. */
static void dense_note(struct hmk_profile *p, struct mm_struct *mm)
{
	struct hmk_dense *d = &p->dense;
	bool held = hmk_hold_begin(&p->hold, mm);
	struct hmk_piece *piece;
	unsigned long index;

	d->noted = 0;
	xa_for_each(&d->pieces, index, piece) {
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

/**
 * hmk_dense_touched() - pages of a range were moved.
 * @d:     of the session; its interval thread.
 * @start: address.
 * @end:   address above.
 */
void hmk_dense_touched(struct hmk_dense *d, u64 start, u64 end)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 at = 0;

	xa_for_each_range(&d->pieces, index, piece, start >> PMD_SHIFT, (end - 1) >> PMD_SHIFT) {
		piece->moved = true;
		hmk_pause(++at);
	}
}

/**
 * hmk_dense_cost_ns() - what of the budget is for pieces, beside samples.
 * @p: the interval has begun.
 *
 * Return: nanoseconds.
 */
u64 hmk_dense_cost_ns(const struct hmk_profile *p)
{
	const struct hmk_dense *d = &p->dense;

	return d->on && !d->whole ?
	       ((u64)d->most * (p->params.num_scans + 1) + NOTE_LOOKS * d->noted) * d->piece_ns : 0;
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
	u32 nr = wanted ? dense_count(p) : 0;

	if (wanted && !d->on && (p->seq < PROBE_FIRST || !(p->seq % PROBE_EVERY)))
		dense_probe(p, mm);
	d->most = nr ? dense_most(p, nr) : 0;
	d->on = d->most && !dense_reserve(d, d->most);
	d->whole = d->on && d->most == nr;
	if (!d->on) {
		hmk_dense_reset(p);
		return;
	}
	dense_match(p);
	dense_cut(p);
	dense_climb(p);
	dense_choose(d);
	if (d->whole)
		dense_place(p);
	else
		dense_note(p, mm);
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
	bool held = hmk_hold_begin(&p->hold, mm);
	u32 i;

	for (i = 0; held && i < nr; i++) {
		struct hmk_piece *piece = p->dense.order[group + i];

		if (read && !hmk_charge_affords(p, U32_MAX, 0))
			break;
		if (read)
			hmk_piece_read(mm, piece, read->seen - piece->rung);
		else
			hmk_piece_clear(mm, piece);
		piece->read = read && read->last;
		p->watch.pieces++;
		held = hmk_hold_on(&p->hold, HMK_DENSE_PAGES);
	}
	if (held)
		hmk_hold_end(&p->hold);
	return i;
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

/* What a sample's page was seen to do. One in a piece that was not read is not counted. */
static void dense_count_samples(struct hmk_profile *p)
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

			piece = xa_load(&p->dense.pieces, s->addr >> PMD_SHIFT);
			if (!piece || !piece->read)
				continue;
			page = piece->page[(s->addr >> PAGE_SHIFT) % HMK_DENSE_PAGES];
			if (page < HMK_DENSE_ABSENT)
				s->count = clamp_t(u32, piece->rung + (page & HMK_DENSE_SEEN),
						   r->rung, most);
		}
	}
}

/* The first that was not read, behind the one that came first: no piece waits for ever. */
static unsigned long dense_next_turn(struct hmk_dense *d)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 at = 0;

	xa_for_each_start(&d->pieces, index, piece, d->turn + 1) {
		if (!piece->read)
			return index;
		hmk_pause(++at);
	}
	xa_for_each_range(&d->pieces, index, piece, 0, d->turn) {
		if (!piece->read)
			return index;
		hmk_pause(++at);
	}
	return d->turn;
}

/* Where pieces take turns the last look was long ago: this one counts half. */
static u32 dense_age(const struct hmk_dense *d, const struct hmk_piece *piece)
{
	return d->whole ? piece->age : min_t(u32, piece->age, 1);
}

static bool dense_is_cold(const struct hmk_piece *piece)
{
	u32 mean = dense_mean(piece);

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
		dense_count_samples(p);
	xa_for_each(&d->pieces, index, piece) {
		hmk_pause(++at);
		if (!piece->read)
			continue;
		hmk_dense_fold(piece->page, HMK_DENSE_PAGES, dense_age(d, piece));
		piece->age = min_t(u32, piece->age + 1, HMK_DENSE_AGE_MOST);
		piece->rest = !d->whole && dense_is_cold(piece) ? RESTS : 0;
		piece->asked = false;
	}
	d->turn = d->whole ? dense_next_turn(d) : d->next_turn;
}

/**
 * hmk_dense_part() - the pages from an address on that lie in one piece.
 * @d:   of the session.
 * @at:  page address.
 * @end: page address above: where they end at the latest.
 *
 * Return: at least one page; the next part begins behind them.
 */
struct hmk_piece_part hmk_dense_part(struct hmk_dense *d, u64 at, u64 end)
{
	u64 next = min((at | (PMD_SIZE - 1)) + 1, end);

	return (struct hmk_piece_part){
		.piece = xa_load(&d->pieces, at >> PMD_SHIFT),
		.first = (at >> PAGE_SHIFT) % HMK_DENSE_PAGES,
		.nr = (next - at) >> PAGE_SHIFT,
	};
}

/* Pieces that were never read are left out. Return: whether all were read in this interval. */
static bool dense_add_up(struct hmk_dense *d, const struct hmk_region *r,
			 struct hmk_dense_sum *sum)
{
	struct hmk_piece_part part;
	bool fresh = true;
	u64 at;

	for (at = r->start; at < r->end; at += (u64)part.nr << PAGE_SHIFT) {
		part = hmk_dense_part(d, at, r->end);
		fresh &= part.piece && part.piece->read;
		if (part.piece && part.piece->age)
			hmk_dense_add(sum, &part.piece->page[part.first], part.nr,
				      part.piece->rung, part.piece->age);
	}
	return fresh;
}

static void dense_ask(struct hmk_dense *d, const struct hmk_region *r)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 at = 0;

	xa_for_each_range(&d->pieces, index, piece, r->start >> PMD_SHIFT,
			  (r->end - 1) >> PMD_SHIFT) {
		piece->asked = true;
		hmk_pause(++at);
	}
}

static void dense_judge_region(struct hmk_profile *p, struct hmk_region *r)
{
	struct hmk_dense_sum sum = { .age = HMK_DENSE_AGE_MOST };
	bool fresh = dense_add_up(&p->dense, r, &sum);

	if (p->dense.whole) {
		if (fresh)
			hmk_region_clear(r, HMK_REGION_STALE);
		hmk_dense_judge(&p->windows.ladder, &sum, r);
	} else if (hmk_dense_compare(&p->windows.ladder, &sum, r)) {
		dense_ask(&p->dense, r);
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
		dense_judge_region(p, &p->now.at[i]);
}

/**
 * hmk_dense_pick() - which pages are of a class.
 * @s:      the session.
 * @flags:  of the range: HMK_RANGE_CLASS().
 * @start:  address of the first page.
 * @nr:     number of pages.
 * @picked: @nr bits, all of them written.
 *
 * Their hotness may change meanwhile: it says what it is now.
 */
void hmk_dense_pick(struct hmk_session *s, u32 flags, unsigned long start, u32 nr,
		    unsigned long *picked)
{
	const s32 class = (s32)FIELD_GET(HMK_RANGE_CLASS_MASK, flags) - 1;
	struct xarray *pieces = &s->prof.dense.pieces;
	const struct hmk_piece *piece = NULL;
	u32 i;

	bitmap_zero(picked, nr);
	xa_lock(pieces);
	for (i = 0; i < nr; i++) {
		unsigned long pfn = (start >> PAGE_SHIFT) + i;
		u32 at = pfn % HMK_DENSE_PAGES;

		if (!i || !at)
			piece = xa_load(pieces, pfn / HMK_DENSE_PAGES);
		if (piece && hmk_dense_class(READ_ONCE(piece->page[at]),
					     READ_ONCE(piece->rung)) == class)
			__set_bit(i, picked);
	}
	xa_unlock(pieces);
}

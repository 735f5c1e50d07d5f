// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples of an interval, and its pieces where pages are read one by one (dense.h), in
 * groups, each with windows of its rung (core/schedule.h): cleared, flushed, read, in between
 * waited for. No lock is held while it waits.
 */
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/timekeeping.h>
#include <hmk/core/budget.h>
#include <hmk/core/region.h>
#include <hmk/core/schedule.h>

#include "groups.h"
#include "pace.h"
#include "scan.h"
#include "session.h"
#include "sweep.h"

#define GROUPS_MOST	64u	/* a flush interrupts all CPUs of the process */

/* Samples, or pieces, in the order by rung. Those of a group lie next to each other. */
struct places {
	u32 all[HMK_LADDER_MAX];
	u32 first[HMK_LADDER_MAX];	/* where a rung begins */
	u32 taken[HMK_LADDER_MAX];	/* are in groups */
	u32 open[HMK_LADDER_MAX];	/* where the open group begins */
	u32 nr[HMK_LADDER_MAX];	/* of the open group */
};

struct watched {
	struct places samples, pieces;
};

static void places_begin(struct places *at)
{
	u32 i;

	for (i = 0; i < HMK_LADDER_MAX - 1; i++)
		at->first[i + 1] = at->first[i] + at->all[i];
}

static void places_take(struct places *at, u32 rung, u32 nr)
{
	at->open[rung] = at->first[rung] + at->taken[rung];
	at->taken[rung] += nr;
	at->nr[rung] = nr;
}

static void groups_count_pieces(struct hmk_profile *p, struct places *pieces)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 at = 0;

	xa_for_each(&p->dense.pieces.all, index, piece) {
		pieces->all[piece->rung] += piece->due;
		hmk_pause(++at);
	}
}

static void groups_count_samples(struct hmk_profile *p, struct places *samples)
{
	u32 i;

	for (i = 0; i < p->now.nr; i++) {
		hmk_pause(i);
		if (!(p->now.at[i].flags & HMK_REGION_STALE))
			samples->all[p->now.at[i].rung] += p->now.at[i].quota;
	}
}

/* How many of both each rung has, and how long a look at one takes, with all threads at it. */
static void groups_count(struct hmk_profile *p, struct hmk_schedule *plan, struct watched *all)
{
	const u32 threads = hmk_sweep_threads(p);
	u32 i;

	if (p->dense.on)
		groups_count_pieces(p, &all->pieces);
	if (!p->dense.whole)	/* else their counts are the pieces' */
		groups_count_samples(p, &all->samples);
	places_begin(&all->pieces);
	places_begin(&all->samples);
	for (i = 0; i < HMK_LADDER_MAX; i++) {
		u32 samples = all->samples.all[i], pieces = all->pieces.all[i];

		plan->left[i] = samples + pieces;
		plan->visit_ns[i] = p->cost.look_ns;
		if (pieces)
			plan->visit_ns[i] = div64_u64((u64)samples * p->cost.look_ns +
						      (u64)pieces * p->dense.piece_ns,
						      samples + pieces);
		plan->visit_ns[i] = DIV_ROUND_UP(plan->visit_ns[i], threads);
	}
}

/*
 * The place, among @all samples of a rung, of the one that comes as number @n: they are dealt
 * like cards, so that the samples of a region are in all parts. What cannot be paid for is in
 * the last: in each interval it is others. One part keeps the order of turns.
 */
static u32 groups_deal(const struct hmk_profile *p, u32 n, u32 all, u32 parts)
{
	u32 part;

	if (parts < 2)
		return n;
	n = (n + (u32)p->seq) % all;
	part = n % parts;
	return part * (all / parts) + min(part, all % parts) + n / parts;
}

/* As below, from the piece on whose turn it is: the last ones may be left over. */
static void groups_order_pieces(struct hmk_profile *p, const struct hmk_schedule *plan,
				const struct places *pieces)
{
	struct hmk_round round = hmk_round_from(&p->dense.pieces, p->dense.turn);
	u32 dealt[HMK_LADDER_MAX] = {}, i, at = 0;
	struct hmk_piece *piece;

	while ((piece = hmk_round_next(&round))) {
		hmk_pause(++at);
		if (!piece->due)
			continue;
		i = groups_deal(p, dealt[piece->rung]++, pieces->all[piece->rung],
				plan->parts[piece->rung]);
		p->dense.order[pieces->first[piece->rung] + i] = piece;
	}
}

/*
 * Samples by rung, those of a rung part by part: the sample in place n of that order is the
 * one at samples[n].turn.
 */
static void groups_order_samples(struct hmk_profile *p, const struct hmk_schedule *plan,
				 const struct places *samples)
{
	u32 dealt[HMK_LADDER_MAX] = {}, n, i, at = 0;

	for (n = 0; n < p->now.nr; n++) {
		const struct hmk_region *r = hmk_scan_region(p, n);
		u32 end = at + r->quota;

		hmk_pause(n);
		if (r->flags & HMK_REGION_STALE)
			continue;
		for (; at < end; at++) {
			i = groups_deal(p, dealt[r->rung]++, samples->all[r->rung],
					plan->parts[r->rung]);
			p->samples.at[samples->first[r->rung] + i].turn = at;
		}
	}
}

/* How many groups an eighth of the budget pays for. */
static u32 groups_most(const struct hmk_profile *p)
{
	return p->cost.group_ns ? min_t(u64, div64_u64(p->charge.budget_ns / 8, p->cost.group_ns),
					GROUPS_MOST) : 1;
}

static void groups_flush(struct hmk_session *s)
{
	struct hmk_profile *p = &s->prof;

	if (p->params.flush == HMK_FLUSH_ROUND)
		hmk_charge_flush(p, s->mm);
}

/* What a group costs beside its looks: its flush and its wake-ups; of late, or in this interval. */
static u64 groups_overhead_ns(struct hmk_profile *p)
{
	u64 watch_ns = hmk_charge_since(p, p->watch.began_ns), now_ns = p->charge.flush_cost_ns;
	u64 passes_ns = p->watch.passes_ns + p->watch.pieces_ns;

	if (p->watch.groups && watch_ns > passes_ns)
		now_ns = div64_u64(watch_ns - passes_ns, p->watch.groups);
	return max(now_ns, p->cost.group_ns);
}

/* Looks of this interval, by what they were planned to take and by what they took. */
static u64 groups_as_of_late(const struct hmk_profile *p, u64 planned_ns)
{
	const struct hmk_watch *w = &p->watch;
	u64 plan_ns = w->visits * p->cost.look_ns + w->pieces * p->dense.piece_ns;
	u64 took_ns = w->passes_ns + w->pieces_ns;

	if (!plan_ns || took_ns <= plan_ns)
		return planned_ns;
	return planned_ns / 256 * div64_u64(took_ns * 256, plan_ns);
}

/* Can the interval pay for another group, and for the reads that the open ones still need? */
static bool groups_afford(struct hmk_profile *p, const struct hmk_schedule *plan,
			  const struct hmk_step *step)
{
	u64 looks_ns = hmk_schedule_owed_ns(plan) + (u64)step->nr * plan->visit_ns[step->rung] *
						    (p->params.num_scans + 1);
	u64 cost_ns = groups_as_of_late(p, looks_ns * hmk_sweep_threads(p)) +
		      (plan->depth + 1) * groups_overhead_ns(p);

	if (p->watch.groups >= GROUPS_MOST)	/* what is free is samples, not flushes */
		return hmk_charge_used(p) + cost_ns < p->charge.stop_ns;
	return hmk_charge_affords(p, p->dense.whole ? U32_MAX : p->watch.begun, cost_ns);
}

/* What is left cannot be paid for. */
static void groups_give_up(struct hmk_profile *p, struct hmk_schedule *plan,
			   const struct places *samples)
{
	u32 i;

	for (i = 0; i < HMK_LADDER_MAX; i++)
		p->watch.unpaid += samples->all[i] - samples->taken[i];
	memset(plan->left, 0, sizeof(plan->left));
}

/* Clears or reads, and keeps account of what a look costs. What it did not come to is left. */
static void groups_scan(struct hmk_session *s, struct watched *at, u32 rung,
			const struct hmk_read *read)
{
	struct places *samples = &at->samples, *pieces = &at->pieces;
	struct hmk_profile *p = &s->prof;
	u64 begin = hmk_charge_used(p), between;

	if (samples->nr[rung])
		samples->nr[rung] = hmk_scan_group(s->mm, p, samples->open[rung],
						   samples->nr[rung], read);
	between = hmk_charge_used(p);
	p->watch.passes_ns += between > begin ? between - begin : 0;
	if (!pieces->nr[rung])
		return;
	pieces->nr[rung] = hmk_dense_group(s->mm, p, pieces->open[rung], pieces->nr[rung], read);
	p->watch.pieces_ns += hmk_charge_since(p, between);
}

static void groups_open(struct hmk_session *s, struct hmk_schedule *plan,
			const struct hmk_step *step, struct watched *at)
{
	struct places *samples = &at->samples, *pieces = &at->pieces;
	struct hmk_profile *p = &s->prof;
	const u32 rung = step->rung, taken = samples->taken[rung] + pieces->taken[rung];
	u64 began = ktime_get_ns();

	/* As many of both as they are of the rung. */
	places_take(pieces, rung,
		    div_u64((u64)pieces->all[rung] * (taken + step->nr),
			    pieces->all[rung] + samples->all[rung]) - pieces->taken[rung]);
	places_take(samples, rung, step->nr - pieces->nr[rung]);
	p->watch.begun += samples->nr[rung];
	groups_scan(s, at, rung, NULL);
	groups_flush(s);
	hmk_schedule_opened(plan, rung, step->nr, began, ktime_get_ns());
	p->watch.groups++;
}

/* What was not read in time, or could not be paid for, does not count. */
static void groups_read(struct hmk_session *s, struct hmk_schedule *plan, struct watched *at)
{
	struct hmk_profile *p = &s->prof;
	struct hmk_group *g = hmk_schedule_innermost(plan);
	const u32 rung = g->rung;
	u32 *samples = &at->samples.nr[rung], *pieces = &at->pieces.nr[rung];
	const u32 samples_before = *samples, pieces_before = *pieces;
	const struct hmk_read read = {
		.seen = rung + p->params.num_scans - g->reads,
		.last = g->reads + 1u == p->params.num_scans,
	};
	bool late;

	groups_scan(s, at, rung, &read);
	p->watch.unpaid += samples_before - *samples;
	g->nr = *samples + *pieces;	/* what is left of the group stands for all of it */
	late = hmk_schedule_read(plan, ktime_get_ns());
	if (late) {
		*samples = 0;
		*pieces = 0;
		p->watch.late_groups++;
		p->flags |= HMK_INTERVAL_LATE;
	}
	hmk_scan_forget(p, at->samples.open[rung] + *samples, samples_before - *samples);
	hmk_dense_forget(p, at->pieces.open[rung] + *pieces, pieces_before - *pieces, late);
}

/*
 * What is examined of huge pages has num_scans equal windows, each of which ends where no
 * read is due. Return: true when it was counted, false when now is not the time.
 */
static bool groups_count_huge(struct hmk_session *s, u64 until, u32 *round)
{
	struct hmk_profile *p = &s->prof;
	u64 due = p->start_ns + div_u64(p->windows.ladder.window_ns[0] * (*round + 1),
					p->params.num_scans);

	if (!p->huge.nr || *round == p->params.num_scans || due + p->huge.cost_ns > until ||
	    !hmk_sleep_until(due))
		return false;
	hmk_huge_count(s->mm, p);
	groups_flush(s);
	++*round;
	return true;
}

/**
 * hmk_groups_watch() - one interval's samples and pieces, from the first clear to the last read.
 * @s: samples are chosen; called by its interval thread.
 *
 * Samples that do not fit into the interval or its budget, and those of late groups, are not
 * counted: hmk_scan_settle(). Nor are pieces: hmk_dense_settle().
 *
 * Return: false when the clock was stopped.
 */
bool hmk_groups_watch(struct hmk_session *s)
{
	struct hmk_profile *p = &s->prof;
	struct hmk_schedule plan = {
		.ladder = &p->windows.ladder,
		.end_ns = p->start_ns + p->span_ns,
		.flush_ns = p->charge.flush_ns,
	};
	struct watched at = {};
	u32 round = 0;

	groups_count(p, &plan, &at);
	hmk_schedule_deal(&plan, ktime_get_ns(), groups_most(p));
	if (!p->dense.whole)
		groups_order_samples(p, &plan, &at.samples);
	if (p->dense.on)
		groups_order_pieces(p, &plan, &at.pieces);
	p->watch.began_ns = hmk_charge_used(p);	/* what goes over all regions is fixed work */
	for (;;) {
		struct hmk_step step = hmk_schedule_next(&plan, ktime_get_ns());

		if (!hmk_goes_on(s))
			return false;
		if (step.kind == HMK_STEP_OPEN && !groups_afford(p, &plan, &step))
			groups_give_up(p, &plan, &at.samples);
		else if (step.kind == HMK_STEP_OPEN)
			groups_open(s, &plan, &step, &at);
		else if (step.kind == HMK_STEP_READ)
			groups_read(s, &plan, &at);
		else if (groups_count_huge(s, step.kind == HMK_STEP_END ? U64_MAX : step.at_ns,
					   &round))
			continue;
		else if (step.kind == HMK_STEP_END)
			break;
		else if (!hmk_sleep_until(step.at_ns))
			return false;
	}
	p->watch.took_ns = hmk_charge_since(p, p->watch.began_ns);
	if (p->dense.on)
		hmk_dense_settle(p);
	hmk_scan_settle(p);
	return !kthread_should_stop();
}

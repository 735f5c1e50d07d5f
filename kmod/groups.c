// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples of an interval, or its pieces where every page is read (dense.h), in groups,
 * each with windows of its rung (core/schedule.h): cleared, flushed, read, in between waited
 * for. No lock is held while it waits.
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

#define GROUPS_MOST	64u	/* a flush interrupts all CPUs of the process */

/* In the order by rung: the first sample not watched yet, and the first of the open group. */
struct places {
	u32 first[HMK_LADDER_MAX];
	u32 open[HMK_LADDER_MAX];
};

static void groups_count_pieces(struct hmk_profile *p, struct hmk_schedule *plan)
{
	struct hmk_piece *piece;
	unsigned long index;

	xa_for_each(&p->dense.pieces, index, piece)
		hmk_pause(++plan->left[piece->rung]);
}

/* How many samples each rung has. */
static void groups_count(struct hmk_profile *p, struct hmk_schedule *plan)
{
	u32 i;

	if (p->dense.on) {
		groups_count_pieces(p, plan);
		return;
	}
	for (i = 0; i < p->now.nr; i++) {
		hmk_pause(i);
		if (!(p->now.at[i].flags & HMK_REGION_STALE))
			plan->left[p->now.at[i].rung] += p->now.at[i].quota;
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

/* How many pieces of each rung were dealt. */
struct dealt {
	u32 nr[HMK_LADDER_MAX];
};

static void groups_deal_pieces(struct hmk_profile *p, const struct hmk_schedule *plan,
			       const u32 *first, struct dealt *dealt, unsigned long from,
			       unsigned long to)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 i;

	xa_for_each_range(&p->dense.pieces, index, piece, from, to) {
		i = groups_deal(p, dealt->nr[piece->rung]++, plan->left[piece->rung],
				plan->parts[piece->rung]);
		p->dense.order[first[piece->rung] + i] = piece;
		hmk_pause(i);
	}
}

/* As below, from the piece on whose turn it is: the last ones may be left over. */
static void groups_order_pieces(struct hmk_profile *p, const struct hmk_schedule *plan,
				const u32 *first)
{
	const unsigned long turn = p->dense.turn;
	struct dealt dealt = {};

	groups_deal_pieces(p, plan, first, &dealt, turn, ULONG_MAX);
	if (turn)
		groups_deal_pieces(p, plan, first, &dealt, 0, turn - 1);
}

/*
 * Samples by rung, those of a rung part by part: the sample in place n of that order is the
 * one at samples[n].turn. @first[rung] is where a rung begins.
 */
static void groups_order(struct hmk_profile *p, const struct hmk_schedule *plan, u32 *first)
{
	u32 dealt[HMK_LADDER_MAX] = {}, n, i, at = 0;

	for (i = 0, first[0] = 0; i < HMK_LADDER_MAX - 1; i++)
		first[i + 1] = first[i] + plan->left[i];
	if (p->dense.on) {
		groups_order_pieces(p, plan, first);
		return;
	}
	for (n = 0; n < p->now.nr; n++) {
		const struct hmk_region *r = hmk_scan_region(p, n);
		u32 end = at + r->quota;

		hmk_pause(n);
		if (r->flags & HMK_REGION_STALE)
			continue;
		for (; at < end; at++) {
			i = groups_deal(p, dealt[r->rung]++, plan->left[r->rung],
					plan->parts[r->rung]);
			p->samples.at[first[r->rung] + i].turn = at;
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

/* What a look costs: at a sample, or at a piece. */
static u32 groups_look_ns(const struct hmk_profile *p)
{
	return p->dense.on ? p->dense.piece_ns : p->cost.look_ns;
}

/* What a group costs beside its looks: its flush and its wake-ups; of late, or in this interval. */
static u64 groups_overhead_ns(struct hmk_profile *p)
{
	u64 watch_ns = hmk_charge_since(p, p->watch.began_ns), now_ns = p->charge.flush_cost_ns;

	if (p->watch.groups && watch_ns > p->watch.passes_ns)
		now_ns = div64_u64(watch_ns - p->watch.passes_ns, p->watch.groups);
	return max(now_ns, p->cost.group_ns);
}

/* Can the interval pay for another group, and for the reads that the open ones still need? */
static bool groups_afford(struct hmk_profile *p, const struct hmk_schedule *plan,
			  const struct hmk_step *step)
{
	u64 looks = hmk_schedule_owed(plan) + (u64)step->nr * (p->params.num_scans + 1);
	u64 cost_ns = 0;	/* of a look, of late */

	if (p->watch.visits)
		cost_ns = div64_u64(p->watch.passes_ns, p->watch.visits);
	cost_ns = looks * max_t(u64, cost_ns, groups_look_ns(p)) +
		  (plan->depth + 1) * groups_overhead_ns(p);
	if (p->watch.groups >= GROUPS_MOST)	/* what is free is samples, not flushes */
		return hmk_charge_used(p) + cost_ns < p->charge.stop_ns;
	return hmk_charge_affords(p, p->dense.on ? U32_MAX : p->watch.begun, cost_ns);
}

/* What is left of the samples cannot be paid for. */
static void groups_give_up(struct hmk_profile *p, struct hmk_schedule *plan)
{
	u32 i;

	for (i = 0; i < HMK_LADDER_MAX; i++)
		p->watch.unpaid += plan->left[i];
	memset(plan->left, 0, sizeof(plan->left));
}

/* Clears or reads, and keeps account of what a look costs. Return: how many it came to. */
static u32 groups_scan(struct hmk_session *s, u32 group, u32 nr,
		       const struct hmk_read *read)
{
	u64 begin = hmk_charge_used(&s->prof);
	u32 done = s->prof.dense.on ? hmk_dense_group(s->mm, &s->prof, group, nr, read)
				    : hmk_scan_group(s->mm, &s->prof, group, nr, read);

	s->prof.watch.passes_ns += hmk_charge_since(&s->prof, begin);
	return done;
}

static void groups_forget(struct hmk_profile *p, u32 group, u32 nr)
{
	if (p->dense.on)
		hmk_dense_forget(p, group, nr);
	else
		hmk_scan_forget(p, group, nr);
}

static void groups_open(struct hmk_session *s, struct hmk_schedule *plan,
			const struct hmk_step *step, struct places *at)
{
	struct hmk_profile *p = &s->prof;
	u64 began = ktime_get_ns();

	at->open[step->rung] = at->first[step->rung];
	at->first[step->rung] += step->nr;
	groups_scan(s, at->open[step->rung], step->nr, NULL);
	groups_flush(s);
	hmk_schedule_opened(plan, step->rung, step->nr, began, ktime_get_ns());
	p->watch.begun += step->nr;
	p->watch.groups++;
}

static void groups_read(struct hmk_session *s, struct hmk_schedule *plan, const struct places *at)
{
	struct hmk_profile *p = &s->prof;
	struct hmk_group *g = hmk_schedule_innermost(plan);
	const u32 group = at->open[g->rung];
	const struct hmk_read read = {
		.seen = g->rung + p->params.num_scans - g->reads,
		.last = g->reads + 1u == p->params.num_scans,
	};
	u32 done = groups_scan(s, group, g->nr, &read);

	/* By their place, whatever was seen: what is left of the group stands for all of it. */
	groups_forget(p, group + done, g->nr - done);
	p->watch.unpaid += g->nr - done;
	g->nr = done;
	if (hmk_schedule_read(plan, ktime_get_ns())) {
		groups_forget(p, group, done);
		p->watch.late_groups++;
		p->flags |= HMK_INTERVAL_LATE;
	}
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
 * hmk_groups_watch() - one interval's samples, from the first clear to the last read.
 * @s: samples are chosen; called by its interval thread.
 *
 * Samples that do not fit into the interval or its budget, and those of late groups, are not
 * counted: hmk_scan_settle().
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
		.visit_ns = groups_look_ns(p),
	};
	struct places at;
	u32 round = 0;

	groups_count(p, &plan);
	hmk_schedule_deal(&plan, ktime_get_ns(), groups_most(p));
	groups_order(p, &plan, at.first);
	p->watch.began_ns = hmk_charge_used(p);	/* what goes over all regions is fixed work */
	for (;;) {
		struct hmk_step step = hmk_schedule_next(&plan, ktime_get_ns());

		if (!hmk_goes_on(s))
			return false;
		if (step.kind == HMK_STEP_OPEN && !groups_afford(p, &plan, &step))
			groups_give_up(p, &plan);
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

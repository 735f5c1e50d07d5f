// SPDX-License-Identifier: GPL-2.0-only
/* One interval, read top to bottom; a thread per session repeats it. */
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/timekeeping.h>
#include <hmk/core/budget.h>
#include <hmk/core/hotness.h>
#include <hmk/core/region.h>
#include <hmk/core/residency.h>

#include "adapt.h"
#include "groups.h"
#include "pace.h"
#include "scan.h"
#include "session.h"
#include "trace.h"
#include "windows.h"

#define TAIL_PARTS	16u	/* the last round ends 1/16 before the interval (HK-11) */

/* The old regions, trimmed to what is there and joined by what is new. No more room than that. */
static int refresh_regions(struct hmk_profile *p)
{
	const u32 generation = ++p->adapt.generation;
	struct hmk_refresh_result res;
	int err = 0;

	do {
		p->next.nr = hmk_regions_refresh(p->now.at, p->now.nr, p->spans, p->nr_spans,
						 p->next.at, p->next.cap, generation, &res);
		if (res.truncated)
			err = hmk_regions_reserve(&p->next, res.needed);
	} while (res.truncated && !err);
	if (err)
		return err;
	p->adapt.changed = res.added || res.dropped || res.clipped;
	swap(p->now, p->next);
	return 0;
}

static u32 interval_pass(struct mm_struct *mm, struct hmk_session *s, enum hmk_pass kind, u32 later)
{
	struct hmk_profile *p = &s->prof;
	u64 begin = hmk_charge_used(p);
	u32 seen = hmk_scan_pass(mm, p, kind, later);

	p->watch.passes_ns += hmk_charge_since(p, begin);
	if (kind == HMK_PASS_COUNT)
		hmk_huge_count(mm, p);
	/* Costs the same for one sample as for all: part of the fixed work. */
	if (p->params.flush == HMK_FLUSH_ROUND)
		hmk_charge_flush(p, mm);
	return seen;
}

/* Discover, count, choose and clear: what happens when an interval begins. */
static int interval_begin(struct hmk_session *s, struct mm_struct *mm)
{
	struct hmk_profile *p = &s->prof;
	int err = hmk_discover(mm, p);

	if (!err)
		err = refresh_regions(p);
	if (err)
		return err;
	hmk_touched_take(s);
	hmk_huge_judge(s, mm);
	hmk_census(s, mm);
	hmk_huge_examine(mm, p);	/* before samples are chosen: they see its leaves */
	hmk_windows_place(p);
	hmk_dense_begin(p, mm);
	err = hmk_plan_samples(p);
	if (err)
		return err;
	hmk_scan_choose(mm, p);
	return 0;
}

/* Clear now, then count at the end of each of num_scans equal windows. */
static bool interval_rounds(struct hmk_session *s, u32 *scans)
{
	struct hmk_profile *p = &s->prof;
	u64 window = p->windows.ladder.window_ns[0];
	u32 round;

	interval_pass(s->mm, s, HMK_PASS_CLEAR, p->params.num_scans);
	for (round = 1; round <= p->params.num_scans; round++) {
		if (!hmk_sleep_until(p->start_ns + window * round))
			return false;
		if (round > 1 && ktime_get_ns() > p->start_ns + p->params.interval_ns) {
			p->flags |= HMK_INTERVAL_LATE;
			break;
		}
		if (!hmk_goes_on(s))
			return false;
		*scans += interval_pass(s->mm, s, HMK_PASS_COUNT, p->params.num_scans - round);
	}
	return true;
}

/* By node, of those that are known. */
static void interval_resident(const struct hmk_profile *p, u64 *pages)
{
	u32 i;

	for (i = 0; i < p->now.nr; i++) {
		const struct hmk_region *r = &p->now.at[i];

		if (r->node >= 0)
			pages[r->node] += r->resident_pages - r->away_pages;
		if (r->away_pages && r->away_node >= 0)
			pages[r->away_node] += r->away_pages;
		hmk_pause(i);
	}
}

static void interval_account(struct hmk_session *s, const struct hmk_interval *iv, u32 scans)
{
	struct hmk_profile *p = &s->prof;
	struct hmk_stats *st = &s->stats;
	u64 table = hmk_table_bytes(s), resident[HMK_MAX_NODES] = {};

	interval_resident(p, resident);
	spin_lock(&s->stats_lock);
	st->intervals++;
	st->profile_ns += iv->profile_ns;
	st->wall_ns += iv->end_ns - iv->start_ns;
	st->scans += scans;
	st->flushes += p->charge.flushes;
	st->flush_ns += p->charge.flushed_ns;
	st->groups += p->watch.groups;
	st->late_groups += p->watch.late_groups;
	st->regions = p->now.nr;
	st->samples = p->samples.nr;
	st->merges += p->adapt.merges;
	st->splits += p->adapt.splits;
	st->quota_moves += p->adapt.quota_moves;
	st->late_intervals += !!(iv->flags & HMK_INTERVAL_LATE);
	st->degraded_intervals += !!(iv->flags & HMK_INTERVAL_DEGRADED);
	st->state_bytes = sizeof(*s) + table +
		(u64)(p->now.cap + p->next.cap) * sizeof(struct hmk_region) +
		(u64)p->spans_cap * sizeof(struct hmk_span) +
		(u64)p->samples.cap * sizeof(struct hmk_sample) + hmk_dense_bytes(&p->dense);
	memcpy(st->resident_pages, resident, sizeof(resident));
	spin_unlock(&s->stats_lock);
}

/* What the samples say, slice by slice: nobody who waits for this CPU waits for all regions. */
static void interval_judge(struct hmk_profile *p)
{
	const struct hmk_sample *samples = p->samples.at;
	u32 i, nr;

	for (i = 0; i < p->now.nr; i += nr) {
		struct hmk_region *r = &p->now.at[i];

		nr = min(HMK_CORE_SLICE, p->now.nr - i);
		hmk_hotness_gather(r, nr, samples);
		samples = hmk_residency_guess(r, nr, samples);
		if (hmk_ladder_climbs(&p->windows.ladder))
			hmk_ladder_judge(&p->windows.ladder, &p->windows.crowd, r, nr);
		else
			hmk_hotness_judge(r, nr, p->params.alpha_q16);
		cond_resched();
	}
	if (hmk_ladder_climbs(&p->windows.ladder))
		hmk_crowd_take(&p->windows.crowd, &p->windows.ladder);
	hmk_dense_judge_regions(p);
}

static void interval_finish(struct hmk_session *s, u32 scans)
{
	struct hmk_profile *p = &s->prof;
	struct hmk_interval iv = {
		.seq = ++p->seq,
		.start_ns = p->start_ns,
		.end_ns = ktime_get_ns(),
		.profile_ns = hmk_charge_end(p),
		.budget_ns = p->charge.budget_ns,
		.nr_samples = p->samples.nr,
		.num_ps = p->adapt.num_ps,
		.num_scans = p->params.num_scans,
		.tau1_q16 = p->adapt.tau1_q16,
		.merges = p->adapt.merges,
		.splits = p->adapt.splits,
		.scan_cost_ns = p->cost.look_ns,
		.hotness_max = p->windows.ladder.nr,
		.flags = p->flags,
	};

	hmk_cost_track(p, iv.profile_ns);
	hmk_scan_arrange(p);
	interval_judge(p);
	hmk_publish(s, &iv);
	hmk_events_interval(&s->events, iv.seq);
	trace_hmk_interval(&iv, p);
	hmk_adapt(p);
	interval_account(s, &iv, scans);
}

/* What SET has changed since the last interval. */
static void interval_params(struct hmk_session *s)
{
	struct hmk_profile *p = &s->prof;
	u64 seed = p->params.seed;

	mutex_lock(&s->lock);
	p->params = s->params;
	mutex_unlock(&s->lock);
	if (p->params.seed && p->params.seed != seed)
		p->rng = p->params.seed;
	if (p->params.scan_cost_ns)
		p->cost.look_ns = p->params.scan_cost_ns;
	if (p->params.scan_cost_ns || !p->cost.sample_ns)
		p->cost.sample_ns = p->cost.look_ns * (p->params.num_scans + 1);
}

/* From the first clear to the last look. Return: false when the clock was stopped. */
static bool interval_watch(struct hmk_session *s, u32 *scans)
{
	struct hmk_profile *p = &s->prof;
	bool go_on;

	if (!hmk_ladder_climbs(&p->windows.ladder))
		return interval_rounds(s, scans);
	go_on = hmk_groups_watch(s);
	*scans = p->watch.visits + p->watch.pieces * HMK_DENSE_PAGES;
	return go_on;
}

/* From the first clear to the last read, of an interval as long as @p says now. */
static u64 interval_span_ns(const struct hmk_profile *p)
{
	return p->params.interval_ns - p->params.interval_ns / TAIL_PARTS;
}

/* Return: false when the clock was stopped, by the caller or as hmk_goes_on() tells. */
static bool one_interval(struct hmk_session *s)
{
	struct hmk_profile *p = &s->prof;
	u64 tail;
	u32 scans = 0;

	interval_params(s);
	p->start_ns = ktime_get_ns();
	p->watch = (struct hmk_watch){};
	hmk_windows_set(p, interval_span_ns(p));	/* as asked for */
	hmk_charge_begin(p);
	p->flags = 0;
	p->hold.longest = 0;
	p->span_ns = interval_span_ns(p);
	tail = p->params.interval_ns - p->span_ns;

	if (!hmk_goes_on(s))
		return false;
	if (interval_begin(s, s->mm))
		hmk_scan_cut(p, 0);	/* no memory: this interval shows nothing */
	if (!interval_watch(s, &scans) ||
	    !hmk_sleep_until(p->start_ns + p->params.interval_ns - tail / 2) ||
	    !hmk_goes_on(s))
		return false;
	interval_finish(s, scans);
	return hmk_sleep_until(p->start_ns + p->params.interval_ns);
}

/* A new thread learns the cost of a scan from its first interval. */
#define FIRST_SCAN_COST_NS	2000u

int hmk_interval_thread(void *session)
{
	struct hmk_session *s = session;
	struct hmk_profile *p = &s->prof;

	p->params.seed = 0;	/* one that is given begins anew */
	p->rng = get_random_u64();
	p->cost.look_ns = FIRST_SCAN_COST_NS;
	p->cost.sample_ns = 0;
	p->huge.nr = 0;	/* what an earlier thread began is too old to judge */
	hmk_charge_start(p);
	while (one_interval(s))
		;
	hmk_charge_stop(p);
	/* kthread_stop() waits for a thread that has ended by itself, too. */
	while (!kthread_should_stop()) {
		set_current_state(TASK_IDLE);
		if (!kthread_should_stop())
			schedule();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

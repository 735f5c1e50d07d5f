// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of the regions between two intervals: those whose samples differ
 * are split, neighbours that are alike merge, and the samples go where they tell
 * most (HK-12 .. HK-24). The rules are the core's; this file owns the arrays.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <hmk/core/budget.h>
#include <hmk/core/divide.h>
#include <hmk/core/quota.h>
#include <hmk/core/region.h>

#include "session.h"
#include "trace.h"
#include "turns.h"

#define FIRST_SAMPLES	2u	/* of each region in the first interval, at most */
#define DENSE_PARTS	16u	/* of the budget: for choosing samples where every page is read */

/**
 * hmk_regions_reserve() - make room in an array, keeping what it holds.
 * @a:    grows by a sixteenth more than asked.
 * @want: regions it must be able to hold.
 *
 * Return: 0 or -ENOMEM, and then it is as it was.
 */
int hmk_regions_reserve(struct hmk_region_array *a, u32 want)
{
	struct hmk_region *more;

	if (want <= a->cap)
		return 0;
	want += want / 16;
	more = kvmalloc_array(want, sizeof(*more), GFP_KERNEL);
	if (!more)
		return -ENOMEM;
	if (a->nr)
		memcpy(more, a->at, a->nr * sizeof(*more));
	kvfree(a->at);
	a->at = more;
	a->cap = want;
	return 0;
}

/**
 * hmk_regions_cut() - cut regions at given addresses.
 * @p:  regions refreshed, quotas not yet planned; @p->cuts: page addresses, strictly rising.
 * @nr: number of them.
 *
 * Without memory for the longer array the regions stay whole: only less sharp.
 */
void hmk_regions_cut(struct hmk_profile *p, u32 nr)
{
	if (hmk_regions_reserve(&p->next, p->now.nr + nr))
		return;
	p->next.nr = hmk_regions_divide(p->now.at, p->now.nr, p->cuts, nr, p->next.at, p->next.cap,
					++p->adapt.generation);
	p->adapt.changed |= p->next.nr != p->now.nr;
	swap(p->now, p->next);
}

static u32 adapt_num_samples(const struct hmk_profile *p)
{
	const struct hmk_params *params = &p->params;
	u32 cost_ns = min_t(u64, (u64)p->cost.sample_ns + p->cost.choice_ns, U32_MAX);

	if (params->switches & HMK_SWITCH_NO_BUDGET)
		return max(p->now.nr, 1u) * HMK_CORE_MAX_QUOTA;
	if (p->dense.whole)	/* they are chosen, not looked at, and only guide the regions */
		return hmk_budget_plan(p->charge.budget_ns / DENSE_PARTS, HMK_BUDGET_AIM_PERCENT,
				       max(p->cost.choice_ns, 1u), 0, 0);
	return hmk_budget_plan(p->charge.budget_ns, HMK_BUDGET_AIM_PERCENT, cost_ns, 0,
			       hmk_charge_fixed(p) + hmk_turns_cost_ns(p));
}

/* The ablation: one sample each, the rest wherever chance puts it. */
static void adapt_assign_at_random(struct hmk_profile *p)
{
	u32 i, left;

	for (i = 0; i < p->now.nr; hmk_pause(++i))
		p->now.at[i].quota = 1;
	left = p->adapt.num_ps > p->now.nr ? p->adapt.num_ps - p->now.nr : 0;
	left = min_t(u64, left, (u64)p->now.nr * HMK_CORE_MAX_QUOTA);
	for (; left; left--) {
		struct hmk_region *r = &p->now.at[hmk_random(p) % p->now.nr];

		hmk_pause(left);
		if (r->quota < hmk_quota_cap(r))
			r->quota++;
	}
}

static void adapt_assign(struct hmk_profile *p, u64 freed)
{
	const struct hmk_quota_rule rule = {
		.num_ps = p->adapt.num_ps,
		.top_k = p->params.top_k,
		.scout_bp = p->params.scout_bp,
		.by_size = hmk_ladder_climbs(&p->windows.ladder),
	};
	struct hmk_quota_result res;

	p->adapt.quota_moves = 0;
	if (!p->now.nr)
		return;
	if (p->params.switches & HMK_SWITCH_RANDOM_SAMPLES) {
		adapt_assign_at_random(p);
		return;
	}
	hmk_quota_assign(p->now.at, p->now.nr, freed, &rule, &p->adapt.quota, &res);
	p->adapt.quota_moves = res.moved;
}

static int adapt_reserve_samples(struct hmk_profile *p, u64 nr)
{
	if (nr <= p->samples.cap)
		return 0;
	kvfree(p->samples.at);
	p->samples.cap = 0;
	p->samples.at = kvmalloc_array(nr, sizeof(*p->samples.at), GFP_KERNEL);
	if (!p->samples.at)
		return -ENOMEM;
	p->samples.cap = nr;
	return 0;
}

/*
 * What a sample costs is known for as many as there were: a read of many finds its caches
 * cold. At first it is not known at all: better all regions than half.
 */
static u32 adapt_most_samples(const struct hmk_profile *p)
{
	u32 first = FIRST_SAMPLES * max(p->now.nr, 1u);

	if (p->params.scan_cost_ns || p->params.switches & HMK_SWITCH_NO_BUDGET)
		return U32_MAX;
	if (!p->seq)
		return first;
	return hmk_ladder_climbs(&p->windows.ladder) ? max(2 * p->samples.nr, first) : U32_MAX;
}

/* The longest windows have one group, whatever the budget pays for. */
static void adapt_fit(struct hmk_profile *p)
{
	const struct hmk_ladder *l = &p->windows.ladder;
	u32 most = hmk_ladder_group(l, 0, p->charge.flush_ns, p->cost.look_ns);

	if (hmk_ladder_climbs(l) && p->adapt.num_ps > most)
		hmk_quota_fit(p->now.at, p->now.nr, most);
}

/**
 * hmk_plan_samples() - how many samples this interval has, and whose they are.
 * @p: regions refreshed, with their rungs.
 *
 * Return: 0, or -ENOMEM when there is no room for the samples.
 */
int hmk_plan_samples(struct hmk_profile *p)
{
	u64 total;

	p->adapt.num_ps = min(adapt_num_samples(p), adapt_most_samples(p));
	if (p->adapt.changed)
		adapt_assign(p, 0);
	adapt_fit(p);
	total = hmk_quota_take_turns(p->now.at, p->now.nr, p->adapt.num_ps, &p->adapt.quota);
	if (total < hmk_quota_sum(p->now.at, p->now.nr))
		p->flags |= HMK_INTERVAL_DEGRADED;
	return adapt_reserve_samples(p, total);
}

/*
 * Without memory for the longer array nothing is split: it is only less sharp. Where every page
 * is read classes tell more than borders, of which each takes records.
 */
static void adapt_split(struct hmk_profile *p)
{
	const struct hmk_split_rule rule = {
		p->adapt.tau.tau2_q16, p->params.alpha_q16, ++p->adapt.generation,
		&p->windows.ladder,
	};
	struct hmk_split_result res;

	if (p->dense.whole || !hmk_budget_may_split(p->adapt.tau1_q16, &p->adapt.tau) ||
	    hmk_regions_reserve(&p->next, hmk_regions_split_room(p->now.at, p->now.nr, &rule)))
		return;
	p->next.nr = hmk_regions_split(p->now.at, p->now.nr, p->samples.at, p->next.at,
				       p->next.cap, &rule, &res);
	swap(p->now, p->next);
	p->adapt.splits = res.splits;
	if (trace_hmk_split_enabled()) {
		u32 i;

		for (i = 0; i < p->now.nr; i++)
			if (p->now.at[i].flags & HMK_REGION_JUST_SPLIT)
				trace_hmk_split(&p->now.at[i]);
	}
}

static void adapt_trace_merges(const struct hmk_profile *p, u32 generation)
{
	u32 i;

	for (i = 0; trace_hmk_merge_enabled() && i < p->now.nr; i++)
		if (p->now.at[i].generation == generation)
			trace_hmk_merge(&p->now.at[i]);
}

/* With a ladder a region is no larger than its samples cover: they cut out what is odd. */
static u64 adapt_max_region(const struct hmk_profile *p)
{
	u64 bytes = 0;
	u32 i;

	if (!hmk_ladder_climbs(&p->windows.ladder))
		return p->params.max_region;
	for (i = 0; i < p->nr_spans; i++)
		bytes += p->spans[i].end - p->spans[i].start;
	return hmk_quota_max_region(bytes, p->adapt.num_ps, p->params.max_region);
}

/**
 * hmk_adapt() - split, merge, spread the samples, move tau1 (spec 1.4, 4 and 5).
 * @p: judged and published.
 */
void hmk_adapt(struct hmk_profile *p)
{
	const struct hmk_params *params = &p->params;
	struct hmk_merge_result merged = { .merges = 0 };

	p->adapt.merges = 0;
	p->adapt.splits = 0;
	if (!(params->switches & HMK_SWITCH_FIXED_REGIONS)) {
		const struct hmk_merge_rule rule = {
			adapt_max_region(p), p->adapt.tau1_q16, ++p->adapt.generation,
		};

		adapt_split(p);
		p->now.nr = hmk_regions_merge(p->now.at, p->now.nr, &rule, &merged);
		p->adapt.merges = merged.merges;
		adapt_trace_merges(p, rule.generation);
	}
	adapt_assign(p, merged.freed_quota);
	p->adapt.tau1_q16 = hmk_budget_next_tau1(p->adapt.tau1_q16, &p->adapt.tau, p->now.at,
						 p->now.nr, p->adapt.num_ps);
}

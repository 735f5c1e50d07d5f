// SPDX-License-Identifier: GPL-2.0-only
/* What work costs, by moving averages: the next interval is planned with them. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <hmk/core/budget.h>

#include "session.h"

/* The first interval judges nothing that came before it: the second is the first whole one. */
static bool cost_is_early(const struct hmk_profile *p)
{
	return p->seq <= 2;
}

static void cost_track_fixed(struct hmk_profile *p, u64 fixed_ns)
{
	if (cost_is_early(p))
		p->cost.fixed = (struct hmk_budget_cost){};
	hmk_budget_track_cost(&p->cost.fixed, fixed_ns);
}

/*
 * Where some could not be paid for, the plan was made with too little. (The dearest are the
 * last to begin, so that the average of the others does not tell.)
 */
static u32 cost_of_sample(const struct hmk_watch *w, u32 before_ns)
{
	u32 paid = w->chosen > w->unpaid ? w->chosen - w->unpaid : 1;
	u64 cost_ns = div_u64(w->took_ns - min(w->took_ns, w->pieces_ns), w->begun);

	if (w->unpaid)
		cost_ns = max(cost_ns, div_u64((u64)before_ns * w->chosen, paid));
	return min_t(u64, cost_ns, U32_MAX);
}

/* Up at once: what is too dear must not go on for the sake of an average. */
static void cost_track_pieces(struct hmk_profile *p, u64 piece_ns)
{
	p->dense.piece_ns = min_t(u64, U32_MAX, max_t(u64, piece_ns,
						      hmk_budget_track_fixed(p->dense.piece_ns,
									     piece_ns)));
	p->dense.seen_ns = p->dense.piece_ns;
}

/* Samples were chosen, and nothing was looked at: what it cost of late may be why. */
static void cost_forget(struct hmk_profile *p)
{
	p->charge.flush_ns = hmk_budget_forget(p->charge.flush_ns);
	p->charge.flush_cost_ns = hmk_budget_forget(p->charge.flush_cost_ns);
	p->cost.group_ns = hmk_budget_forget(p->cost.group_ns);
	if (!p->params.scan_cost_ns)
		p->cost.look_ns = (u32)hmk_budget_forget(p->cost.look_ns);
}

/**
 * hmk_cost_track() - learn from an interval what looks and samples cost, and all beside them.
 * @p:          its samples are read.
 * @profile_ns: CPU time it took.
 */
void hmk_cost_track(struct hmk_profile *p, u64 profile_ns)
{
	const struct hmk_watch *w = &p->watch;
	const bool climbs = hmk_ladder_climbs(&p->windows.ladder);
	u64 census_ns = min(w->census_ns, p->charge.budget_ns / HMK_CENSUS_PARTS);
	u64 samples_ns = (climbs ? w->took_ns : w->passes_ns) + w->choice_ns + census_ns;
	struct hmk_costs *cost = &p->cost;

	cost_track_fixed(p, profile_ns > samples_ns ? profile_ns - samples_ns : 0);
	if (w->chosen && !w->visits && !w->pieces)
		cost_forget(p);
	if (w->chosen)
		cost->choice_ns = hmk_budget_track(cost->choice_ns,
						   div_u64(w->choice_ns, w->chosen));
	if (w->groups && w->took_ns > w->passes_ns + w->pieces_ns)
		cost->group_ns =
			hmk_budget_track_fixed(cost->group_ns,
					       div_u64(w->took_ns - w->passes_ns - w->pieces_ns,
						       w->groups));
	if (w->pieces)
		cost_track_pieces(p, div64_u64(w->pieces_ns, w->pieces));
	if (p->params.scan_cost_ns || p->dense.whole)
		return;
	if (w->visits)
		cost->look_ns = hmk_budget_track(cost->look_ns,
						 div64_u64(w->passes_ns, w->visits));
	if (!climbs)
		cost->sample_ns = cost->look_ns * (p->params.num_scans + 1);
	else if (w->begun)
		cost->sample_ns = hmk_budget_track(cost_is_early(p) ? 0 : cost->sample_ns,
						   cost_of_sample(w, cost->sample_ns));
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which windows an interval has: a ladder of them, or equal ones (HMK_SWITCH_EQUAL_WINDOWS).
 * Hotness counts windows, so it is told as a rate, too, and kept by its rate when they change.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <hmk/core/ladder.h>
#include <hmk/core/rate.h>
#include <hmk/core/region.h>

#include "session.h"
#include "windows.h"

/**
 * hmk_windows_convert() - the same rate, counted in this interval's windows.
 * @p:           the profile.
 * @hotness_q16: counted in those of @p->windows.before.
 *
 * Return: hotness as regions have it.
 */
u32 hmk_windows_convert(const struct hmk_profile *p, u32 hotness_q16)
{
	return hmk_ladder_hotness_q16(&p->windows.ladder,
				      hmk_ladder_rate_q8(&p->windows.before, hotness_q16));
}

static void windows_convert_regions(struct hmk_profile *p)
{
	const u32 top = hmk_ladder_top(&p->windows.ladder);
	u32 i;

	for (i = 0; i < p->now.nr; i++) {
		struct hmk_region *r = &p->now.at[i];

		r->hi_q16 = hmk_windows_convert(p, r->hi_q16);
		r->prev_hi_q16 = hmk_windows_convert(p, r->prev_hi_q16);
		r->whi_q16 = hmk_windows_convert(p, r->whi_q16);
		r->rung = min_t(u32, r->rung, top);
		hmk_region_clear(r, HMK_REGION_BEYOND | HMK_REGION_RISING | HMK_REGION_FALLING |
				    HMK_REGION_AGAIN | HMK_REGION_ODD);
		hmk_pause(i);
	}
}

static void windows_make(struct hmk_profile *p, u64 span_ns)
{
	const u32 num_scans = p->params.num_scans;
	const bool equal = p->params.switches & HMK_SWITCH_EQUAL_WINDOWS;
	const u64 longest = equal ? div_u64(span_ns, num_scans) : span_ns;
	struct hmk_ladder *now = &p->windows.ladder;
	const bool first = !now->nr;

	if (!first && now->num_scans == num_scans && now->window_ns[0] == longest &&
	    !hmk_ladder_climbs(now) == equal)
		return;
	p->windows.before = *now;
	if (equal)
		hmk_ladder_make_equal(now, longest, num_scans);
	else
		hmk_ladder_make(now, longest, num_scans);
	if (first)
		return;
	p->windows.crowd = (struct hmk_crowd){};
	p->huge.nr = 0;		/* counted in the windows of before */
	hmk_dense_reset(p);
	windows_convert_regions(p);
}

/**
 * hmk_windows_set() - the windows of the interval that begins.
 * @p:       its parameters are those of the interval.
 * @span_ns: from the first clear to the last read.
 */
void hmk_windows_set(struct hmk_profile *p, u64 span_ns)
{
	const struct hmk_params *params = &p->params;
	struct hmk_adapted *adapt = &p->adapt;

	windows_make(p, span_ns);
	adapt->tau = hmk_ladder_tau_rule(&p->windows.ladder, params->tau1_q16, params->tau2_q16,
					 params->tau_step_q16);
	adapt->tau1_q16 = clamp(adapt->tau1_q16, adapt->tau.base_q16, adapt->tau.limit_q16);
}

/**
 * hmk_windows_convert_equal() - from now on hmk_windows_convert() takes counts of equal windows.
 * @p: the profile; its ladder climbs.
 */
void hmk_windows_convert_equal(struct hmk_profile *p)
{
	hmk_ladder_make_equal(&p->windows.before,
			      div_u64(p->windows.ladder.window_ns[0], p->params.num_scans),
			      p->params.num_scans);
}

/**
 * hmk_windows_place() - say on which rung of the ladder new regions are watched.
 * @p: the regions of this interval.
 */
void hmk_windows_place(struct hmk_profile *p)
{
	u32 i, nr;

	for (i = 0; hmk_ladder_climbs(&p->windows.ladder) && i < p->now.nr; i += nr) {
		nr = min(HMK_CORE_SLICE, p->now.nr - i);
		hmk_ladder_place(&p->windows.ladder, &p->windows.crowd, &p->now.at[i], nr);
		cond_resched();
	}
}

/**
 * hmk_windows_tell() - hotness and rate of a region, as user space sees them.
 * @p:   judged.
 * @r:   one of its regions.
 * @rec: its record.
 */
void hmk_windows_tell(const struct hmk_profile *p, const struct hmk_region *r,
		      struct hmk_record *rec)
{
	const u32 alpha = p->params.alpha_q16;
	/* Equal windows: an EMA remembers 2 / alpha - 1 intervals. */
	u32 samples_q4 = (u64)r->quota * 16 * (2 * HMK_CORE_Q16_ONE - alpha) / alpha;

	rec->hi_q16 = r->hi_q16;
	rec->whi_q16 = r->whi_q16;
	if (hmk_ladder_climbs(&p->windows.ladder)) {
		samples_q4 = r->trust + p->windows.crowd.kappa;
		if (r->whi_q16)	/* nobody has seen an access: nothing to pull up */
			rec->whi_q16 = hmk_crowd_shrink_q16(&p->windows.crowd, r);
	}
	rec->rate_q8 = hmk_ladder_rate_q8(&p->windows.ladder, rec->whi_q16);
	rec->rate_dev_q8 = hmk_rate_dev_q8(&p->windows.ladder, rec->whi_q16, samples_q4);
}

/**
 * hmk_windows_tell_class() - hotness and rate of the pages of one class.
 * @p:           judged.
 * @hotness_q16: their mean; a page's own looks are what is known of it.
 * @rec:         their record.
 */
void hmk_windows_tell_class(const struct hmk_profile *p, u32 hotness_q16, struct hmk_record *rec)
{
	rec->hi_q16 = hotness_q16;
	rec->whi_q16 = hotness_q16;
	rec->rate_q8 = hmk_ladder_rate_q8(&p->windows.ladder, hotness_q16);
	rec->rate_dev_q8 = hmk_rate_dev_q8(&p->windows.ladder, hotness_q16, 16 * HMK_DENSE_AGE);
}

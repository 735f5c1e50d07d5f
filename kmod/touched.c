// SPDX-License-Identifier: GPL-2.0-only
/*
 * What moves have touched since the last interval: the movers note it, the
 * interval thread cuts its regions there and has them counted again.
 */
#include <linux/minmax.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <hmk/core/divide.h>
#include <hmk/core/region.h>

#include "session.h"

#define NEIGHBOURS	4u	/* moves up and down take turns: a range goes on a few back */

static bool extend(struct hmk_session *s, u64 start, u64 end)
{
	u32 i;

	for (i = s->nr_touched; i > 0 && i + NEIGHBOURS > s->nr_touched; i--) {
		if (s->touched[i - 1].end == start) {
			s->touched[i - 1].end = end;
			return true;
		}
	}
	return false;
}

/**
 * hmk_session_touched() - a move changed the residency of a range.
 * @s:     the session.
 * @start: first byte.
 * @end:   first byte after it.
 */
void hmk_session_touched(struct hmk_session *s, u64 start, u64 end)
{
	spin_lock(&s->touched_lock);
	if (s->nr_touched > HMK_TOUCHED_MAX || extend(s, start, end))
		goto out;
	if (s->nr_touched < HMK_TOUCHED_MAX)
		s->touched[s->nr_touched] = (struct hmk_touched){ start, end };
	s->nr_touched++;
out:
	spin_unlock(&s->touched_lock);
}

static int by_start(const void *a, const void *b)
{
	const struct hmk_touched *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* In rising order and apart. Return: how many there are. */
static u32 tidy(struct hmk_touched *t, u32 nr)
{
	u32 i, last = 0;

	if (!nr)
		return 0;
	sort(t, nr, sizeof(*t), by_start, NULL);
	for (i = 1; i < nr; i++) {
		if (t[i].start <= t[last].end)
			t[last].end = max(t[last].end, t[i].end);
		else
			t[++last] = t[i];
	}
	return last + 1;
}

/**
 * hmk_regions_cut() - cut regions at given addresses.
 * @p:    regions refreshed, quotas not yet planned.
 * @cuts: page addresses, strictly rising.
 * @nr:   number of them.
 *
 * Without memory for the longer array the regions stay whole: only less sharp.
 */
void hmk_regions_cut(struct hmk_profile *p, const u64 *cuts, u32 nr)
{
	if (hmk_regions_reserve(&p->next, p->now.nr + nr))
		return;
	p->next.nr = hmk_regions_divide(p->now.at, p->now.nr, cuts, nr, p->next.at, p->next.cap,
					++p->generation);
	p->changed |= p->next.nr != p->now.nr;
	swap(p->now, p->next);
}

/**
 * hmk_touched_take() - what was moved since the last call is to be counted again.
 * @s: the session; called by its interval thread.
 *
 * A region of which a part was moved is cut there.
 */
void hmk_touched_take(struct hmk_session *s)
{
	struct hmk_profile *p = &s->prof;
	u32 i, t = 0, nr;
	bool all;

	BUILD_BUG_ON(sizeof(struct hmk_touched) != 2 * sizeof(u64));
	spin_lock(&s->touched_lock);
	all = s->nr_touched > HMK_TOUCHED_MAX;
	nr = all ? 0 : s->nr_touched;
	memcpy(p->touched, s->touched, nr * sizeof(*p->touched));
	s->nr_touched = 0;
	spin_unlock(&s->touched_lock);

	nr = tidy(p->touched, nr);
	if (nr)
		hmk_regions_cut(p, &p->touched[0].start, 2 * nr);
	if (all || nr)
		p->census.end = 0;	/* what is under way may have been moved */
	for (i = 0; i < p->now.nr && (all || nr); i++) {
		struct hmk_region *r = &p->now.at[i];

		while (t < nr && p->touched[t].end <= r->start)
			t++;
		if (all || (t < nr && p->touched[t].start < r->end))
			r->flags |= HMK_REGION_CENSUS;
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * What moves have touched since the last interval: the movers note it, the
 * interval thread cuts its regions there and has them counted again.
 */
#include <linux/minmax.h>
#include <linux/sort.h>
#include <linux/spinlock.h>

#include "session.h"

#define NEIGHBOURS	4u	/* moves up and down take turns: a range goes on a few back */

static bool touched_extend(struct hmk_moved *m, u64 start, u64 end)
{
	u32 i;

	for (i = m->nr; i > 0 && i + NEIGHBOURS > m->nr; i--) {
		if (m->range[i - 1].end == start) {
			m->range[i - 1].end = end;
			return true;
		}
	}
	return false;
}

/* Bytes between two ranges, 0 where they meet. */
static u64 touched_gap(const struct hmk_touched *t, u64 start, u64 end)
{
	return start > t->end ? start - t->end : t->start > end ? t->start - end : 0;
}

/* No room: the nearest of those noted down takes it in, with what lies between. */
static void touched_join(struct hmk_moved *m, u64 start, u64 end)
{
	struct hmk_touched *t, *nearest = &m->range[0];

	for (t = nearest; t < &m->range[m->nr]; t++) {
		if (touched_gap(t, start, end) < touched_gap(nearest, start, end))
			nearest = t;
	}
	nearest->start = min(nearest->start, start);
	nearest->end = max(nearest->end, end);
}

/**
 * hmk_session_touched() - a move changed the residency of a range.
 * @s:     the session.
 * @start: first byte.
 * @end:   first byte after it.
 */
void hmk_session_touched(struct hmk_session *s, u64 start, u64 end)
{
	struct hmk_moved *m = &s->moved;

	spin_lock(&m->lock);
	if (touched_extend(m, start, end))
		;
	else if (m->nr < HMK_TOUCHED_MAX)
		m->range[m->nr++] = (struct hmk_touched){ start, end };
	else
		touched_join(m, start, end);
	spin_unlock(&m->lock);
}

static int touched_by_start(const void *a, const void *b)
{
	const struct hmk_touched *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* In rising order and apart. Return: how many there are. */
static u32 touched_tidy(struct hmk_touched *t, u32 nr)
{
	u32 i, last = 0;

	if (!nr)
		return 0;
	sort(t, nr, sizeof(*t), touched_by_start, NULL);
	for (i = 1; i < nr; i++) {
		if (t[i].start <= t[last].end)
			t[last].end = max(t[last].end, t[i].end);
		else
			t[++last] = t[i];
	}
	return last + 1;
}

/* What is under way was counted before it was moved, or so was a part of it. */
static void touched_recount(struct hmk_census *c, const struct hmk_touched *t)
{
	if (t->start < c->at && t->end > c->start)
		c->end = 0;
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
	struct hmk_moved *m = &s->moved;
	u32 i, t = 0, nr;

	spin_lock(&m->lock);
	nr = m->nr;
	memcpy(p->touched, m->range, nr * sizeof(*p->touched));
	m->nr = 0;
	spin_unlock(&m->lock);

	nr = touched_tidy(p->touched, nr);
	if (!nr)
		return;
	for (i = 0; i < nr; i++) {
		touched_recount(&p->census, &p->touched[i]);
		hmk_pieces_touched(&p->dense.pieces, p->touched[i].start, p->touched[i].end);
		p->cuts[2 * i] = p->touched[i].start;
		p->cuts[2 * i + 1] = p->touched[i].end;
	}
	hmk_regions_cut(p, 2 * nr);
	for (i = 0; i < p->now.nr && t < nr; i++) {
		struct hmk_region *r = &p->now.at[i];

		while (t < nr && p->touched[t].end <= r->start)
			t++;
		if (t < nr && p->touched[t].start < r->end)
			r->flags |= HMK_REGION_CENSUS;
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many pages of a region are present, and on which node: a read-only walk
 * over a slice of the regions per interval. Regions that are new or were moved
 * come first, the rest in rotation.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <hmk/core/region.h>

#include "session.h"
#include "walk.h"

#define SLICE_PARTS	8u	/* a full rotation takes this many intervals, or more */
#define STEP_BYTES	(2ull << 20)

static void census_leaf(const struct hmk_leaf *leaf, void *arg)
{
	u64 end = leaf->addr + (1ull << leaf->shift);
	struct hmk_census *c = arg;
	int node;

	if (!hmk_leaf_counts(leaf, c->kind))
		return;
	node = hmk_node_of(leaf->page);
	c->pages[node == NUMA_NO_NODE ? HMK_MAX_NODES : node] +=
		(min(end, c->step_end) - max_t(u64, leaf->addr, c->at)) >> PAGE_SHIFT;
	c->leaf_shift = max_t(u8, c->leaf_shift, leaf->shift);
}

static void census_judge(struct hmk_region *r, const struct hmk_census *c)
{
	u32 sum = 0, most = 0, second = 0, i;

	r->node = NUMA_NO_NODE;
	for (i = 0; i <= HMK_MAX_NODES; i++) {
		int node = i < HMK_MAX_NODES ? i : NUMA_NO_NODE;

		sum += c->pages[i];
		if (c->pages[i] > most) {
			second = most;
			r->away_node = r->node;
			most = c->pages[i];
			r->node = node;
		} else if (c->pages[i] > second) {
			second = c->pages[i];
			r->away_node = node;
		}
	}
	r->resident_pages = sum;
	r->away_pages = sum - most;
	r->leaf_shift = c->leaf_shift;
	r->flags &= ~HMK_REGION_CENSUS;
}

/* Its share of the interval's budget, in CPU time; one step at least. */
static bool census_affords(struct hmk_profile *p, u64 begin)
{
	return hmk_charge_since(p, begin) < p->charge.budget_ns / HMK_CENSUS_PARTS;
}

/* Another region than the one under way: begin with it. */
static void census_turn_to(struct hmk_census *c, const struct hmk_region *r)
{
	if (c->start == r->start && c->end == r->end && c->generation == r->generation)
		return;
	memset(c->pages, 0, sizeof(c->pages));
	c->start = r->start;
	c->end = r->end;
	c->generation = r->generation;
	c->at = r->start;
	c->leaf_shift = PAGE_SHIFT;
	c->kind = r->kind;
}

/* Return: false when the target has ended or the thread is to stop. */
static bool census_step(struct mm_struct *mm, struct hmk_profile *p)
{
	struct hmk_census *c = &p->census;
	struct vm_area_struct *vma;

	c->step_end = min(c->end, (c->at | (STEP_BYTES - 1)) + 1);
	if (!hmk_hold_begin(&p->hold, mm))
		return false;
	vma = find_vma(mm, c->at);
	if (vma && vma->vm_start < c->step_end && hmk_vma_takes_part(vma))
		hmk_walk_leaves(mm, max_t(u64, c->at, vma->vm_start),
				min_t(u64, c->step_end, vma->vm_end), census_leaf, c);
	p->hold.looked = (c->step_end - c->at) >> PAGE_SHIFT;
	hmk_hold_end(&p->hold);
	c->at = c->step_end;
	cond_resched();
	return true;
}

/* In steps, as far as the budget goes. Return: false when it goes on next time. */
static bool census_region(struct mm_struct *mm, struct hmk_profile *p, struct hmk_region *r,
			  u64 begin)
{
	struct hmk_census *c = &p->census;

	census_turn_to(c, r);
	while (census_step(mm, p) && c->at < c->end && census_affords(p, begin))
		;
	if (c->at < c->end)
		return false;
	census_judge(r, c);
	c->end = 0;	/* none is under way */
	return true;
}

/*
 * What is new or was moved, from where the last interval came to: were it always from the
 * first, and more were moved in each than can be counted, the last would never be reached.
 * Return: false when the budget has been used.
 */
static bool census_flagged(struct mm_struct *mm, struct hmk_profile *p, u64 begin)
{
	const u32 first = hmk_region_at(p->now.at, p->now.nr, p->census.flagged_at);
	u32 n;

	for (n = 0; n < p->now.nr; n++) {
		struct hmk_region *r = &p->now.at[(first + n) % p->now.nr];

		hmk_pause(n);
		if (!(r->flags & HMK_REGION_CENSUS))
			continue;
		p->census.flagged_at = r->start;
		if (!census_region(mm, p, r, begin))
			return false;
		p->census.flagged_at = r->end;
		if (!census_affords(p, begin))
			return false;
	}
	return true;
}

/* This interval's slice, or as far as the budget goes. */
static void census_rotate(struct mm_struct *mm, struct hmk_profile *p, u64 begin)
{
	u32 i;

	for (i = 0; i < p->now.nr / SLICE_PARTS && census_affords(p, begin); i++) {
		if (p->census.rotation >= p->now.nr)
			p->census.rotation = 0;
		if (!census_region(mm, p, &p->now.at[p->census.rotation], begin))
			return;
		p->census.rotation++;
	}
}

/**
 * hmk_census() - count the residency of this interval's slice of the regions.
 * @s:  the session; its region array belongs to the calling thread.
 * @mm: grabbed by the caller.
 */
void hmk_census(struct hmk_session *s, struct mm_struct *mm)
{
	struct hmk_profile *p = &s->prof;
	u64 begin = hmk_charge_used(p);

	if (census_flagged(mm, p, begin))
		census_rotate(mm, p, begin);
	p->watch.census_ns = hmk_charge_since(p, begin);
}

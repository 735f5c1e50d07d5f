// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many pages of a region are present, and on which node: a read-only walk
 * over a slice of the regions per interval. Regions that are new or were moved
 * come first, the rest in rotation.
 */
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched.h>

#include "session.h"
#include "walk.h"

#define SLICE_PARTS	8u	/* a full rotation takes this many intervals, or more */
#define STEP_BYTES	(2ull << 20)
#define BUDGET_PARTS	8u	/* of the budget at most: samples tell of places, too */

static void count_leaf(const struct hmk_leaf *leaf, void *arg)
{
	u64 end = leaf->addr + (1ull << leaf->shift);
	struct hmk_census *c = arg;
	int node;

	if (!leaf->page)
		return;
	node = page_to_nid(leaf->page);
	if (node < HMK_MAX_NODES)
		c->pages[node] += (min(end, c->step_end) - max_t(u64, leaf->addr, c->at)) >>
				  PAGE_SHIFT;
	c->leaf_shift = max_t(u8, c->leaf_shift, leaf->shift);
}

static void judge(struct hmk_region *r, const struct hmk_census *c)
{
	u32 sum = 0, most = 0, second = 0, node;

	r->node = NUMA_NO_NODE;
	for (node = 0; node < HMK_MAX_NODES; node++) {
		sum += c->pages[node];
		if (c->pages[node] > most) {
			second = most;
			r->away_node = r->node;
			most = c->pages[node];
			r->node = node;
		} else if (c->pages[node] > second) {
			second = c->pages[node];
			r->away_node = node;
		}
	}
	r->resident_pages = sum;
	r->away_pages = sum - most;
	r->leaf_shift = c->leaf_shift;
	r->flags &= ~HMK_REGION_CENSUS;
}

/* Its share of the interval's budget, in CPU time; one step at least. */
static bool affordable(struct hmk_profile *p, u64 begin)
{
	return hmk_charge_since(p, begin) < p->budget_ns / BUDGET_PARTS;
}

/* Another region than the one under way: begin with it. */
static void turn_to(struct hmk_census *c, const struct hmk_region *r)
{
	if (c->start == r->start && c->end == r->end && c->generation == r->generation)
		return;
	memset(c, 0, sizeof(*c));
	c->start = r->start;
	c->end = r->end;
	c->generation = r->generation;
	c->at = r->start;
	c->leaf_shift = PAGE_SHIFT;
}

static void count_step(struct mm_struct *mm, struct hmk_census *c)
{
	struct vm_area_struct *vma;

	c->step_end = min(c->end, (c->at | (STEP_BYTES - 1)) + 1);
	mmap_read_lock(mm);
	vma = find_vma(mm, c->at);
	if (vma && vma->vm_start < c->step_end && hmk_vma_takes_part(vma))
		hmk_walk_leaves(mm, max_t(u64, c->at, vma->vm_start),
				min_t(u64, c->step_end, vma->vm_end), count_leaf, c);
	mmap_read_unlock(mm);
	c->at = c->step_end;
	cond_resched();
}

/* In steps, as far as the budget goes. Return: false when it goes on next time. */
static bool count_region(struct mm_struct *mm, struct hmk_profile *p, struct hmk_region *r,
			 u64 begin)
{
	struct hmk_census *c = &p->census;

	turn_to(c, r);
	do {
		count_step(mm, c);
	} while (c->at < c->end && affordable(p, begin));
	if (c->at < c->end)
		return false;
	judge(r, c);
	c->end = 0;	/* none is under way */
	return true;
}

/**
 * hmk_census() - count the residency of this interval's slice of the regions.
 * @s:  the session; its region array belongs to the calling thread.
 * @mm: users held by the caller.
 */
void hmk_census(struct hmk_session *s, struct mm_struct *mm)
{
	struct hmk_profile *p = &s->prof;
	u64 begin = hmk_charge_used(p);
	u32 i;

	for (i = 0; i < p->now.nr; i++) {
		if (!(p->now.at[i].flags & HMK_REGION_CENSUS))
			continue;
		if (!count_region(mm, p, &p->now.at[i], begin) || !affordable(p, begin))
			return;
	}
	for (i = 0; i < p->now.nr / SLICE_PARTS && affordable(p, begin); i++) {
		if (p->census_next >= p->now.nr)
			p->census_next = 0;
		p->census_next += count_region(mm, p, &p->now.at[p->census_next], begin);
	}
}

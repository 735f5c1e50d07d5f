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
#define BUDGET_PARTS	8u	/* it takes at most so much of the budget: samples tell of places, too */

struct census {
	u64 start, end;
	u32 pages[HMK_MAX_NODES];
	u8 leaf_shift;
};

static void count_leaf(const struct hmk_leaf *leaf, void *arg)
{
	u64 end = leaf->addr + (1ull << leaf->shift);
	struct census *c = arg;
	int node;

	if (!leaf->page)
		return;
	node = page_to_nid(leaf->page);
	if (node < HMK_MAX_NODES)
		c->pages[node] += (min(end, c->end) - max_t(u64, leaf->addr, c->start)) >>
				  PAGE_SHIFT;
	c->leaf_shift = max_t(u8, c->leaf_shift, leaf->shift);
}

static void judge(struct hmk_region *r, const struct census *c)
{
	u32 sum = 0, most = 0, node;

	r->node = NUMA_NO_NODE;
	for (node = 0; node < HMK_MAX_NODES; node++) {
		sum += c->pages[node];
		if (c->pages[node] > most) {
			most = c->pages[node];
			r->node = node;
		}
	}
	r->resident_pages = sum;
	r->away_pages = sum - most;
	r->leaf_shift = c->leaf_shift;
	r->flags &= ~HMK_REGION_CENSUS;
}

static void count_region(struct mm_struct *mm, struct hmk_region *r, struct census *c)
{
	struct vm_area_struct *vma;

	memset(c, 0, sizeof(*c));
	c->start = r->start;
	c->end = r->end;
	c->leaf_shift = PAGE_SHIFT;
	mmap_read_lock(mm);
	vma = find_vma(mm, r->start);
	if (vma && vma->vm_start < r->end && hmk_vma_takes_part(vma))
		hmk_walk_leaves(mm, max_t(u64, r->start, vma->vm_start),
				min_t(u64, r->end, vma->vm_end), count_leaf, c);
	mmap_read_unlock(mm);
	judge(r, c);
	cond_resched();
}

/* Its share of the interval's budget, in CPU time; one region at least. */
static bool affordable(struct hmk_profile *p, u64 begin)
{
	return hmk_charge_since(p, begin) < p->budget_ns / BUDGET_PARTS;
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
	struct census c;
	u32 i;

	for (i = 0; i < p->now.nr; i++) {
		if (!(p->now.at[i].flags & HMK_REGION_CENSUS))
			continue;
		count_region(mm, &p->now.at[i], &c);
		if (!affordable(p, begin))
			return;
	}
	for (i = 0; i < p->now.nr / SLICE_PARTS && affordable(p, begin); i++) {
		if (p->census_next >= p->now.nr)
			p->census_next = 0;
		count_region(mm, &p->now.at[p->census_next++], &c);
	}
}

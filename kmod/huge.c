// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do the parts of a huge page differ? Its one accessed bit does not say. With
 * HMK_SWITCH_SPLIT_HUGE a few hot ones are examined: the mapping of one is split,
 * not the page, and for an interval each of its 512 entries has a bit of its own.
 * Where its eighths differ by more than tau2 (as samples must for a region to be
 * split, HK-13) the page is split as well, and its region is cut there. Else it
 * stays a huge page, for khugepaged to map as one again.
 *
 * Between two visits only the address is kept, so memory may come and go: every
 * visit looks the VMA and the page up anew.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <hmk/core/budget.h>
#include <hmk/core/hotness.h>

#include "compat/symbols.h"
#include "session.h"
#include "walk.h"
#include "windows.h"

#define HUGE_ORDER	(PMD_SHIFT - PAGE_SHIFT)
#define HUGE_PAGES	(1u << HUGE_ORDER)
#define PART_PAGES	(HUGE_PAGES / HMK_HUGE_PARTS)
#define PART_BYTES	(PART_PAGES * PAGE_SIZE)
#define SLOWEST		(-6)	/* pace: where parts never differ, one in 64 intervals */
#define FASTEST		4	/* where they do, HMK_HUGE_MOST in each */
#define ROUND		64u	/* intervals: what khugepaged joins again is not split at once */
#define BUDGET_PARTS	8u	/* of the budget at most */
#define LEAST_COST_NS	50000u	/* of one; what was dearer is forgotten slowly */
#define TRIES		64u	/* places looked at in one interval */

/* Anonymous memory of which @addr begins a huge page; mmap lock held. */
static struct vm_area_struct *huge_vma(struct mm_struct *mm, u64 addr)
{
	struct vm_area_struct *vma = find_vma(mm, addr);

	if (!vma || vma->vm_start > addr || vma->vm_end < addr + PMD_SIZE ||
	    !hmk_vma_takes_part(vma) || !vma_is_anonymous(vma) || vma->vm_flags & VM_LOCKED)
		return NULL;
	return vma;
}

/*
 * The huge page that begins at @addr and is mapped by leaves of @shift, locked and
 * referenced; NULL when there is none that is this process's alone. Each mapping
 * has a reference: one more is another process, a pin, the swap cache or somebody
 * who has isolated it.
 */
static struct folio *huge_take(struct mm_struct *mm, u64 addr, unsigned int shift)
{
	int mappings = shift == PMD_SHIFT ? 1 : HUGE_PAGES;
	struct folio *folio = NULL;
	struct hmk_leaf leaf;

	if (!hmk_leaf_lock(mm, addr, &leaf))
		return NULL;
	if (leaf.page && leaf.shift == shift)
		folio = page_folio(leaf.page);
	if (folio && folio_test_anon(folio) && folio_order(folio) == HUGE_ORDER &&
	    leaf.page == &folio->page && folio_test_lru(folio) &&
	    folio_ref_count(folio) == mappings && folio_trylock(folio))
		folio_get(folio);
	else
		folio = NULL;
	hmk_leaf_unlock(&leaf);
	return folio;
}

static void huge_give_back(struct folio *folio)
{
	folio_unlock(folio);
	folio_put(folio);
}

static void huge_leaf(const struct hmk_leaf *leaf, void *arg)
{
	struct hmk_huge_page *page = arg;

	if (leaf->shift == PMD_SHIFT || !leaf->page || !hmk_clear_young(leaf->bits, leaf->page))
		return;
	page->count[(leaf->addr - page->addr) / PART_BYTES]++;
}

/* Split the mapping of a huge page and clear its bits. Return: false when there is none. */
static bool huge_open(struct mm_struct *mm, struct hmk_profile *p, struct hmk_huge_page *page,
		      u64 addr)
{
	struct folio *folio = NULL;
	struct vm_area_struct *vma;

	*page = (struct hmk_huge_page){ .addr = addr };
	if (!hmk_hold_begin(&p->hold, mm))
		return false;
	vma = huge_vma(mm, addr);
	if (vma)
		folio = huge_take(mm, addr, PMD_SHIFT);
	if (folio) {
		hmk_split_pmd(vma, addr, folio);
		hmk_walk_leaves(mm, addr, addr + PMD_SIZE, huge_leaf, page);
		memset(page->count, 0, sizeof(page->count));
		huge_give_back(folio);
	}
	hmk_hold_end(&p->hold);
	cond_resched();
	return folio;
}

/* How many may be examined in this interval: by pace, and by what one costs. */
static u32 huge_how_many(struct hmk_profile *p)
{
	struct hmk_huge *h = &p->huge;

	h->cost_ns = max_t(u64, h->cost_ns - h->cost_ns / 16, LEAST_COST_NS);
	if (!(p->params.switches & HMK_SWITCH_SPLIT_HUGE) || (!h->at && p->seq < h->next_round) ||
	    (h->pace < 0 && p->seq % (1u << -h->pace)))
		return 0;
	return min_t(u64, 1u << max(h->pace, 0), p->charge.budget_ns / BUDGET_PARTS / h->cost_ns);
}

/* And may have huge pages: those not counted yet may. */
static bool huge_is_hot(const struct hmk_profile *p, const struct hmk_region *r)
{
	/* Some two accesses an interval, in either windows. */
	u32 hot_q16 = hmk_ladder_climbs(&p->windows.ladder) ? HMK_CORE_Q16_ONE :
		      p->params.num_scans << 15;

	return r->kind == HMK_KIND_ANON && r->whi_q16 >= hot_q16 &&
	       (r->leaf_shift == PMD_SHIFT || r->flags & HMK_REGION_CENSUS);
}

/* The huge pages of one region from where the round is. Return: false when enough was done. */
static bool huge_examine_region(struct mm_struct *mm, struct hmk_profile *p,
				const struct hmk_region *r, u32 most, u32 *tries)
{
	struct hmk_huge *h = &p->huge;
	u64 addr = ALIGN(max(r->start, h->at), PMD_SIZE);

	for (; addr + PMD_SIZE <= r->end; addr += PMD_SIZE) {
		if (h->nr == most || !--*tries)
			return false;
		h->nr += huge_open(mm, p, &h->page[h->nr], addr);
		h->at = addr + PMD_SIZE;
	}
	return true;
}

/**
 * hmk_huge_examine() - split the mapping of some hot huge pages for this interval.
 * @mm: grabbed by the caller.
 * @p:  regions counted, samples not yet chosen.
 *
 * They are taken in the order of their addresses, round after round: none is
 * examined again before all others, nor within ROUND intervals.
 */
void hmk_huge_examine(struct mm_struct *mm, struct hmk_profile *p)
{
	u64 begin = hmk_charge_used(p);
	struct hmk_huge *h = &p->huge;
	u32 i, most = huge_how_many(p), tries = TRIES;

	for (i = 0; most && i < p->now.nr; i++) {
		const struct hmk_region *r = &p->now.at[i];

		if (r->end > h->at && huge_is_hot(p, r) &&
		    !huge_examine_region(mm, p, r, most, &tries))
			break;
	}
	if (h->nr && !h->examined) {
		h->examined = true;
		h->next_round = p->seq + ROUND;
	}
	if (most && i == p->now.nr) {
		h->examined = false;
		h->at = 0;
	}
	h->spent_ns = hmk_charge_since(p, begin);
}

/**
 * hmk_huge_count() - count what was accessed since the last round of scans.
 * @mm: grabbed by the caller.
 * @p:  what is examined is in @p->huge.
 */
void hmk_huge_count(struct mm_struct *mm, struct hmk_profile *p)
{
	u64 begin = hmk_charge_used(p);
	struct hmk_huge *h = &p->huge;
	u32 i;

	for (i = 0; i < h->nr; i++) {
		struct hmk_huge_page *page = &h->page[i];

		if (!hmk_hold_begin(&p->hold, mm))
			break;
		if (huge_vma(mm, page->addr))
			hmk_walk_leaves(mm, page->addr, page->addr + PMD_SIZE, huge_leaf, page);
		hmk_hold_end(&p->hold);
		cond_resched();
	}
	h->spent_ns += hmk_charge_since(p, begin);
}

/* The coldest and the hottest part. */
static void huge_extremes(const struct hmk_huge_page *page, u32 *low, u32 *high)
{
	u32 i;

	*low = *high = page->count[0];
	for (i = 1; i < HMK_HUGE_PARTS; i++) {
		*low = min_t(u32, *low, page->count[i]);
		*high = max_t(u32, *high, page->count[i]);
	}
}

static bool huge_differs(const struct hmk_huge_page *page, u32 tau2_q16)
{
	u32 low, high;

	huge_extremes(page, &low, &high);
	return hmk_hotness_mean_q16(high - low, PART_PAGES) > tau2_q16;
}

static bool huge_break(struct mm_struct *mm, struct hmk_profile *p, u64 addr)
{
	struct folio *folio = NULL;
	bool done = false;

	if (!hmk_hold_begin(&p->hold, mm))
		return false;
	if (huge_vma(mm, addr))
		folio = huge_take(mm, addr, PAGE_SHIFT);
	if (folio) {
		done = !hmk_split_folio(folio);
		huge_give_back(folio);
	}
	hmk_hold_end(&p->hold);
	cond_resched();
	return done;
}

/* Both ends of the page, and where hot parts and cold ones touch. Return: how many there are. */
static u32 huge_add_cuts(const struct hmk_huge_page *page, u64 *cuts, u32 nr)
{
	u32 coldest, hottest, middle, i;
	bool was_high;

	huge_extremes(page, &coldest, &hottest);
	middle = (coldest + hottest) / 2;
	was_high = page->count[0] > middle;
	if (!nr || cuts[nr - 1] != page->addr)
		cuts[nr++] = page->addr;
	for (i = 1; i < HMK_HUGE_PARTS; i++) {
		bool high = page->count[i] > middle;

		if (high != was_high)
			cuts[nr++] = page->addr + i * PART_BYTES;
		was_high = high;
	}
	cuts[nr++] = page->addr + PMD_SIZE;
	return nr;
}

/* What was counted holds for its parts alone; what came before was the bit of the whole. */
static void huge_judge_part(const struct hmk_profile *p, struct hmk_region *r,
			    const struct hmk_huge_page *page)
{
	u32 first = (r->start - page->addr) / PART_BYTES;
	u32 end = DIV_ROUND_UP(r->end - page->addr, PART_BYTES), i, sum = 0;

	for (i = first; i < end; i++)
		sum += page->count[i];
	r->prev_hi_q16 = r->hi_q16;
	r->hi_q16 = hmk_hotness_mean_q16(sum, (end - first) * PART_PAGES);
	if (hmk_ladder_climbs(&p->windows.ladder))
		r->hi_q16 = hmk_windows_convert(p, r->hi_q16);
	r->whi_q16 = r->hi_q16;
}

/* Regions come apart where the pages did: these have leaves of 4 KiB now. */
static void huge_cut_regions(struct hmk_profile *p)
{
	const struct hmk_huge_page *page = p->huge.page, *end = page + p->huge.nr;
	u32 i, nr = 0;

	BUILD_BUG_ON(HMK_HUGE_MOST * (HMK_HUGE_PARTS + 1) > HMK_CUTS_MAX);
	for (i = 0; i < p->now.nr && page < end; i++) {
		for (; page < end && page->addr < p->now.at[i].end; page++) {
			p->now.at[i].leaf_shift = PAGE_SHIFT;
			nr = huge_add_cuts(page, p->cuts, nr);
		}
	}
	hmk_regions_cut(p, nr);
	if (hmk_ladder_climbs(&p->windows.ladder))
		hmk_windows_convert_equal(p);
	for (i = 0, page = p->huge.page; i < p->now.nr && page < end; i++) {
		struct hmk_region *r = &p->now.at[i];

		while (page < end && page->addr + PMD_SIZE <= r->start)
			page++;
		if (page < end && r->start >= page->addr && r->end <= page->addr + PMD_SIZE)
			huge_judge_part(p, r, page);
	}
}

static void huge_account(struct hmk_session *s, u32 examined, u32 split, u32 left)
{
	spin_lock(&s->stats_lock);
	s->stats.huge_examined += examined;
	s->stats.huge_split += split;
	s->stats.huge_left += left;
	spin_unlock(&s->stats_lock);
}

/**
 * hmk_huge_judge() - split the pages examined in the last interval whose parts differ.
 * @s:  the session; called by its interval thread.
 * @mm: grabbed by the caller.
 *
 * One that differs seldom is alone: then more are examined at once. Where none does
 * it is fewer and fewer, since a page that is left has lost its huge mapping until
 * khugepaged comes by.
 */
void hmk_huge_judge(struct hmk_session *s, struct mm_struct *mm)
{
	struct hmk_profile *p = &s->prof;
	struct hmk_huge *h = &p->huge;
	u32 i, examined = h->nr, split = 0, left = 0;
	const struct hmk_tau_rule tau = hmk_budget_tau_rule(p->params.num_scans, 0, 0, 0);
	u64 begin = hmk_charge_used(p);

	if (!examined)
		return;
	for (i = 0; i < examined; i++) {
		if (!huge_differs(&h->page[i], tau.tau2_q16))
			left++;
		else if (huge_break(mm, p, h->page[i].addr))
			h->page[split++] = h->page[i];
	}
	h->nr = split;
	if (split)
		huge_cut_regions(p);
	h->nr = 0;
	if (2 * split >= examined)
		h->pace = min(max(h->pace, 0) + 1, FASTEST);
	else
		h->pace = max(h->pace - 1, SLOWEST);
	h->cost_ns = max(h->cost_ns, (h->spent_ns + hmk_charge_since(p, begin)) / examined);
	huge_account(s, examined, split, left);
}

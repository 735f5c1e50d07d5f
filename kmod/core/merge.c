// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Neighbours that are alike come together.
 */
#include <hmk/core/pause.h>
#include <hmk/core/region.h>

#define MAX_U16	((__u16)~0u)

/* Mean of two values, weighted by size in pages; of at most 16 TiB together. */
static __u32 merge_weighted(__u32 a, __u64 pages_a, __u32 b, __u64 pages_b)
{
	__u64 pages = pages_a + pages_b;

	return (__u32)((a * pages_a + b * pages_b + pages / 2) / pages);
}

static __u32 merge_apart(__u32 a, __u32 b)
{
	return a > b ? a - b : b - a;
}

/*
 * Alike now (HK-12) and alike before: a hot piece whose one sample missed for
 * once has a cold HI, but not a cold WHI.
 */
static int merge_allowed(const struct hmk_region *a, const struct hmk_region *b,
			 const struct hmk_merge_rule *rule)
{
	const __u32 never = HMK_REGION_NEW | HMK_REGION_JUST_SPLIT | HMK_REGION_BEYOND;

	return a->end == b->start && a->kind == b->kind && a->leaf_shift == b->leaf_shift &&
	       a->node == b->node &&
	       !hmk_region_is(a, never) && !hmk_region_is(b, never | HMK_REGION_VMA_START) &&
	       merge_apart(a->hi_q16, b->hi_q16) < rule->tau1_q16 &&
	       merge_apart(a->whi_q16, b->whi_q16) < rule->tau1_q16 &&
	       b->end - a->start <= rule->max_bytes;
}

static void merge_absorb(struct hmk_region *a, const struct hmk_region *b,
			 const struct hmk_merge_rule *rule, struct hmk_merge_result *res)
{
	__u64 pages_a = hmk_region_pages(a), pages_b = hmk_region_pages(b);
	__u32 quota = (__u32)a->quota + b->quota, writes = (__u32)a->writes + b->writes;
	__u32 accesses = (__u32)a->accesses + b->accesses, trust = (__u32)a->trust + b->trust;
	__u32 both_stale = a->flags & b->flags & HMK_REGION_STALE;

	a->hi_q16 = merge_weighted(a->hi_q16, pages_a, b->hi_q16, pages_b);
	a->prev_hi_q16 = merge_weighted(a->prev_hi_q16, pages_a, b->prev_hi_q16, pages_b);
	a->whi_q16 = merge_weighted(a->whi_q16, pages_a, b->whi_q16, pages_b);
	a->accesses = accesses > MAX_U16 ? MAX_U16 : (__u16)accesses;
	a->trust = trust > MAX_U16 ? MAX_U16 : (__u16)trust;
	a->writes = writes > MAX_U16 ? MAX_U16 : (__u16)writes;
	if (b->count_min < a->count_min)
		a->count_min = b->count_min;
	if (b->count_max > a->count_max)
		a->count_max = b->count_max;
	if (b->age < a->age)
		a->age = b->age;
	a->quota = (__u16)(quota / 2 ? quota / 2 : 1);
	if (quota > a->quota)
		res->freed_quota += quota - a->quota;
	if (b->away_pages > a->away_pages)
		a->away_node = b->away_node;
	a->resident_pages += b->resident_pages;
	a->away_pages += b->away_pages;
	a->end = b->end;
	a->generation = rule->generation;
	hmk_region_clear(a, HMK_REGION_SCOUTED | HMK_REGION_STALE);
	hmk_region_set(a, both_stale | (b->flags & HMK_REGION_CENSUS));
	res->merges++;
}

/**
 * hmk_regions_merge() - fuse neighbours whose hotness is alike (HK-12, A-8).
 * @r:    regions in address order, not overlapping; compacted in place.
 * @nr:   number of regions in @r.
 * @rule: when two neighbours count as alike.
 * @res:  receives what was done.
 *
 * Goes from left to right and compares each region with the running one, whose
 * HI, previous HI and WHI are means weighted by size; both HI and WHI must be
 * closer than tau1. Joins only regions that
 * touch, of one kind and leaf size, in one VMA, on one node, judged
 * and not just split: a region on two nodes could not be placed by one decision.
 * A joined region gets half of the two quotas, at least 1; the rest is counted as
 * freed, so that sum of quotas + freed stays as it is while each
 * region has a sample. Afterwards no region is HMK_REGION_JUST_SPLIT.
 *
 * Allocates nothing and cannot fail. Covers exactly the same pages afterwards.
 *
 * Return: the new number of regions, at most @nr.
 */
__u32 hmk_regions_merge(struct hmk_region *r, __u32 nr,
			const struct hmk_merge_rule *rule,
			struct hmk_merge_result *res)
{
	__u32 i, last = 0;

	*res = (struct hmk_merge_result){ .merges = 0 };
	if (!nr)
		return 0;
	for (i = 1; i < nr; hmk_pause(++i)) {
		if (merge_allowed(&r[last], &r[i], rule)) {
			merge_absorb(&r[last], &r[i], rule, res);
		} else {
			hmk_region_clear(&r[last], HMK_REGION_JUST_SPLIT);
			r[++last] = r[i];
		}
	}
	hmk_region_clear(&r[last], HMK_REGION_JUST_SPLIT);
	return last + 1;
}

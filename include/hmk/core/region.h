/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Regions: an array in address order, without overlap, that covers exactly the
 * populated spans. Every operation is one linear pass and keeps that partition
 * (HK-17). Order within an interval: refresh at its start; split, then merge,
 * at its end.
 *
 *   refresh(old, spans) -> new array    what exists now
 *   split(in, samples)  -> out          what differs inside comes apart
 *   merge(array)        -> in place     neighbours that are alike come together
 *
 * Sums of quotas: split says what it lent, merge hands back what it freed, refresh
 * changes it; hmk_quota_assign() makes it exact again (HK-24).
 */
#ifndef HMK_CORE_REGION_H
#define HMK_CORE_REGION_H

#include <hmk/core/types.h>

struct hmk_ladder;

#ifdef __cplusplus
extern "C" {
#endif

/* What one refresh did. Counts are of the whole pass, truncated or not. */
struct hmk_refresh_result {
	__u32 needed;		/* regions a large enough array would have held */
	__u32 added;		/* new regions */
	__u32 dropped;		/* old regions of which nothing is left */
	__u32 clipped;		/* parts of old regions whose borders changed */
	__u32 truncated;	/* 1: @needed did not fit, the tail is missing */
};

struct hmk_merge_rule {
	__u64 max_bytes;	/* no region grows beyond this */
	__u32 tau1_q16;		/* |difference| of HI and of WHI must be below (HK-12) */
	__u32 generation;	/* of regions whose borders change */
};

struct hmk_merge_result {
	__u64 freed_quota;	/* samples the merges set free (HK-19) */
	__u32 merges;
};

struct hmk_split_rule {
	__u32 tau2_q16;		/* spread of the counts must be above (HK-13) */
	__u32 alpha_q16;	/* weight of an odd sample in its piece's WHI (HK-33) */
	__u32 generation;	/* of regions whose borders change */
	const struct hmk_ladder *ladder;	/* NULL or of equal windows: as chapter 8 says */
};

struct hmk_split_result {
	__u32 splits;		/* cuts made */
	__u32 no_room;		/* splits left undone because @out was full */
	__u64 lent_quota;	/* samples beyond the region's own: each part has one */
};

static inline __u64 hmk_region_bytes(const struct hmk_region *r)
{
	return r->end - r->start;
}

static inline __u64 hmk_region_pages(const struct hmk_region *r)
{
	return (r->end - r->start) >> HMK_CORE_PAGE_SHIFT;
}

static inline __u64 hmk_region_leaf_bytes(const struct hmk_region *r)
{
	return 1ull << (r->leaf_shift < HMK_CORE_PAGE_SHIFT ? HMK_CORE_PAGE_SHIFT
							    : r->leaf_shift);
}

static inline int hmk_region_is(const struct hmk_region *r, __u32 flags)
{
	return (r->flags & flags) != 0;
}

static inline void hmk_region_set(struct hmk_region *r, __u32 flags)
{
	r->flags = (__u16)(r->flags | flags);
}

static inline void hmk_region_clear(struct hmk_region *r, __u32 flags)
{
	r->flags = (__u16)(r->flags & ~flags);
}

__u32 hmk_region_at(const struct hmk_region *r, __u32 nr, __u64 address);

__u32 hmk_regions_refresh(const struct hmk_region *old, __u32 nr_old,
			  const struct hmk_span *spans, __u32 nr_spans,
			  struct hmk_region *out, __u32 out_cap,
			  __u32 generation, struct hmk_refresh_result *res);

__u32 hmk_regions_merge(struct hmk_region *r, __u32 nr,
			const struct hmk_merge_rule *rule,
			struct hmk_merge_result *res);

__u64 hmk_region_sample(const struct hmk_region *r, const struct hmk_ladder *l, __u32 k,
			__u32 quota, __u64 interval, __u64 random);

__u32 hmk_regions_split_room(const struct hmk_region *in, __u32 nr,
			     const struct hmk_split_rule *rule);
__u32 hmk_regions_split(const struct hmk_region *in, __u32 nr,
			const struct hmk_sample *samples,
			struct hmk_region *out, __u32 out_cap,
			const struct hmk_split_rule *rule,
			struct hmk_split_result *res);

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_REGION_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Parts of a region: the pieces of 2 MiB its samples watch, and what a part has of what
 * the whole has.
 */
#ifndef HMK_CORE_PART_H
#define HMK_CORE_PART_H

#include <hmk/core/region.h>

static inline __u64 min_u64(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* The share of @value that @part of @whole gets; whole is at most 16 TiB. */
static inline __u32 region_share(__u32 value, __u64 part, __u64 whole)
{
	return (__u32)(value * (part >> HMK_CORE_PAGE_SHIFT) /
		       (whole >> HMK_CORE_PAGE_SHIFT));
}

static inline __u32 region_share_up(__u32 value, __u64 part, __u64 whole)
{
	return value - region_share(value, whole - part, whole);
}

/* Hot areas are looked for at this grain: 2 MiB, or a leaf if that is more. */
static inline __u64 piece_bytes(const struct hmk_region *r)
{
	return r->leaf_shift > 21 && r->leaf_shift < 48 ? 1ull << r->leaf_shift
							: HMK_CORE_BASE_REGION;
}

/* What of the @size bytes around an address is the region's; a power of two. */
static inline __u64 part_start(const struct hmk_region *r, __u64 address, __u64 size)
{
	__u64 start = address & ~(size - 1);

	return start > r->start ? start : r->start;
}

static inline __u64 part_end(const struct hmk_region *r, __u64 address, __u64 size)
{
	return min_u64((address | (size - 1)) + 1, r->end);
}

static inline __u64 piece_start(const struct hmk_region *r, __u64 address)
{
	return part_start(r, address, piece_bytes(r));
}

static inline __u64 piece_end(const struct hmk_region *r, __u64 address)
{
	return part_end(r, address, piece_bytes(r));
}

#endif /* HMK_CORE_PART_H */

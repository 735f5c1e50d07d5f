// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Regions as an array: which one is at an address, and which page a sample watches.
 */
#include <hmk/core/ladder.h>
#include <hmk/core/region.h>

#include "part.h"

/**
 * hmk_region_at() - where a round over the regions goes on.
 * @r:       regions in address order.
 * @nr:      number of them.
 * @address: where the last one ended.
 *
 * Return: index of the first region that ends beyond @address; 0 when there is none.
 */
__u32 hmk_region_at(const struct hmk_region *r, __u32 nr, __u64 address)
{
	__u32 low = 0, high = nr;

	while (low < high) {
		__u32 mid = low + (high - low) / 2;

		if (r[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low < nr ? low : 0;
}

/* The quarter that is noted in a region, at least a page. Return: its pages, 0 where none is. */
static __u64 region_quarter(const struct hmk_region *r, __u64 *from)
{
	const __u32 noted = (r->flags & HMK_REGION_QUARTER) >> HMK_REGION_QUARTER_SHIFT;
	const __u64 pages = hmk_region_pages(r);
	__u64 first;

	if (!noted)
		return 0;
	first = pages * (noted - 1) / 4;
	*from = r->start + (first << HMK_CORE_PAGE_SHIFT);
	return (pages * noted + 3) / 4 - first;
}

/* The @n-th class of @classes, a power of two, after the first: the farthest from those before. */
static __u64 region_class(__u64 n, __u64 classes)
{
	__u64 class = 0;

	for (classes /= 2; n; n /= 2, classes /= 2)
		class += n % 2 * classes;
	return class;
}

/*
 * Which of @pieces, the first of which is number @first of the address space, sample @k of
 * fewer watches. Every 2nd, 4th, 8th .. one has its turn, as few as there are samples
 * for, and the others after them. The turn is the piece's own: borders and quotas change with
 * each split and merge, and turns counted from them left pieces out for intervals.
 */
static __u64 region_turn(__u64 first, __u64 pieces, __u64 k, __u64 quota, __u64 interval)
{
	__u64 apart = 1, n, at, nr, taken;

	while (apart * quota < pieces)
		apart *= 2;
	for (n = 0;; n++) {
		at = (interval + region_class(n, apart) - first) & (apart - 1);
		nr = at < pieces ? (pieces - at + apart - 1) / apart : 0;
		taken = min_u64(nr, quota);
		if (k < taken)
			return at + k * nr / taken * apart;
		k -= taken;
		quota -= taken;
	}
}

/**
 * hmk_region_sample() - the page a sample watches.
 * @r:        its region.
 * @l:        the ladder; NULL or of equal windows: as chapter 8 says.
 * @k:        number of the sample in its region, below @quota.
 * @quota:    samples of the region, not 0.
 * @interval: number of the interval.
 * @random:   picks the page in its piece.
 *
 * The samples lie evenly over the region's pieces of 2 MiB. Where these are more, they take
 * turns: with @quota of at least a half, a quarter .. of them each is watched in one of 2, 4 ..
 * intervals, whatever becomes of the region meanwhile. Without a ladder samples are one piece
 * further in each interval, from the region's start. Those that meet in a piece share it out.
 * The first one of a piece that was cut out watches the quarter that the odd sample was in.
 *
 * Return: a page address in @r.
 */
__u64 hmk_region_sample(const struct hmk_region *r, const struct hmk_ladder *l, __u32 k,
			__u32 quota, __u64 interval, __u64 random)
{
	__u64 size = piece_bytes(r), first = r->start & ~(size - 1);
	__u64 pieces = (r->end - first + size - 1) / size;
	__u64 piece = hmk_ladder_climbs(l) && quota < pieces ?
		      region_turn(first / size, pieces, k, quota, interval) :
		      (k * pieces / quota + interval) % pieces;
	__u64 at = first + piece * size;
	__u64 from = piece_start(r, at), pages = (piece_end(r, at) - from) >> HMK_CORE_PAGE_SHIFT;
	__u64 meet = (quota + pieces - 1) / pieces, low = 0;
	const __u64 noted = k ? 0 : region_quarter(r, &from);

	if (noted)
		return from + (random % noted << HMK_CORE_PAGE_SHIFT);
	if (meet > 1 && meet <= pages) {
		low = pages * (k % meet) / meet;
		pages = pages * (k % meet + 1) / meet - low;
	}
	return from + ((low + random % pages) << HMK_CORE_PAGE_SHIFT);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Regions come apart where memory was moved: what is on one node and what is on
 * another are two regions, or no plan could tell which part is where.
 */
#include <hmk/core/divide.h>
#include <hmk/core/pause.h>
#include <hmk/core/region.h>

/* The left part leaves @rest; pages and samples go by size, each has a sample. */
static struct hmk_region divide_take_left(struct hmk_region *rest, __u64 end)
{
	const __u64 part = (end - rest->start) >> HMK_CORE_PAGE_SHIFT;
	const __u64 whole = hmk_region_pages(rest);
	struct hmk_region left = *rest;

	left.end = end;
	left.resident_pages = (__u32)(rest->resident_pages * part / whole);
	left.away_pages = (__u32)(rest->away_pages * part / whole);
	left.quota = (__u16)(rest->quota * part / whole);
	rest->start = end;
	rest->resident_pages -= left.resident_pages;
	rest->away_pages -= left.away_pages;
	rest->quota = (__u16)(rest->quota - left.quota);
	if (!left.quota)
		left.quota = 1;
	if (!rest->quota)
		rest->quota = 1;
	hmk_region_clear(rest, HMK_REGION_VMA_START);
	return left;
}

/**
 * hmk_regions_divide() - cut regions at given addresses.
 * @in:         regions in address order, without overlap.
 * @nr:         number of them.
 * @cuts:       page addresses in rising order.
 * @nr_cuts:    number of them.
 * @out:        receives the result; not @in.
 * @out_cap:    regions @out can hold; @nr + @nr_cuts are enough, at least @nr.
 * @generation: of regions whose borders change.
 *
 * A cut inside a region divides it unless it goes through a leaf or @out is full;
 * the parts inherit its hotness and are to be counted again. Pages covered and
 * resident stay as they are.
 *
 * Return: number of regions in @out.
 */
__u32 hmk_regions_divide(const struct hmk_region *in, __u32 nr, const __u64 *cuts, __u32 nr_cuts,
			 struct hmk_region *out, __u32 out_cap, __u32 generation)
{
	__u32 i, c = 0, n = 0;

	for (i = 0; i < nr; hmk_pause(++i)) {
		struct hmk_region rest = in[i];

		while (c < nr_cuts && cuts[c] <= rest.start)
			c++;
		for (; c < nr_cuts && cuts[c] < rest.end; c++) {
			if (cuts[c] & (hmk_region_leaf_bytes(&rest) - 1) || out_cap - n <= nr - i)
				continue;
			rest.generation = generation;
			hmk_region_set(&rest, HMK_REGION_CENSUS);
			out[n++] = divide_take_left(&rest, cuts[c]);
		}
		out[n++] = rest;
	}
	return n;
}

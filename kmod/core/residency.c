// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Until the census reaches a region, its samples say where it is: on a large
 * address space that takes many intervals, and what is hot should not wait.
 */
#include <hmk/core/region.h>
#include <hmk/core/residency.h>

/* The node of more than half of the samples, if there is one, else any of theirs. */
static __s16 residency_vote(const struct hmk_sample *s, const struct hmk_sample *end)
{
	__s16 node = -1;
	__u32 lead = 0;

	for (; s < end; s++) {
		if (s->node == node) {
			lead++;
		} else if (lead) {
			lead--;
		} else {
			node = s->node;
			lead = 1;
		}
	}
	return node;
}

static void residency_guess(struct hmk_region *r, const struct hmk_sample *s,
			    const struct hmk_sample *end)
{
	__u64 pages = hmk_region_pages(r), away = 0;
	__u32 nr = r->quota;

	r->node = residency_vote(s, end);
	for (; s < end; s++) {
		if (s->node == r->node)
			continue;
		away++;
		r->away_node = s->node;
	}
	r->resident_pages = pages > (__u32)~0u ? (__u32)~0u : (__u32)pages;
	r->away_pages = (__u32)(r->resident_pages * away / nr);
}

/**
 * hmk_residency_guess() - where uncounted regions are, from their samples.
 * @r:       regions; quota is how many of @samples are theirs.
 * @nr:      number of regions.
 * @samples: of this interval, each a page that is present.
 *
 * Regions that wait for the census (HMK_REGION_CENSUS) and have samples are
 * taken as wholly present, on the node of most of their samples. They go on
 * waiting; all others stay as the census left them.
 *
 * Return: the first sample that is none of theirs.
 */
const struct hmk_sample *hmk_residency_guess(struct hmk_region *r, __u32 nr,
					     const struct hmk_sample *samples)
{
	const struct hmk_sample *s = samples;

	for (; nr; nr--, r++) {
		if (hmk_region_is(r, HMK_REGION_STALE))
			continue;
		if (r->quota && hmk_region_is(r, HMK_REGION_CENSUS))
			residency_guess(r, s, s + r->quota);
		s += r->quota;
	}
	return s;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Regions follow what exists: old ones are clipped, new memory becomes new ones.
 */
#include <hmk/core/pause.h>
#include <hmk/core/region.h>

#include "part.h"

struct refresh {
	struct hmk_region *out;
	__u32 cap, nr;
	__u32 generation;
	int span_starts;	/* the next region is the first of its span */
	struct hmk_refresh_result *res;
};

static void refresh_emit(struct refresh *f, struct hmk_region *r)
{
	hmk_region_clear(r, HMK_REGION_VMA_START);
	if (f->span_starts)
		hmk_region_set(r, HMK_REGION_VMA_START);
	f->span_starts = 0;
	hmk_pause(++f->res->needed);
	if (f->nr < f->cap)
		f->out[f->nr++] = *r;
}

/* Regions for a range nobody has seen before, cut at 2 MiB or at its leaves. */
static void refresh_emit_new(struct refresh *f, __u64 from, __u64 to, const struct hmk_span *span)
{
	__u64 step = HMK_CORE_BASE_REGION;

	if (span->leaf_shift > 21 && span->leaf_shift < 48)
		step = 1ull << span->leaf_shift;	/* a region is a leaf at least */
	while (from < to) {
		struct hmk_region r = {
			.start = from,
			.end = min_u64(to, (from / step + 1) * step),
			.generation = f->generation,
			.node = -1,
			.quota = 1,
			.flags = HMK_REGION_NEW | HMK_REGION_CENSUS,
			.leaf_shift = span->leaf_shift,
			.kind = span->kind,
		};

		from = r.end;
		f->res->added++;
		refresh_emit(f, &r);
	}
}

/* What is left of an old region between @from and @to. */
static void refresh_emit_old(struct refresh *f, const struct hmk_region *old, __u64 from, __u64 to)
{
	struct hmk_region r = *old;
	__u64 part = to - from, whole = hmk_region_bytes(old);

	if (part != whole) {
		r.start = from;
		r.end = to;
		r.generation = f->generation;
		r.resident_pages = region_share(old->resident_pages, part, whole);
		r.away_pages = region_share(old->away_pages, part, whole);
		r.quota = (__u16)region_share(old->quota, part, whole);
		if (!r.quota)
			r.quota = 1;
		hmk_region_set(&r, HMK_REGION_CENSUS);
		f->res->clipped++;
	}
	refresh_emit(f, &r);
}

/* Memory of another kind at the same address is other memory. */
static int refresh_continues(const struct hmk_region *old, const struct hmk_span *span)
{
	return old->kind == span->kind;
}

/**
 * hmk_regions_refresh() - bring the regions in line with what exists now.
 * @old:        regions so far, in address order, without overlap.
 * @nr_old:     number of them.
 * @spans:      what is populated now, in address order, without overlap. Two
 *              spans that touch belong to different VMAs.
 * @nr_spans:   number of them.
 * @out:        receives the new array; not @old.
 * @out_cap:    regions @out can hold.
 * @generation: for regions that are new or whose borders change.
 * @res:        receives what was done.
 *
 * Where an old region is still covered by a span of its kind it survives with
 * its hotness, clipped to the span; the rest of each span becomes new regions,
 * cut at multiples of 2 MiB (or of the span's leaf, if larger), with a quota of
 * one sample. No region crosses the border of a span; the first of each span
 * has HMK_REGION_VMA_START.
 *
 * @out is never too short when it holds as many regions as the spans have
 * started pieces of 2 MiB, plus twice @nr_old. If it is, the tail is missing
 * and @res says how many regions were needed. Takes O(@nr_old + result).
 *
 * Return: number of regions in @out.
 */
__u32 hmk_regions_refresh(const struct hmk_region *old, __u32 nr_old,
			  const struct hmk_span *spans, __u32 nr_spans,
			  struct hmk_region *out, __u32 out_cap,
			  __u32 generation, struct hmk_refresh_result *res)
{
	struct refresh f = {
		.out = out, .cap = out_cap, .generation = generation, .res = res,
	};
	__u32 o = 0, s, gap;
	int kept = 0;	/* something of old[o] survives */

	*res = (struct hmk_refresh_result){ .needed = 0 };
	for (s = 0; s < nr_spans; s++) {
		__u64 at = spans[s].start, end = spans[s].end;

		f.span_starts = 1;
		while (at < end) {
			while (o < nr_old && old[o].end <= at) {
				res->dropped += !kept;
				kept = 0;
				o++;
			}
			/* The next old region that goes on within this span. */
			for (gap = o; gap < nr_old && old[gap].start < end; gap++)
				if (refresh_continues(&old[gap], &spans[s]))
					break;
			if (gap < nr_old && old[gap].start <= at) {
				end = min_u64(old[gap].end, spans[s].end);
				refresh_emit_old(&f, &old[gap], at, end);
				kept = 1;
			} else {
				if (gap < nr_old)
					end = min_u64(old[gap].start, spans[s].end);
				refresh_emit_new(&f, at, end, &spans[s]);
			}
			at = end;
			end = spans[s].end;
		}
	}
	for (; o < nr_old; hmk_pause(++o)) {
		res->dropped += !kept;
		kept = 0;
	}
	res->truncated = res->needed > f.nr;
	return f.nr;
}

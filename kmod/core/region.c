// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Regions as an array: refresh, split, merge, each in one linear pass.
 */
#include <hmk/core/region.h>

#define MAX_U16	((__u16)~0u)
#define MAX_U32	((__u32)~0u)

static __u64 min_u64(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* The share of @value that @part of @whole gets; whole is at most 16 TiB. */
static __u32 share(__u32 value, __u64 part, __u64 whole)
{
	return (__u32)(value * (part >> HMK_CORE_PAGE_SHIFT) /
		       (whole >> HMK_CORE_PAGE_SHIFT));
}

/* ---- refresh ------------------------------------------------------------- */

struct refresh {
	struct hmk_region *out;
	__u32 cap, nr;
	__u32 generation;
	int span_starts;	/* the next region is the first of its span */
	struct hmk_refresh_result *res;
};

static void emit(struct refresh *f, struct hmk_region *r)
{
	hmk_region_clear(r, HMK_REGION_VMA_START);
	if (f->span_starts)
		hmk_region_set(r, HMK_REGION_VMA_START);
	f->span_starts = 0;
	f->res->needed++;
	if (f->nr < f->cap)
		f->out[f->nr++] = *r;
}

/* Regions for a range nobody has seen before, cut at 2 MiB or at its leaves. */
static void emit_new(struct refresh *f, __u64 from, __u64 to, const struct hmk_span *span)
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
		emit(f, &r);
	}
}

/* What is left of an old region between @from and @to. */
static void emit_old(struct refresh *f, const struct hmk_region *old, __u64 from, __u64 to)
{
	struct hmk_region r = *old;
	__u64 part = to - from, whole = hmk_region_bytes(old);

	if (part != whole) {
		r.start = from;
		r.end = to;
		r.generation = f->generation;
		r.resident_pages = share(old->resident_pages, part, whole);
		r.away_pages = share(old->away_pages, part, whole);
		r.quota = (__u16)share(old->quota, part, whole);
		if (!r.quota)
			r.quota = 1;
		hmk_region_set(&r, HMK_REGION_CENSUS);
		f->res->clipped++;
	}
	emit(f, &r);
}

/* Memory of another kind at the same address is other memory. */
static int continues(const struct hmk_region *old, const struct hmk_span *span)
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
				if (continues(&old[gap], &spans[s]))
					break;
			if (gap < nr_old && old[gap].start <= at) {
				end = min_u64(old[gap].end, spans[s].end);
				emit_old(&f, &old[gap], at, end);
				kept = 1;
			} else {
				if (gap < nr_old)
					end = min_u64(old[gap].start, spans[s].end);
				emit_new(&f, at, end, &spans[s]);
			}
			at = end;
			end = spans[s].end;
		}
	}
	for (; o < nr_old; o++) {
		res->dropped += !kept;
		kept = 0;
	}
	res->truncated = res->needed > f.nr;
	return f.nr;
}

/* ---- split --------------------------------------------------------------- */

/* Middle of a region at leaf alignment, or 0 when a half were less than a leaf. */
static __u64 middle(const struct hmk_region *r)
{
	__u64 leaf = 1ull << (r->leaf_shift < HMK_CORE_PAGE_SHIFT ?
			      HMK_CORE_PAGE_SHIFT : r->leaf_shift);
	__u64 mid = (r->start + hmk_region_bytes(r) / 2) & ~(leaf - 1);

	/* Rounded down: the right half is never the smaller one. */
	if (mid < r->start || mid - r->start < leaf)
		return 0;
	return mid;
}

static int wants_split(const struct hmk_region *r, const struct hmk_split_rule *rule)
{
	__u32 spread = r->count_max > r->count_min ?
		       (__u32)(r->count_max - r->count_min) << 16 : 0;

	if (hmk_region_is(r, HMK_REGION_NEW | HMK_REGION_STALE | HMK_REGION_IN_FLIGHT))
		return 0;
	return spread > rule->tau2_q16 && r->quota >= 2;
}

static void cut(const struct hmk_region *r, __u64 mid, __u32 generation,
		struct hmk_region *left, struct hmk_region *right)
{
	__u64 part = mid - r->start, whole = hmk_region_bytes(r);

	*left = *r;
	left->end = mid;
	left->generation = generation;
	hmk_region_set(left, HMK_REGION_JUST_SPLIT | HMK_REGION_CENSUS);
	hmk_region_clear(left, HMK_REGION_SCOUTED);
	*right = *left;
	right->start = mid;
	right->end = r->end;
	hmk_region_clear(right, HMK_REGION_VMA_START);

	left->quota = (__u16)((r->quota + 1) / 2);
	right->quota = (__u16)(r->quota - left->quota);
	left->resident_pages = share(r->resident_pages, part, whole);
	right->resident_pages = r->resident_pages - left->resident_pages;
	left->away_pages = share(r->away_pages, part, whole);
	right->away_pages = r->away_pages - left->away_pages;
}

/**
 * hmk_regions_split() - halve regions whose samples disagree (HK-13).
 * @in:      regions in address order, without overlap.
 * @nr:      number of them.
 * @out:     receives the result; not @in.
 * @out_cap: regions @out can hold, at least @nr.
 * @rule:    when samples disagree.
 * @res:     receives what was done.
 *
 * A region is cut in its middle, at leaf alignment, when the spread of its
 * counts is above tau2. The halves inherit its hotness and share its quota
 * evenly, an odd sample going to the left. Not cut: new, stale and moving
 * regions, those of one sample, those of less than two whole leaves, and when
 * @out is full. Pages covered and sum of quotas stay as they are.
 *
 * Return: number of regions in @out.
 */
__u32 hmk_regions_split(const struct hmk_region *in, __u32 nr,
			struct hmk_region *out, __u32 out_cap,
			const struct hmk_split_rule *rule,
			struct hmk_split_result *res)
{
	__u32 i, n = 0;

	*res = (struct hmk_split_result){ .splits = 0 };
	for (i = 0; i < nr && n < out_cap; i++) {
		__u64 mid = wants_split(&in[i], rule) ? middle(&in[i]) : 0;

		if (mid && out_cap - n > nr - i) {
			cut(&in[i], mid, rule->generation, &out[n], &out[n + 1]);
			n += 2;
			res->splits++;
			continue;
		}
		res->no_room += mid != 0;
		out[n] = in[i];
		hmk_region_clear(&out[n++], HMK_REGION_JUST_SPLIT);
	}
	return n;
}

/* ---- merge --------------------------------------------------------------- */

/* Mean of two values, weighted by size in pages; of at most 16 TiB together. */
static __u32 weighted(__u32 a, __u64 pages_a, __u32 b, __u64 pages_b)
{
	__u64 pages = pages_a + pages_b;

	return (__u32)((a * pages_a + b * pages_b + pages / 2) / pages);
}

static __u32 apart(__u32 a, __u32 b)
{
	return a > b ? a - b : b - a;
}

/*
 * Alike now (HK-12) and alike before: a hot piece whose one sample missed for
 * once has a cold HI, but not a cold WHI.
 */
static int may_merge(const struct hmk_region *a, const struct hmk_region *b,
		     const struct hmk_merge_rule *rule)
{
	const __u32 never = HMK_REGION_NEW | HMK_REGION_IN_FLIGHT | HMK_REGION_JUST_SPLIT;

	return a->end == b->start && a->kind == b->kind && a->leaf_shift == b->leaf_shift &&
	       a->node == b->node &&
	       !hmk_region_is(a, never) && !hmk_region_is(b, never | HMK_REGION_VMA_START) &&
	       apart(a->hi_q16, b->hi_q16) < rule->tau1_q16 &&
	       apart(a->whi_q16, b->whi_q16) < rule->tau1_q16 && b->end - a->start <= rule->max_bytes;
}

static void absorb(struct hmk_region *a, const struct hmk_region *b,
		   const struct hmk_merge_rule *rule, struct hmk_merge_result *res)
{
	__u64 pages_a = hmk_region_pages(a), pages_b = hmk_region_pages(b);
	__u32 quota = (__u32)a->quota + b->quota, writes = (__u32)a->writes + b->writes;
	__u64 accesses = (__u64)a->accesses + b->accesses;
	__u32 both_stale = a->flags & b->flags & HMK_REGION_STALE;

	a->hi_q16 = weighted(a->hi_q16, pages_a, b->hi_q16, pages_b);
	a->prev_hi_q16 = weighted(a->prev_hi_q16, pages_a, b->prev_hi_q16, pages_b);
	a->whi_q16 = weighted(a->whi_q16, pages_a, b->whi_q16, pages_b);
	a->accesses = accesses > MAX_U32 ? MAX_U32 : (__u32)accesses;
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
 * touch, of one kind and leaf size, in one VMA, on one node, judged, not moving
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
	for (i = 1; i < nr; i++) {
		if (may_merge(&r[last], &r[i], rule)) {
			absorb(&r[last], &r[i], rule, res);
		} else {
			hmk_region_clear(&r[last], HMK_REGION_JUST_SPLIT);
			r[++last] = r[i];
		}
	}
	hmk_region_clear(&r[last], HMK_REGION_JUST_SPLIT);
	return last + 1;
}

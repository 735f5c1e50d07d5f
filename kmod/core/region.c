// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Regions as an array: refresh, split, merge, each in one linear pass.
 */
#include <hmk/core/hotness.h>
#include <hmk/core/ladder.h>
#include <hmk/core/region.h>

#define MAX_U16	((__u16)~0u)
#define MAX_U32	((__u32)~0u)

static __u64 min_u64(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* The share of @value that @part of @whole gets; whole is at most 16 TiB. */
static __u32 region_share(__u32 value, __u64 part, __u64 whole)
{
	return (__u32)(value * (part >> HMK_CORE_PAGE_SHIFT) /
		       (whole >> HMK_CORE_PAGE_SHIFT));
}

static __u32 region_share_up(__u32 value, __u64 part, __u64 whole)
{
	return value - region_share(value, whole - part, whole);
}

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

/* ---- refresh ------------------------------------------------------------- */

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
	f->res->needed++;
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
	for (; o < nr_old; o++) {
		res->dropped += !kept;
		kept = 0;
	}
	res->truncated = res->needed > f.nr;
	return f.nr;
}

/* ---- samples ------------------------------------------------------------- */

/* Hot areas are looked for at this grain: 2 MiB, or a leaf if that is more. */
static __u64 piece_bytes(const struct hmk_region *r)
{
	return r->leaf_shift > 21 && r->leaf_shift < 48 ? 1ull << r->leaf_shift
							: HMK_CORE_BASE_REGION;
}

static __u64 piece_start(const struct hmk_region *r, __u64 address)
{
	__u64 start = address & ~(piece_bytes(r) - 1);

	return start > r->start ? start : r->start;
}

static __u64 piece_end(const struct hmk_region *r, __u64 address)
{
	return min_u64((address | (piece_bytes(r) - 1)) + 1, r->end);
}

/**
 * hmk_region_sample() - the page a sample watches.
 * @r:        its region.
 * @k:        number of the sample in its region, below @quota.
 * @quota:    samples of the region, not 0.
 * @interval: number of the interval.
 * @random:   picks the page in its piece.
 *
 * The samples lie evenly over the region's pieces of 2 MiB, one piece further in
 * each interval: after pieces / @quota intervals every piece has been watched,
 * where chance alone leaves out a third of them.
 *
 * Return: a page address in @r.
 */
__u64 hmk_region_sample(const struct hmk_region *r, __u32 k, __u32 quota,
			__u64 interval, __u64 random)
{
	__u64 size = piece_bytes(r), first = r->start & ~(size - 1);
	__u64 pieces = (r->end - first + size - 1) / size;
	__u64 at = first + (k * pieces / quota + interval) % pieces * size;
	__u64 from = piece_start(r, at), pages = (piece_end(r, at) - from) >> HMK_CORE_PAGE_SHIFT;

	return from + (random % pages << HMK_CORE_PAGE_SHIFT);
}

/* ---- split --------------------------------------------------------------- */

#define MAX_PARTS	(HMK_CORE_MAX_QUOTA + 1)
#define TRUST_ONE	16u	/* that of one sample */
#define PIECE_TRUST	(TRUST_ONE / 8)	/* of a piece chosen because it stands out */
#define SPLIT_TRUST	(3 * TRUST_ONE)	/* a region of one sample: what that is compared with */

/* Where a region comes apart. */
struct cuts {
	__u32 nr;			/* parts, in address order */
	__u64 end[MAX_PARTS];
	int   count[MAX_PARTS];		/* of the odd sample in the part; -1: none */
};

static void split_add_part(struct cuts *c, __u64 end, int count)
{
	c->end[c->nr] = end;
	c->count[c->nr++] = count;
}

/* Middle of a region at leaf alignment, or 0 when a half were less than a leaf. */
static __u64 split_middle(const struct hmk_region *r)
{
	__u64 leaf = hmk_region_leaf_bytes(r);
	__u64 mid = (r->start + hmk_region_bytes(r) / 2) & ~(leaf - 1);

	/* Rounded down: the right half is never the smaller one. */
	if (mid < r->start || mid - r->start < leaf)
		return 0;
	return mid;
}

/* Which counts of a region are odd: below @few or from @many on. */
struct odd {
	__u32 few, many;
};

/* WHI as it was without the samples of this interval, if there were others. */
static __u32 split_past(const struct hmk_region *r)
{
	__u32 now = r->quota * TRUST_ONE;
	__u64 all = (__u64)r->whi_q16 * r->trust, new = (__u64)r->hi_q16 * now;

	return r->trust > now && all > new ? (__u32)((all - new) / (r->trust - now)) : r->whi_q16;
}

/* With a ladder: what chance would rarely give, and a read of this interval says. */
static struct odd split_odd_by_chance(const struct hmk_region *r, const struct hmk_ladder *l)
{
	__u32 row = hmk_ladder_row(l, split_past(r)), end = r->rung + l->num_scans;
	struct odd odd = { .few = l->few[row], .many = l->many[row] };

	if (odd.few > end)
		odd.few = end;
	if (odd.many <= r->rung)
		odd.many = r->rung + 1u;
	return odd;
}

static int split_is_odd(const struct odd *odd, __u32 count)
{
	return count < odd->few || count >= odd->many;
}

static int split_wanted(const struct hmk_region *r, const struct hmk_split_rule *rule)
{
	__u32 spread = r->count_max > r->count_min ?
		       (__u32)(r->count_max - r->count_min) << 16 : 0;

	if (hmk_region_is(r, HMK_REGION_NEW | HMK_REGION_STALE) || !r->quota)
		return 0;
	if (hmk_ladder_climbs(rule->ladder)) {
		struct odd odd = split_odd_by_chance(r, rule->ladder);

		return (r->quota >= 2 || r->trust >= SPLIT_TRUST) &&
		       (split_is_odd(&odd, r->count_min) || split_is_odd(&odd, r->count_max));
	}
	return spread > rule->tau2_q16 && r->quota >= 2;
}

/* Chapter 8: odd are the fewer ones above or below the middle; of as many, the high ones. */
static struct odd split_odd_by_number(const struct hmk_region *r, const struct hmk_sample *s)
{
	__u32 k, high = 0, middle = ((__u32)r->count_min + r->count_max) / 2 + 1;

	for (k = 0; k < r->quota; k++)
		high += s[k].count >= middle;
	return 2 * high <= r->quota ? (struct odd){ .few = 0, .many = middle }
				    : (struct odd){ .few = middle, .many = ~0u };
}

/* The odd sample with the lowest address from @from on, or NULL. */
static const struct hmk_sample *split_next_odd(const struct hmk_region *r,
					       const struct hmk_sample *s,
					       const struct odd *odd, __u64 from)
{
	const struct hmk_sample *next = (void *)0;
	__u32 k;

	for (k = 0; k < r->quota; k++) {
		if (split_is_odd(odd, s[k].count) && s[k].addr >= from &&
		    (!next || s[k].addr < next->addr))
			next = &s[k];
	}
	return next;
}

/*
 * The piece of each odd sample, and what lies between; a single piece is halved.
 * No part is less than a leaf: a piece takes in what would be.
 */
static void split_find_cuts(const struct hmk_region *r, const struct hmk_sample *s,
			    const struct hmk_split_rule *rule, struct cuts *c)
{
	const struct odd are_odd = hmk_ladder_climbs(rule->ladder) ?
		split_odd_by_chance(r, rule->ladder) : split_odd_by_number(r, s);
	const __u64 leaf = hmk_region_leaf_bytes(r);
	const struct hmk_sample *odd;
	__u64 from, at = r->start;

	c->nr = 0;
	for (odd = split_next_odd(r, s, &are_odd, at); odd && c->nr + 2 < MAX_PARTS;
	     odd = split_next_odd(r, s, &are_odd, at)) {
		from = piece_start(r, odd->addr);
		if (from < at + leaf)
			from = at;
		else
			split_add_part(c, from, -1);
		at = piece_end(r, odd->addr);
		if (at < from + leaf)
			at = piece_end(r, at);
		if (r->end < at + leaf)
			at = r->end;
		split_add_part(c, at, odd->count);
	}
	if (c->nr == 1 && at == r->end) {
		c->nr = 0;
		at = r->quota > 1 ? split_middle(r) : 0;
		if (at)
			split_add_part(c, at, -1);
	}
	if (at < r->end)
		split_add_part(c, r->end, -1);
}

/* What an odd sample says holds for its piece alone. */
static void split_judge_piece(struct hmk_region *piece, int count,
			      const struct hmk_split_rule *rule)
{
	piece->prev_hi_q16 = piece->hi_q16;
	piece->hi_q16 = (__u32)count << 16;
	if (!hmk_ladder_climbs(rule->ladder)) {
		piece->whi_q16 = hmk_hotness_ema_q16(piece->whi_q16, piece->hi_q16,
						     rule->alpha_q16);
		return;
	}
	piece->whi_q16 = piece->hi_q16;
	piece->trust = PIECE_TRUST;
	hmk_region_set(piece, HMK_REGION_AGAIN);
}

/* What the others say holds for the rest: the odd ones no longer count there. */
static void split_judge_rest(struct hmk_region *rest, const struct cuts *c)
{
	__u64 all = (__u64)rest->whi_q16 * rest->trust, odd = 0;
	__u32 i, trust = 0;

	for (i = 0; i < c->nr; i++) {
		if (c->count[i] >= 0) {
			odd += ((__u64)(__u32)c->count[i] << 16) * TRUST_ONE;
			trust += TRUST_ONE;
		}
	}
	if (trust + TRUST_ONE > rest->trust || odd > all)
		return;
	rest->trust = (__u16)(rest->trust - trust);
	rest->whi_q16 = (__u32)((all - odd) / rest->trust);
}

/* Each part has one sample, a piece no more; pages and other samples go by size. */
static void split_cut(const struct hmk_region *r, const struct cuts *c,
		      const struct hmk_split_rule *rule, struct hmk_region *out)
{
	struct hmk_region rest = *r;
	__u32 i, more = r->quota > c->nr ? r->quota - c->nr : 0;

	if (hmk_ladder_climbs(rule->ladder))
		split_judge_rest(&rest, c);
	rest.generation = rule->generation;
	hmk_region_set(&rest, HMK_REGION_JUST_SPLIT | HMK_REGION_CENSUS);
	hmk_region_clear(&rest, HMK_REGION_SCOUTED);
	for (i = 0; i < c->nr; i++) {
		__u64 part = c->end[i] - rest.start, whole = hmk_region_bytes(&rest);
		__u32 given = region_share_up(more, part, whole), trust;

		out[i] = rest;
		out[i].end = c->end[i];
		out[i].quota = (__u16)(1 + given);
		out[i].resident_pages = region_share(rest.resident_pages, part, whole);
		out[i].away_pages = region_share(rest.away_pages, part, whole);
		trust = region_share_up(rest.trust, part, whole);
		out[i].trust = (__u16)(trust > TRUST_ONE ? trust : TRUST_ONE);
		if (c->count[i] >= 0)
			split_judge_piece(&out[i], c->count[i], rule);
		else
			rest.trust = (__u16)(rest.trust - trust);
		more -= given;
		rest.start = c->end[i];
		rest.resident_pages -= out[i].resident_pages;
		rest.away_pages -= out[i].away_pages;
		hmk_region_clear(&rest, HMK_REGION_VMA_START);
	}
}

/**
 * hmk_regions_split_room() - how long an array hmk_regions_split() can need.
 * @in:   regions.
 * @nr:   number of them.
 * @rule: as it will be given.
 *
 * Return: regions, saturating.
 */
__u32 hmk_regions_split_room(const struct hmk_region *in, __u32 nr,
			     const struct hmk_split_rule *rule)
{
	/* An odd sample cuts twice; without a ladder at most half of them are odd. */
	__u32 i, each = hmk_ladder_climbs(rule->ladder) ? 2 : 1;
	__u64 room = nr;

	for (i = 0; i < nr; i++)
		room += split_wanted(&in[i], rule) ? each * in[i].quota : 0;
	return room > MAX_U32 ? MAX_U32 : (__u32)room;
}

/**
 * hmk_regions_split() - take regions apart whose samples disagree (HK-13).
 * @in:      regions in address order, without overlap.
 * @nr:      number of them.
 * @samples: of this interval, as hmk_hotness_gather() had them.
 * @out:     receives the result; not @in.
 * @out_cap: regions @out can hold, at least @nr.
 * @rule:    when samples disagree.
 * @res:     receives what was done.
 *
 * When the spread of a region's counts is above tau2, or with a ladder when a count is
 * one that chance rarely gives at its hotness, the 2 MiB around each odd
 * sample become a region of their own, judged by that sample; a region of at
 * most 2 MiB is cut in its middle, at leaf alignment. All other parts inherit
 * its hotness. Each part has one sample at least; what that takes beyond the
 * region's own is lent. Not cut: new and stale regions, those of one sample (with a
 * ladder: unless earlier ones tell what is odd), those of less than two whole leaves,
 * and when @out is full. Pages
 * covered and resident stay as they are.
 *
 * Return: number of regions in @out.
 */
__u32 hmk_regions_split(const struct hmk_region *in, __u32 nr,
			const struct hmk_sample *samples,
			struct hmk_region *out, __u32 out_cap,
			const struct hmk_split_rule *rule,
			struct hmk_split_result *res)
{
	struct cuts c;
	__u32 i, n = 0;

	*res = (struct hmk_split_result){ .splits = 0 };
	for (i = 0; i < nr && n < out_cap; i++) {
		c.nr = 1;
		if (split_wanted(&in[i], rule))
			split_find_cuts(&in[i], samples, rule, &c);
		if (!hmk_region_is(&in[i], HMK_REGION_STALE))
			samples += in[i].quota;
		if (c.nr > 1 && out_cap - n >= nr - i - 1 + c.nr) {
			split_cut(&in[i], &c, rule, &out[n]);
			n += c.nr;
			res->splits += c.nr - 1;
			res->lent_quota += c.nr > in[i].quota ? c.nr - in[i].quota : 0;
			continue;
		}
		res->no_room += c.nr > 1;
		out[n] = in[i];
		hmk_region_clear(&out[n++], HMK_REGION_JUST_SPLIT);
	}
	return n;
}

/* ---- merge --------------------------------------------------------------- */

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
	for (i = 1; i < nr; i++) {
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

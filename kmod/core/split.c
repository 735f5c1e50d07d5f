// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Regions come apart where their samples disagree.
 */
#include <hmk/core/hotness.h>
#include <hmk/core/ladder.h>
#include <hmk/core/pause.h>
#include <hmk/core/region.h>

#include "part.h"

#define MAX_U32		((__u32)~0u)
#define MAX_PARTS	(HMK_CORE_MAX_QUOTA + 1)
#define TRUST_ONE	16u	/* that of one sample */
#define PIECE_TRUST	(TRUST_ONE / 8)	/* of a piece chosen because it stands out */
#define FAR_APART	3u		/* steps: a rate 512 times as high */
#define SPLIT_TRUST	(3 * TRUST_ONE)	/* a region of one sample: what that is compared with */

/* Where a region comes apart. */
struct cuts {
	__u32 nr;			/* parts, in address order */
	__u64 end[MAX_PARTS];
	const struct hmk_sample *odd[MAX_PARTS];	/* that the part was cut out for, or NULL */
};

static void split_add_part(struct cuts *c, __u64 end, const struct hmk_sample *odd)
{
	c->end[c->nr] = end;
	c->odd[c->nr++] = odd;
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
	/* Of what is mixed classes tell more than borders, of which each takes records. */
	if (hmk_region_is(r, HMK_REGION_NEW | HMK_REGION_STALE | HMK_REGION_MIXED))
		return 0;
	if (hmk_ladder_climbs(rule->ladder))
		return hmk_region_is(r, HMK_REGION_ODD) &&
		       (r->quota >= 2 || (r->quota && r->trust >= SPLIT_TRUST));
	return r->quota >= 2 && r->count_max > r->count_min &&
	       (__u32)(r->count_max - r->count_min) << 16 > rule->tau2_q16;
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

/*
 * Whether a region is hot in part: its coldest sample would be odd if all of it were as hot
 * as its hottest, and they are far apart. One that has changed as a whole, and of which a
 * sample lags behind by chance, is not.
 */
static int split_in_part(const struct hmk_region *r, const struct hmk_ladder *l)
{
	return r->count_max >= r->count_min + FAR_APART &&
	       r->count_min < l->few[hmk_ladder_row(l, (__u32)r->count_max << 16)];
}

/*
 * How much is cut out around an odd sample: a piece, and a quarter of a region that is no
 * more than one and is hot in part. What is hot in it may be that small, and halves
 * would lose it again.
 */
static __u64 split_odd_bytes(const struct hmk_region *r, const struct hmk_split_rule *rule)
{
	const __u64 leaf = hmk_region_leaf_bytes(r);
	__u64 size = piece_bytes(r);

	if (!hmk_ladder_climbs(rule->ladder) || hmk_region_bytes(r) > size ||
	    !split_in_part(r, rule->ladder))
		return size;
	while (size > leaf && 4 * size > hmk_region_bytes(r))
		size /= 2;
	return size;
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
 * The piece or quarter of each odd sample, and what lies between; a single one is halved.
 * No part is less than a leaf: a piece takes in what would be.
 */
static void split_find_cuts(const struct hmk_region *r, const struct hmk_sample *s,
			    const struct hmk_split_rule *rule, struct cuts *c)
{
	const struct odd are_odd = hmk_ladder_climbs(rule->ladder) ?
		split_odd_by_chance(r, rule->ladder) : split_odd_by_number(r, s);
	const __u64 leaf = hmk_region_leaf_bytes(r), size = split_odd_bytes(r, rule);
	const struct hmk_sample *odd;
	__u64 from, at = r->start;

	c->nr = 0;
	for (odd = split_next_odd(r, s, &are_odd, at); odd && c->nr + 2 < MAX_PARTS;
	     odd = split_next_odd(r, s, &are_odd, at)) {
		from = part_start(r, odd->addr, size);
		if (from < at + leaf)
			from = at;
		else
			split_add_part(c, from, (void *)0);
		at = part_end(r, odd->addr, size);
		if (at < from + leaf)
			at = part_end(r, at, size);
		if (r->end < at + leaf)
			at = r->end;
		split_add_part(c, at, odd);
	}
	if (c->nr == 1 && at == r->end) {
		c->nr = 0;
		at = r->quota > 1 ? split_middle(r) : 0;
		if (at)
			split_add_part(c, at, (void *)0);
	}
	if (at < r->end)
		split_add_part(c, r->end, (void *)0);
}

/* The quarter of the region that the address is in, as HMK_REGION_QUARTER notes it. */
static __u32 split_quarter(const struct hmk_region *r, __u64 address)
{
	return (__u32)((address - r->start) * 4 / hmk_region_bytes(r) + 1)
	       << HMK_REGION_QUARTER_SHIFT;
}

/* What an odd sample says holds for its piece alone. */
static void split_judge_piece(struct hmk_region *piece, const struct hmk_sample *odd,
			      const struct hmk_split_rule *rule)
{
	piece->prev_hi_q16 = piece->hi_q16;
	piece->hi_q16 = (__u32)odd->count << 16;
	if (!hmk_ladder_climbs(rule->ladder)) {
		piece->whi_q16 = hmk_hotness_ema_q16(piece->whi_q16, piece->hi_q16,
						     rule->alpha_q16);
		return;
	}
	piece->whi_q16 = piece->hi_q16;
	piece->trust = PIECE_TRUST;
	hmk_region_set(piece, HMK_REGION_AGAIN | split_quarter(piece, odd->addr));
}

/* What the others say holds for the rest: the odd ones no longer count there. */
static void split_judge_rest(struct hmk_region *rest, const struct cuts *c)
{
	__u64 all = (__u64)rest->whi_q16 * rest->trust, odd = 0;
	__u32 i, trust = 0;

	for (i = 0; i < c->nr; i++) {
		if (c->odd[i]) {
			odd += ((__u64)c->odd[i]->count << 16) * TRUST_ONE;
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
		if (c->odd[i])
			split_judge_piece(&out[i], c->odd[i], rule);
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

	for (i = 0; i < nr; hmk_pause(++i))
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
 * most 2 MiB is cut in its middle, or with a ladder around the sample, at leaf
 * alignment. All other parts inherit its hotness. Each part has one sample at least; what
 * that takes beyond the region's own is lent. Not cut: new and stale regions, those of one
 * sample (with a ladder: unless earlier ones tell what is odd), those of less than two
 * whole leaves, and when @out is full. Pages covered and resident stay as they are.
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
	for (i = 0; i < nr && n < out_cap; hmk_pause(++i)) {
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

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * From the counts of an interval to hotness on the scale of the ladder: what a region
 * is like, how sure that is, and which windows it needs next.
 *
 * WHI is a mean of all its samples, older ones counting less; @trust says of how many.
 * What is far from that by more than chance explains is a change, and the past is
 * forgotten. The less trust, the more a region is taken for one like all others.
 */
#include <hmk/core/hotness.h>
#include <hmk/core/ladder.h>
#include <hmk/core/region.h>

#define MAX_U16		((__u16)~0u)
#define TRUST_ONE	16u	/* one sample */
#define EDGE_Q16	(HMK_CORE_Q16_ONE / 4)	/* this near to an end HI is at the end */
#define JUMP_Z2		16u	/* surprises of 4 sigma are a change, */
/* So is one of 1.7 upwards, or of 1.5 downwards, and the next of 1 the same way. In quarters: */
#define RISE_Z2		12u
#define FALL_Z2		9u	/* nothing is below no access: counts there fall short of normal */
#define CHANGES		(HMK_REGION_RISING | HMK_REGION_FALLING)
#define FADE_LEAST	(3 * TRUST_ONE)
#define KAPPA_LEAST	(TRUST_ONE / 8)
#define KAPPA_USUAL	(TRUST_ONE * 3 / 4)
#define KAPPA_MOST	(TRUST_ONE * 7 / 4)
#define SPREAD_Q16	(HMK_CORE_Q16_ONE * 2 / 5)	/* of regions that nobody has judged yet */

/* As hmk_ladder_row(), for hotness that was judged: it is on the scale. */
static __u32 judge_row(__u32 hotness_q16)
{
	const __u32 row = hotness_q16 / (HMK_CORE_Q16_ONE / HMK_LADDER_STEPS);

	return row < HMK_LADDER_ROWS ? row : HMK_LADDER_ROWS - 1;
}

/* @value above 1. */
static __u32 judge_inverse_q32(__u32 value)
{
	return ~(__u32)0 / value;
}

/* ---- rungs --------------------------------------------------------------- */

/*
 * Windows around @whi_q16. What is no hotter than most is left room above it, where hot
 * pieces inside show; what is hotter, room below, where it shows that it has cooled.
 */
static __u8 judge_center(const struct hmk_ladder *l, const struct hmk_crowd *crowd,
			 __u32 whi_q16)
{
	__u32 half = HMK_CORE_Q16_ONE / 2, top = hmk_ladder_top(l);
	__u32 below = whi_q16 > crowd->mean_q16 + half ? 3 * half : half;
	__u32 want = whi_q16 > below ? (whi_q16 - below) / HMK_CORE_Q16_ONE : 0;

	return (__u8)(want < top ? want : top);
}

/**
 * hmk_ladder_place() - where the windows of new regions begin.
 * @l:     the ladder.
 * @crowd: of their process.
 * @r:     regions; those that were judged before stay on their rung.
 * @nr:    number of them.
 *
 * At what all regions are like. While nothing is known, half of them watch the longest
 * windows and the others all rungs in turn, so that one interval tells the decade.
 */
void hmk_ladder_place(const struct hmk_ladder *l, const struct hmk_crowd *crowd,
		      struct hmk_region *r, __u32 nr)
{
	__u32 i, top = hmk_ladder_top(l);

	for (i = 0; i < nr; i++) {
		if (!hmk_region_is(&r[i], HMK_REGION_NEW))
			continue;
		if (crowd->known)
			r[i].rung = judge_center(l, crowd, crowd->mean_q16);
		else
			r[i].rung = (__u8)(i % 2 && top ? i / 2 % top + 1 : 0);
	}
}

/* All its reads, or none, saw it, now and before: WHI lies beyond its windows. Return: flags. */
static __u32 judge_rung(const struct hmk_ladder *l, const struct hmk_crowd *crowd,
			struct hmk_region *r)
{
	__u32 low = (__u32)r->rung << 16, high = low + (l->num_scans << 16);
	__u32 top = hmk_ladder_top(l), jump = l->num_scans > 1 ? l->num_scans - 1 : 1;

	if (r->hi_q16 + EDGE_Q16 >= high && r->rung < top && r->whi_q16 + 2 * EDGE_Q16 >= high) {
		r->rung = (__u8)(r->rung + jump < top ? r->rung + jump : top);
		return r->whi_q16 <= crowd->mean_q16 + HMK_CORE_Q16_ONE * 3 / 2 ?
		       HMK_REGION_BEYOND | HMK_REGION_AGAIN : HMK_REGION_BEYOND;
	}
	if (r->hi_q16 <= low + EDGE_Q16 && r->rung && r->whi_q16 <= low + 2 * EDGE_Q16) {
		r->rung = (__u8)(r->rung > jump ? r->rung - jump : 0);
		return HMK_REGION_BEYOND;
	}
	r->rung = judge_center(l, crowd, r->whi_q16);
	return 0;
}

/* ---- hotness ------------------------------------------------------------- */

/* A quarter of the past is forgotten in each interval, but never the last samples. */
static __u32 judge_faded(__u32 trust)
{
	__u32 faded = trust - trust / 4;

	if (faded < FADE_LEAST)
		faded = trust < FADE_LEAST ? trust : FADE_LEAST;
	return faded;
}

/* Whether only some of its pieces have become hotter, or may have: that is for a split to tell. */
static int judge_in_part(const struct hmk_region *r)
{
	if ((__u32)r->count_max << 16 <= r->whi_q16)
		return 0;
	return (__u32)r->count_min << 16 <= r->whi_q16 ||
	       (r->quota == 1 && hmk_region_bytes(r) > HMK_CORE_BASE_REGION);
}

/* New samples beside the past, both in 1/16 of a sample. */
struct news {
	__u32 hi_q16;
	__u32 samples, trust;
	__u32 row;	/* of WHI so far */
	/*
	 * z2 / one is the square of how far HI is from WHI, over what chance explains:
	 * variance * (1/samples + 1/trust).
	 */
	__u64 z2, one;
};

/* Far off, seldom, or already suspected to change: what is left of the past. *@flags: of @r. */
static __u32 judge_change(const struct hmk_ladder *l, const struct hmk_region *r,
			  const struct news *n, __u32 *flags)
{
	__u32 way = n->hi_q16 > r->whi_q16 ? HMK_REGION_RISING : HMK_REGION_FALLING;
	__u32 trust = n->trust;
	const int again = (*flags & way) && n->z2 > n->one;

	if ((n->z2 > JUMP_Z2 * n->one && !judge_in_part(r)) || again ||
	    r->count_max < l->few[n->row])
		trust /= 8;
	if (4 * n->z2 <= (way == HMK_REGION_FALLING ? FALL_Z2 : RISE_Z2) * n->one && !again)
		way = 0;
	/*
	 * Windows that were too short for all counts made WHI a bound, which these may agree
	 * with; those that were too long made it what was never seen.
	 */
	if ((*flags & HMK_REGION_BEYOND) && (n->z2 > n->one || !r->rung))
		trust /= 4;
	*flags = (*flags & ~(__u32)CHANGES) | way;
	return trust;
}

/* Whether one more look decides: it stands out, but few samples say so. */
static __u32 judge_again(const struct hmk_crowd *crowd, const struct hmk_region *r)
{
	__u32 all = r->trust + crowd->kappa;
	__u64 out;

	if (r->trust >= TRUST_ONE * 5 / 2 || r->whi_q16 <= crowd->mean_q16)
		return 0;
	out = (__u64)(r->whi_q16 - crowd->mean_q16) * r->trust;
	return out > (__u64)all * (HMK_CORE_Q16_ONE * 35 / 100) &&
	       out < (__u64)all * (HMK_CORE_Q16_ONE * 130 / 100) ? HMK_REGION_AGAIN : 0;
}

/* Whether a count is one that chance rarely gives, */
static int judge_odd(const struct hmk_ladder *l, const struct hmk_region *r, __u32 row)
{
	return (r->count_min < l->few[row]) | (r->count_max >= l->many[row]);
}

/* and one that a read tells: its windows are no reason. */
static int judge_told(const struct hmk_ladder *l, const struct hmk_region *r, __u32 row)
{
	return (r->count_min < l->few[row] && r->count_min < r->rung + l->num_scans) ||
	       (r->count_max >= l->many[row] && r->count_max > r->rung);
}

/* The mean count, to the nearest; without a division for what quotas there are. */
static __u32 judge_mean_q16(__u32 accesses, __u32 quota)
{
	/* 2^32 / quota, rounded up: exact for sums below 2^27. */
	static const __u64 inverse[HMK_CORE_MAX_QUOTA + 1] = {
		0, 4294967296, 2147483648, 1431655766, 1073741824, 858993460, 715827883, 613566757,
		536870912, 477218589, 429496730, 390451573, 357913942, 330382100, 306783379,
		286331154, 268435456, 252645136, 238609295, 226050911, 214748365, 204522253,
		195225787, 186737709, 178956971, 171798692, 165191050, 159072863, 153391690,
		148102321, 143165577, 138547333, 134217728,
	};
	const __u32 sum_q16 = (accesses << 16) + quota / 2;

	return quota <= HMK_CORE_MAX_QUOTA ? (__u32)(sum_q16 * inverse[quota] >> 32)
					   : sum_q16 / quota;
}

/* @part of the way, the rest of a whole whose inverse is given in Q32; to the nearest. */
static __u32 judge_towards(__u32 from_q16, __u32 to_q16, __u32 part, __u32 inverse_q32)
{
	const __s64 way = (__s32)(to_q16 - from_q16);

	return from_q16 + (__u32)((way * part * inverse_q32 + (1ll << 31)) >> 32);
}

/* Most regions are what they were: one branch says so. Return: 1 / trust, in Q32. */
static __u32 judge(const struct hmk_ladder *l, const struct hmk_crowd *crowd, struct hmk_region *r)
{
	struct news n = {
		.hi_q16 = judge_mean_q16(r->accesses, r->quota),
		.samples = r->quota * TRUST_ONE,
		.trust = judge_faded(r->trust),
		.row = judge_row(r->whi_q16),
	};
	const __s64 apart = (__s32)(n.hi_q16 - r->whi_q16);
	__u32 flags = r->flags, trust, inverse;
	int odd = judge_odd(l, r, n.row);

	n.z2 = ((__u64)(apart * apart) >> 16) * ((__u64)n.samples * n.trust);
	n.one = (__u64)l->chance_q20[n.row] * (n.samples + n.trust);
	r->prev_hi_q16 = r->hi_q16;
	r->hi_q16 = n.hi_q16;
	if (flags & HMK_REGION_NEW) {
		r->prev_hi_q16 = n.hi_q16;	/* no interval before: has not changed */
		r->whi_q16 = n.hi_q16;
		n.trust = 0;
		n.row = judge_row(n.hi_q16);
		odd = judge_odd(l, r, n.row);
	} else if (flags & (CHANGES | HMK_REGION_BEYOND) || odd ||
		   4 * n.z2 > (apart < 0 ? FALL_Z2 : RISE_Z2) * n.one) {
		n.trust = judge_change(l, r, &n, &flags);
	}
	trust = n.samples + n.trust;
	inverse = judge_inverse_q32(trust);
	r->whi_q16 = judge_towards(r->whi_q16, n.hi_q16, n.samples, inverse);
	r->trust = trust > MAX_U16 ? MAX_U16 : (__u16)trust;
	r->age = (__u8)(r->age + (r->age < 0xff));
	flags &= ~(HMK_REGION_NEW | HMK_REGION_AGAIN | HMK_REGION_BEYOND | HMK_REGION_ODD |
		   HMK_REGION_QUARTER);
	flags |= judge_again(crowd, r);
	flags |= judge_rung(l, crowd, r);
	if (odd && judge_told(l, r, n.row))
		flags |= HMK_REGION_ODD;
	r->flags = (__u16)flags;
	return inverse;
}

/* ---- all of them --------------------------------------------------------- */

/* @inverse: 1 / trust of @r, in Q32. */
static void crowd_add(struct hmk_crowd *c, const struct hmk_ladder *l,
		      const struct hmk_region *r, __u32 inverse)
{
	const __u64 pages = hmk_region_pages(r), whi_pages = pages * (r->whi_q16 >> 8);
	const __u64 var = (__u64)l->var_q16[judge_row(r->whi_q16)] * TRUST_ONE;

	c->pages += pages;
	if (hmk_region_is(r, HMK_REGION_NEW | HMK_REGION_BEYOND))
		return;
	c->judged += pages;
	c->sum += whi_pages;
	c->squares += whi_pages * (r->whi_q16 >> 8);
	c->noise += pages * (var * inverse >> 32);
}

/**
 * hmk_ladder_judge() - turn the counts of an interval into hotness, where windows differ.
 * @l:     the ladder.
 * @crowd: of the process; the regions are added to it.
 * @r:     regions; accesses, quota and rung are those of this interval.
 * @nr:    number of them.
 *
 * HI becomes previous HI, the mean count becomes HI; WHI, trust, the flags of a change
 * and the rung follow. One that is stale or had no sample keeps everything.
 */
void hmk_ladder_judge(const struct hmk_ladder *l, struct hmk_crowd *crowd,
		      struct hmk_region *r, __u32 nr)
{
	struct hmk_crowd sum = *crowd;	/* in registers */
	__u32 i, inverse;

	for (i = 0; i < nr; i++) {
		if (r[i].quota && !hmk_region_is(&r[i], HMK_REGION_STALE))
			inverse = judge(l, &sum, &r[i]);
		else
			inverse = judge_inverse_q32(r[i].trust > TRUST_ONE ? r[i].trust
									   : TRUST_ONE);
		crowd_add(&sum, l, &r[i], inverse);
	}
	*crowd = sum;
}

/*
 * Heat is not spread normally but lies in classes, where @kappa doubts too much: of a
 * tenth that is hot by less than a sample, of a needle by half.
 */
static __u32 crowd_kappa(__u64 kappa)
{
	__u64 usual = kappa < KAPPA_USUAL ? kappa : KAPPA_USUAL;

	if (kappa / 2 > usual)
		usual = kappa / 2 < KAPPA_MOST ? kappa / 2 : KAPPA_MOST;
	return usual > KAPPA_LEAST ? (__u32)usual : KAPPA_LEAST;
}

/**
 * hmk_crowd_take() - what all regions together are like, from those of one interval.
 * @c: of the process; begins anew.
 * @l: the ladder.
 *
 * kappa = variance of one sample / variance of true hotness between the bytes: how many
 * samples a region needs until they say more about it than all others do.
 */
void hmk_crowd_take(struct hmk_crowd *c, const struct hmk_ladder *l)
{
	__u64 mean, spread = 0, noise, new, kappa;

	if (c->judged) {
		mean = c->sum / c->judged;	/* Q8 */
		spread = c->squares / c->judged - mean * mean;
		noise = c->noise / c->judged;
		spread = spread > noise ? spread - noise : 0;
		new = (c->pages - c->judged) * 1024 / c->pages;
		spread = (spread * (1024 - new) + SPREAD_Q16 * new) / 1024;
		c->mean_q16 = (__u32)mean << 8;
		kappa = (__u64)l->var_q16[hmk_ladder_row(l, c->mean_q16)] * TRUST_ONE /
			(spread ? spread : 1);
		c->kappa = crowd_kappa(kappa);
		c->known = 1;
	}
	c->pages = 0;
	c->judged = 0;
	c->sum = 0;
	c->squares = 0;
	c->noise = 0;
}

/**
 * hmk_crowd_shrink_q16() - the hotness to rank a region by.
 * @c: of the process, taken.
 * @r: a region that was judged.
 *
 * The fewer samples are behind WHI, the nearer to the mean of all: of two hundred
 * thousand regions with a sample each, the hottest are those that had luck. A piece cut
 * out because of one odd sample was even chosen for its luck: until another sample
 * confirms it, it is like all others.
 *
 * Return: between WHI and the mean of all.
 */
__u32 hmk_crowd_shrink_q16(const struct hmk_crowd *c, const struct hmk_region *r)
{
	__u32 all = r->trust + c->kappa;

	if (r->trust < TRUST_ONE && c->known)
		return c->mean_q16;
	if (!all)
		return r->whi_q16;
	return judge_towards(r->whi_q16, c->mean_q16, c->kappa, judge_inverse_q32(all));
}

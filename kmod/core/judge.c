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
#define TURN_Z2		3u	/* so is one of 1.7 and the next of 1 the same way */
#define VAR_LEAST_Q16	(HMK_CORE_Q16_ONE / 50)	/* the tables are not better than that */
#define FADE_LEAST	(3 * TRUST_ONE)
#define KAPPA_LEAST	(TRUST_ONE / 8)
#define KAPPA_USUAL	(TRUST_ONE * 3 / 4)
#define KAPPA_MOST	(TRUST_ONE * 7 / 4)
#define SPREAD_Q16	(HMK_CORE_Q16_ONE * 2 / 5)	/* of regions that nobody has judged yet */

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

/* All its reads, or none, saw it, now and before: WHI lies beyond its windows. */
static void judge_rung(const struct hmk_ladder *l, const struct hmk_crowd *crowd,
		       struct hmk_region *r)
{
	__u32 low = (__u32)r->rung << 16, high = low + (l->num_scans << 16);
	__u32 top = hmk_ladder_top(l), jump = l->num_scans > 1 ? l->num_scans - 1 : 1;

	hmk_region_clear(r, HMK_REGION_BEYOND);
	if (r->rung < top && r->hi_q16 + EDGE_Q16 >= high && r->whi_q16 + 2 * EDGE_Q16 >= high) {
		r->rung = (__u8)(r->rung + jump < top ? r->rung + jump : top);
		hmk_region_set(r, HMK_REGION_BEYOND);
		if (r->whi_q16 <= crowd->mean_q16 + HMK_CORE_Q16_ONE * 3 / 2)
			hmk_region_set(r, HMK_REGION_AGAIN);
	} else if (r->rung && r->hi_q16 <= low + EDGE_Q16 && r->whi_q16 <= low + 2 * EDGE_Q16) {
		r->rung = (__u8)(r->rung > jump ? r->rung - jump : 0);
		hmk_region_set(r, HMK_REGION_BEYOND);
	} else {
		r->rung = judge_center(l, crowd, r->whi_q16);
	}
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

/*
 * What is left of @trust when @samples new ones (both in 1/16) say @hi_q16. z is how far
 * that is from WHI over what chance explains: sqrt(variance * (1/samples + 1/trust)).
 */
static __u32 judge_past(const struct hmk_ladder *l, struct hmk_region *r, __u32 hi_q16,
			__u32 samples)
{
	__u32 trust = judge_faded(r->trust), apart, way;
	__u64 z2, one;
	int again;

	way = hi_q16 > r->whi_q16 ? HMK_REGION_RISING : HMK_REGION_FALLING;
	apart = (hi_q16 > r->whi_q16 ? hi_q16 - r->whi_q16 : r->whi_q16 - hi_q16) >> 8;
	z2 = (__u64)apart * apart * samples * trust;
	one = (__u64)(l->var_q16[hmk_ladder_row(l, r->whi_q16)] + VAR_LEAST_Q16) *
	      (samples + trust) * TRUST_ONE;
	again = hmk_region_is(r, way) && z2 > one;
	if ((z2 > JUMP_Z2 * one && !judge_in_part(r)) || again ||
	    r->count_max < l->few[hmk_ladder_row(l, r->whi_q16)])
		trust /= 8;
	if (z2 <= TURN_Z2 * one && !again)
		way = 0;
	if (hmk_region_is(r, HMK_REGION_BEYOND))
		trust /= 4;
	hmk_region_clear(r, HMK_REGION_RISING | HMK_REGION_FALLING);
	hmk_region_set(r, way);
	return trust;
}

/* @part / @whole of the way; @part is at most 2^12: 32 bits hold it. */
static __u32 judge_towards(__u32 from_q16, __u32 to_q16, __u32 part, __u32 whole)
{
	__u32 way = to_q16 > from_q16 ? to_q16 - from_q16 : from_q16 - to_q16;
	__u32 step = (way * part + whole / 2) / whole;

	return to_q16 > from_q16 ? from_q16 + step : from_q16 - step;
}

/* Whether one more look decides: it stands out, but few samples say so. */
static int judge_again(const struct hmk_crowd *crowd, const struct hmk_region *r)
{
	__u32 all = r->trust + crowd->kappa;
	__u64 out;

	if (r->whi_q16 <= crowd->mean_q16 || r->trust >= TRUST_ONE * 5 / 2)
		return 0;
	out = (__u64)(r->whi_q16 - crowd->mean_q16) * r->trust;
	return out > (__u64)all * (HMK_CORE_Q16_ONE * 35 / 100) &&
	       out < (__u64)all * (HMK_CORE_Q16_ONE * 130 / 100);
}

static void judge(const struct hmk_ladder *l, const struct hmk_crowd *crowd, struct hmk_region *r)
{
	__u32 hi = (((__u32)r->accesses << 16) + r->quota / 2u) / r->quota;
	__u32 samples = r->quota * TRUST_ONE, past = 0, trust;

	if (hmk_region_is(r, HMK_REGION_NEW)) {
		r->hi_q16 = hi;		/* no interval before: has not changed */
		r->whi_q16 = hi;
		hmk_region_clear(r, HMK_REGION_NEW);
	} else {
		past = judge_past(l, r, hi, samples);
	}
	trust = samples + past;
	r->whi_q16 = judge_towards(r->whi_q16, hi, samples, trust);
	r->trust = trust > MAX_U16 ? MAX_U16 : (__u16)trust;
	r->prev_hi_q16 = r->hi_q16;
	r->hi_q16 = hi;
	if (r->age < 0xff)
		r->age++;
	hmk_region_clear(r, HMK_REGION_AGAIN);
	if (judge_again(crowd, r))
		hmk_region_set(r, HMK_REGION_AGAIN);
	judge_rung(l, crowd, r);
}

/* ---- all of them --------------------------------------------------------- */

static void crowd_add(struct hmk_crowd *c, const struct hmk_ladder *l, const struct hmk_region *r)
{
	__u64 pages = hmk_region_pages(r), whi = r->whi_q16 >> 8;
	__u32 trust = r->trust > TRUST_ONE ? r->trust : TRUST_ONE;

	c->pages += pages;
	if (hmk_region_is(r, HMK_REGION_NEW | HMK_REGION_BEYOND))
		return;
	c->judged += pages;
	c->sum += pages * whi;
	c->squares += pages * whi * whi;
	c->noise += pages * (l->var_q16[hmk_ladder_row(l, r->whi_q16)] * TRUST_ONE / trust);
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
	__u32 i;

	for (i = 0; i < nr; i++) {
		if (r[i].quota && !hmk_region_is(&r[i], HMK_REGION_STALE))
			judge(l, crowd, &r[i]);
		crowd_add(crowd, l, &r[i]);
	}
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
	return judge_towards(r->whi_q16, c->mean_q16, c->kappa, all);
}

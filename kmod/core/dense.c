// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A byte a page: smoothed, and moved along when its piece is watched by other windows.
 */
#include <hmk/core/dense.h>
#include <hmk/core/region.h>

/* Two windows: chance does not do that to a page whose heat has not changed. */
#define JUMP	(2 * (__s32)HMK_DENSE_STEP)
#define EVEN	1u	/* classes apart, by rounding: as good as one */
#define TRUST	(16u * HMK_CORE_MAX_QUOTA)	/* as from so many samples: it may change soon */
#define END	((__s32)HMK_DENSE_HALF / 2)	/* so near to an end is at it, but for rounding */

/* Away from zero, so that what stays the same is reached. */
static __s32 dense_part(__s32 way, __s32 parts)
{
	return way < 0 ? -((-way + parts - 1) / parts) : (way + parts - 1) / parts;
}

static __u8 dense_fold(__u8 page, __s32 weight)
{
	const __s32 now = (__s32)(page & HMK_DENSE_SEEN) * (__s32)HMK_DENSE_STEP;
	const __s32 heat = (__s32)hmk_dense_heat(page), way = now - heat;

	if (heat > (__s32)HMK_DENSE_TOP)
		return (__u8)((__u32)now << 2);
	if (weight > 2 && (way >= JUMP || way <= -JUMP))
		weight = 2;
	return (__u8)((__u32)(heat + dense_part(way, weight)) << 2);
}

/**
 * hmk_dense_fold() - what the reads of an interval say of each page, smoothed.
 * @page: the bytes of a piece that was read to its end.
 * @nr:   number of them.
 * @age:  intervals in which the piece was read before.
 *
 * A page's first interval counts whole, the next half, later ones a third; half where it was
 * seen two windows or more off. Reads of this interval are forgotten.
 */
void hmk_dense_fold(__u8 *page, __u32 nr, __u32 age)
{
	const __s32 weight = (__s32)(age < HMK_DENSE_AGE ? age + 1 : HMK_DENSE_AGE);
	__u32 i;

	for (i = 0; i < nr; i++)
		if (page[i] < HMK_DENSE_ABSENT)
			page[i] = dense_fold(page[i], weight);
}

/**
 * hmk_dense_climb() - the same hotness above another rung.
 * @page:  the bytes of a piece.
 * @nr:    number of them.
 * @rungs: by how many the new rung is higher; below 0: lower.
 *
 * What was at an end of the old windows, and might be beyond it, is judged anew where the new
 * ones tell more. What is beyond the new windows is taken for their end.
 */
void hmk_dense_climb(__u8 *page, __u32 nr, __s32 rungs)
{
	__u32 i;

	for (i = 0; i < nr; i++) {
		__s32 heat = (__s32)hmk_dense_heat(page[i]);

		if (heat > (__s32)HMK_DENSE_TOP)
			continue;
		if (rungs > 0 ? heat > (__s32)HMK_DENSE_TOP - END : heat < END) {
			page[i] = HMK_DENSE_NEW | (page[i] & HMK_DENSE_SEEN);
			continue;
		}
		heat -= rungs * (__s32)HMK_DENSE_STEP;
		heat = heat < 0 ? 0 : heat > (__s32)HMK_DENSE_TOP ? (__s32)HMK_DENSE_TOP : heat;
		page[i] = (__u8)((__u32)heat << 2 | (page[i] & HMK_DENSE_SEEN));
	}
}

/**
 * hmk_dense_wish() - by how many rungs other windows would tell more.
 * @page: the bytes of a piece, folded.
 * @nr:   number of them.
 *
 * What is cold must stay known, or it moves in vain: it climbs where an eighth is at the upper
 * end and less than that would be lost at the lower, and comes down where an eighth is there.
 * By two rungs where seven eighths are.
 *
 * Return: -2 .. 2; the caller keeps to the ladder.
 */
__s32 hmk_dense_wish(const __u8 *page, __u32 nr)
{
	__u32 known = 0, at_end = 0, lost = 0, at_top = 0, i;

	for (i = 0; i < nr; i++) {
		const __s32 heat = (__s32)hmk_dense_heat(page[i]);

		if (heat > (__s32)HMK_DENSE_TOP)
			continue;
		known++;
		at_end += heat < END;
		lost += heat < (__s32)HMK_DENSE_STEP + END;
		at_top += heat > (__s32)HMK_DENSE_TOP - END;
	}
	if (!known)
		return 0;
	if (8 * at_end >= known)
		return 8 * at_end >= 7 * known ? -2 : -1;
	if (8 * lost < known && 8 * at_top >= known)
		return 8 * at_top >= 7 * known ? 2 : 1;
	return 0;
}

/**
 * hmk_dense_add() - pages of a region, of one piece.
 * @sum:  of the region.
 * @page: their bytes.
 * @nr:   number of them.
 * @rung: of the piece.
 * @age:  of the piece.
 */
void hmk_dense_add(struct hmk_dense_sum *sum, const __u8 *page, __u32 nr, __u32 rung, __u32 age)
{
	__u32 known = 0, all = 0, squares = 0, least = HMK_DENSE_TOP, most = 0, i;
	__u64 above = HMK_DENSE_STEP * rung;

	for (i = 0; i < nr; i++) {
		const __u32 heat = hmk_dense_heat(page[i]);

		if (heat > HMK_DENSE_TOP)
			continue;
		known++;
		all += heat;
		squares += heat * heat;
		least = heat < least ? heat : least;
		most = heat > most ? heat : most;
	}
	sum->age = age < sum->age ? age : sum->age;
	if (!known)
		return;
	sum->known += known;
	sum->heat += all + known * above;
	sum->squares += squares + 2 * above * all + known * above * above;
	least = (__u32)hmk_dense_class((__u8)(least << 2), rung) + 1;
	most = (__u32)hmk_dense_class((__u8)(most << 2), rung) + 1;
	sum->lowest = !sum->lowest || least < sum->lowest ? least : sum->lowest;
	sum->highest = most > sum->highest ? most : sum->highest;
}

/* There are pages that were judged. */
static __u32 dense_mean_q16(const struct hmk_dense_sum *sum)
{
	return (__u32)(sum->heat * (HMK_CORE_Q16_ONE / HMK_DENSE_STEP) / sum->known);
}

/**
 * hmk_dense_mean_q16() - hotness of some pages.
 * @page: their bytes.
 * @nr:   number of them.
 * @rung: of their piece.
 *
 * Return: 0 .. windows of the ladder, in Q16; HMK_DENSE_UNKNOWN where none was judged.
 */
__u32 hmk_dense_mean_q16(const __u8 *page, __u32 nr, __u32 rung)
{
	struct hmk_dense_sum sum = {};

	hmk_dense_add(&sum, page, nr, rung, 0);
	return sum.known ? dense_mean_q16(&sum) : HMK_DENSE_UNKNOWN;
}

/* Of a count, between the rows of the table. */
static __u32 dense_variance_q16(const struct hmk_ladder *l, __u32 hotness_q16)
{
	const __u32 step = HMK_CORE_Q16_ONE / HMK_LADDER_STEPS;
	const __u32 row = hmk_ladder_row(l, hotness_q16);
	const __u32 next = row < l->nr * HMK_LADDER_STEPS ? row + 1 : row;
	const __s64 way = (__s64)l->var_q16[next] - l->var_q16[row];

	return (__u32)(l->var_q16[row] + way * (hotness_q16 % step) / step);
}

/* How far pages are from their mean: squares, in 1/16 of a window. */
static __u64 dense_spread_q24(const struct hmk_dense_sum *sum)
{
	const __u64 mean_q12 = (sum->heat << 12) / sum->known;

	return (sum->squares / sum->known << 24) +
	       (sum->squares % sum->known << 24) / sum->known - mean_q12 * mean_q12;
}

/*
 * By more than chance: of a look's variance as much is left as is allowed here, by age, and a
 * quarter more (tests/unit/dense.cpp has the draws). Or one page alone stands out by two and a
 * half windows, which takes two looks that chance gives once in 4,000.
 */
static int dense_differs(const struct hmk_ladder *l, const struct hmk_dense_sum *sum,
			 __u32 mean_q16)
{
	static const __u32 allowed[HMK_DENSE_AGE_MOST] = { 83, 42, 29, 26, 23 };	/* of 64 */
	const __u64 chance_q16 = (__u64)dense_variance_q16(l, mean_q16) *
				 HMK_DENSE_STEP * HMK_DENSE_STEP / 64 * allowed[sum->age - 1];
	const __u32 half_q16 = HMK_CORE_Q16_ONE / 2;	/* a class */

	return sum->highest > sum->lowest + EVEN &&
	       (dense_spread_q24(sum) >> 8 > chance_q16 ||
		(sum->age > 1 && (sum->highest - 1) * half_q16 >= mean_q16 + 5 * half_q16));
}

/**
 * hmk_dense_judge() - a region's hotness from all of its pages, instead of from samples.
 * @l:   the ladder.
 * @sum: of its pages.
 * @r:   judged; as it is where nothing was read.
 *
 * HMK_REGION_MIXED says whether its pages are told class by class.
 */
void hmk_dense_judge(const struct hmk_ladder *l, const struct hmk_dense_sum *sum,
		     struct hmk_region *r)
{
	hmk_region_clear(r, HMK_REGION_MIXED);
	if (!sum->known || !sum->age)
		return;
	hmk_region_clear(r, HMK_REGION_NEW | HMK_REGION_BEYOND | HMK_REGION_RISING |
			    HMK_REGION_FALLING | HMK_REGION_AGAIN | HMK_REGION_ODD |
			    HMK_REGION_QUARTER);
	r->prev_hi_q16 = r->whi_q16;
	r->whi_q16 = dense_mean_q16(sum);
	r->hi_q16 = r->whi_q16;
	r->trust = TRUST;
	if (dense_differs(l, sum, r->whi_q16))
		hmk_region_set(r, HMK_REGION_MIXED);
}

/**
 * hmk_dense_compare() - whether samples agree with what was read of a region's pages earlier.
 * @l:   the ladder.
 * @sum: of its pages.
 * @r:   judged by its samples, and keeps that.
 *
 * HMK_REGION_MIXED says whether its pages are told class by class.
 *
 * Return: 0, or 1 when they differ by half a window and by four standard deviations of the
 * mean of so many samples: what was read holds no longer.
 */
int hmk_dense_compare(const struct hmk_ladder *l, const struct hmk_dense_sum *sum,
		      struct hmk_region *r)
{
	const __u32 samples = r->trust < 16 ? 1 : r->trust / 16u;
	__u64 variance_q24, off_q12;
	__u32 mean_q16;

	hmk_region_clear(r, HMK_REGION_MIXED);
	if (!sum->known || !sum->age)
		return 0;
	mean_q16 = dense_mean_q16(sum);
	if (dense_differs(l, sum, mean_q16))
		hmk_region_set(r, HMK_REGION_MIXED);
	if (hmk_region_is(r, HMK_REGION_NEW | HMK_REGION_STALE))
		return 0;
	off_q12 = (mean_q16 > r->whi_q16 ? mean_q16 - r->whi_q16 : r->whi_q16 - mean_q16) >> 4;
	variance_q24 = dense_spread_q24(sum) / (HMK_DENSE_STEP * HMK_DENSE_STEP) +
		       ((__u64)dense_variance_q16(l, mean_q16) << 8);
	return off_q12 >= 1u << 11 && off_q12 * off_q12 * samples > 16 * variance_q24;
}

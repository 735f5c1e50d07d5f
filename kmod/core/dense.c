// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A byte a page: smoothed, and moved along when its piece is watched by other windows.
 */
#include <hmk/core/dense.h>

/* Two windows: chance does not do that to a page whose heat has not changed. */
#define JUMP	(2 * (__s32)HMK_DENSE_STEP)
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

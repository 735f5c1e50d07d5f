// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How well a rate is known. What takes roots is worked out once for each row of the
 * ladder: a record of a region is written with one multiplication or two.
 */
#include <hmk/core/rate.h>

#define MAX_U16	((__u16)~0u)
#define STEPS	16	/* of the table of roots, from 1 to 2 */

/* The square root, rounded down. */
static __u64 rate_sqrt(__u64 value)
{
	__u64 root = 0, bit;

	for (bit = 1ull << 31; bit; bit >>= 1) {
		if ((root + bit) * (root + bit) <= value)
			root += bit;
	}
	return root;
}

/* As hotness varies by chance, times what the rate changes with hotness there. */
static __u32 rate_dev_q16(const struct hmk_ladder *l, __u32 row, __u32 last)
{
	const __u32 low = row ? row - 1 : 0, high = row < last ? row + 1 : last;
	const __u64 slope_q8 = (__u64)(l->rate_q8[high] - l->rate_q8[low]) * HMK_LADDER_STEPS /
			       (high - low);

	return (__u32)(rate_sqrt((__u64)l->var_q16[row] << 16) * slope_q8 >> 8);
}

/**
 * hmk_rate_fill() - work out what hmk_rate_dev_q8() looks up.
 * @l: a ladder whose rows have their rate and variance.
 */
void hmk_rate_fill(struct hmk_ladder *l)
{
	const __u32 last = l->nr * HMK_LADDER_STEPS;
	__u32 row;

	for (row = 0; row <= last; row++)
		l->dev_q16[row] = rate_dev_q16(l, row, last);
}

/* 1 / sqrt(@value) = Return / 2^(16 + *@halves); on the straight line between two entries. */
static __u32 rate_root_q16(__u32 value, __u32 *halves)
{
	static const __u32 roots[] = {	/* 2^16 / sqrt(x), x = 1, 1 + 1/16, ... 4 */
		65536, 63579, 61788, 60140, 58617, 57205, 55889, 54661, 53510, 52429, 51411,
		50450, 49541, 48679, 47861, 47082, 46341, 45633, 44957, 44310, 43691, 43096,
		42525, 41977, 41449, 40940, 40450, 39977, 39520, 39078, 38651, 38238, 37837,
		37449, 37073, 36708, 36353, 36008, 35673, 35347, 35030, 34722, 34421, 34128,
		33843, 33564, 33292, 33027, 32768,
	};
	const __u32 half = (__u32)(31 - __builtin_clz(value)) / 2;
	const __u32 x_q30 = value << (30 - 2 * half);
	const __u32 at = (x_q30 >> 26) - STEPS;
	const __u32 part_q16 = x_q30 >> 10 & 0xffff;

	*halves = half;
	return roots[at] - ((roots[at] - roots[at + 1]) * part_q16 >> 16);
}

/**
 * hmk_rate_dev_q8() - the standard deviation of hmk_ladder_rate_q8().
 * @l:           the ladder.
 * @hotness_q16: the mean count of some samples, 0 .. l->nr.
 * @samples_q4:  how many, in 1/16; 0 counts as one sixteenth.
 *
 * That of one sample, over the root of their number.
 *
 * Return: in the unit of the rate, log2 with 8 fraction bits; saturates.
 */
__u16 hmk_rate_dev_q8(const struct hmk_ladder *l, __u32 hotness_q16, __u32 samples_q4)
{
	__u32 halves;
	const __u32 root = rate_root_q16(samples_q4 ? samples_q4 : 1, &halves);
	/* Times 4, the root of sixteen sixteenths. */
	const __u64 dev = (__u64)l->dev_q16[hmk_ladder_row(l, hotness_q16)] * root >>
			  (16 + 8 - 2 + halves);

	return dev > MAX_U16 ? MAX_U16 : (__u16)dev;
}

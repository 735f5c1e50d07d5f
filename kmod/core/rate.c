// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How well a rate is known.
 */
#include <hmk/core/rate.h>

#define MAX_U16	0xffffu

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

/**
 * hmk_rate_dev_q8() - the standard deviation of hmk_ladder_rate_q8().
 * @l:           the ladder.
 * @hotness_q16: the mean count of some samples, 0 .. l->nr.
 * @samples_q4:  how many, in 1/16; 0 counts as one sixteenth.
 *
 * As hotness varies by chance, times what the rate changes with hotness there.
 *
 * Return: in the unit of the rate, log2 with 8 fraction bits; saturates.
 */
__u16 hmk_rate_dev_q8(const struct hmk_ladder *l, __u32 hotness_q16, __u32 samples_q4)
{
	const __u32 row = hmk_ladder_row(l, hotness_q16), last = l->nr * HMK_LADDER_STEPS;
	const __u32 low = row ? row - 1 : 0, high = row < last ? row + 1 : last;
	const __u64 slope_q8 = (__u64)(l->rate_q8[high] - l->rate_q8[low]) * HMK_LADDER_STEPS /
			       (high - low);
	const __u64 var_q32 = ((__u64)l->var_q16[row] << 20) / (samples_q4 ? samples_q4 : 1);
	const __u64 dev = rate_sqrt(var_q32) * slope_q8 >> 16;

	return dev > MAX_U16 ? MAX_U16 : (__u16)dev;
}

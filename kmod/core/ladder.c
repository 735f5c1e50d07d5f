// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Which windows a sample is read after, and which rate a hotness stands for.
 */
#include <hmk/core/ladder.h>
#include <hmk/core/rate.h>

#define Q8		256
#define LOG2_SECOND_Q8	7654		/* of its nanoseconds */
#define RATE_MIN_Q8	(-20 * Q8)	/* one access in twelve days */
#define RATE_MAX_Q8	(32 * Q8)
/* Counts are odd that chance gives less often than this: a cold one in a hot region costs more. */
#define MANY_Q16	(HMK_CORE_Q16_ONE / 10)
#define FEW_Q16		(HMK_CORE_Q16_ONE / 100)
#define VAR_LEAST_Q16	(HMK_CORE_Q16_ONE / 50)	/* the tables are not better than that */
#define TAU1_Q16	(HMK_CORE_Q16_ONE * 2 / 5)
#define TAU2_Q16	(HMK_CORE_Q16_ONE * 4 / 5)

/* log2(value) with 8 fraction bits, rounded down; @value above 0. */
static __s32 log2_q8(__u64 value)
{
	__s32 whole = 0, i;
	__u64 rest;	/* value / 2^whole in Q31: 1 .. 2 */

	while (value >> whole > 1)
		whole++;
	rest = whole > 31 ? value >> (whole - 31) : value << (31 - whole);
	whole *= Q8;
	for (i = Q8 / 2; i; i /= 2) {
		rest = rest * rest >> 31;
		if (rest >> 32) {
			rest >>= 1;
			whole += i;
		}
	}
	return whole;
}

/*
 * How likely a window sees an access, in Q16: 1 - exp(-x), where x = 2^(y / 256) is
 * how many it has on average. The table has a row for each quarter of an octave.
 */
static __u32 seen_q16(__s32 y_q8)
{
	static const __u32 seen[] = {	/* x = 2^-8, 2^-7.75, ... 2^4 */
		256, 304, 361, 429, 510, 606, 720, 855, 1016, 1207, 1432, 1700, 2016, 2391,
		2833, 3355, 3971, 4694, 5544, 6539, 7701, 9052, 10619, 12425, 14497, 16855,
		19517, 22495, 25786, 29374, 33222, 37269, 41427, 45583, 49603, 53344, 56667,
		59461, 61662, 63268, 64336, 64973, 65307, 65457, 65514, 65531, 65535, 65536,
		65536,
	};
	const __s32 step = Q8 / 4;
	__s32 at = y_q8 + 8 * Q8;
	__u32 i, low;

	if (at < 0)	/* 1 - exp(-x) is x */
		return at < -8 * Q8 ? 0 : 256u >> (-at / Q8);
	i = (__u32)(at / step);
	if (at >= 12 * Q8)	/* x = 2^4: as good as certain */
		return HMK_CORE_Q16_ONE;
	low = seen[i];
	return low + (seen[i + 1] - low) * (__u32)(at % step) / (__u32)step;
}

static __u32 ladder_seen_q16(const struct hmk_ladder *l, __s32 rate_q8, __u32 rung)
{
	return seen_q16(rate_q8 + l->window_q8[rung]);
}

/**
 * hmk_ladder_hotness_q16() - the hotness that a rate comes to.
 * @l:       the ladder.
 * @rate_q8: log2 of the accesses to a leaf in a second, 8 fraction bits.
 *
 * Return: expected number of windows that see an access, in Q16, 0 .. l->nr.
 */
__u32 hmk_ladder_hotness_q16(const struct hmk_ladder *l, __s32 rate_q8)
{
	__u32 i, sum = 0;

	for (i = 0; i < l->nr; i++)
		sum += ladder_seen_q16(l, rate_q8, i);
	return sum;
}

/* The inverse, by halving: hotness rises with the rate. */
static __s16 ladder_find_rate(const struct hmk_ladder *l, __u32 hotness_q16)
{
	__s32 low = RATE_MIN_Q8, high = RATE_MAX_Q8;

	while (low + 1 < high) {
		__s32 mid = (low + high) / 2;

		if (hmk_ladder_hotness_q16(l, mid) < hotness_q16)
			low = mid;
		else
			high = mid;
	}
	return (__s16)high;
}

/*
 * Of a count at this rate. Windows of a ladder are nested: one that sees an access is
 * within all longer ones. Equal windows are independent.
 */
static __u32 ladder_variance_q16(const struct hmk_ladder *l, __s32 rate_q8)
{
	__u64 sum = 0;
	__u32 i, k;

	for (i = 0; i < l->nr; i++) {
		__u64 p = ladder_seen_q16(l, rate_q8, i);

		sum += p - (p * p >> 16);
		for (k = i + 1; k < l->nr && l->ratio_shift; k++) {
			__u64 shorter = ladder_seen_q16(l, rate_q8, k);

			sum += 2 * (shorter - (p * shorter >> 16));
		}
	}
	return (__u32)sum;
}

static void ladder_fill_row(struct hmk_ladder *l, __u32 row, __u32 hotness_q16)
{
	__s16 rate = ladder_find_rate(l, hotness_q16);
	__u32 few = 0, many = l->nr + 1;

	while (few < l->nr && HMK_CORE_Q16_ONE - ladder_seen_q16(l, rate, few) <= FEW_Q16)
		few++;
	while (many > 1 && ladder_seen_q16(l, rate, many - 2) <= MANY_Q16)
		many--;
	l->rate_q8[row] = rate;
	l->var_q16[row] = ladder_variance_q16(l, rate);
	l->chance_q20[row] = (l->var_q16[row] + VAR_LEAST_Q16) << 4;
	l->few[row] = (__u8)few;
	l->many[row] = (__u8)many;
}

/* What the ends of the scale stand for is half a step inside: 0 accesses have no logarithm. */
static void ladder_fill(struct hmk_ladder *l)
{
	const __u32 step = HMK_CORE_Q16_ONE / HMK_LADDER_STEPS, last = l->nr * HMK_LADDER_STEPS;
	__u32 i;

	for (i = 0; i < l->nr; i++)
		l->window_q8[i] = (__s16)(log2_q8(l->window_ns[i]) - LOG2_SECOND_Q8);
	ladder_fill_row(l, 0, step / 2);
	for (i = 1; i < last; i++)
		ladder_fill_row(l, i, i * step);
	ladder_fill_row(l, last, last * step - step / 2);
	hmk_rate_fill(l);
}

/**
 * hmk_ladder_make() - a ladder of windows, each a fixed part of the one before.
 * @l:          receives it.
 * @longest_ns: rung 0; 0 counts as 1.
 * @num_scans:  reads of a sample in an interval, 1 .. HMK_CORE_MAX_SCANS.
 *
 * A region with few reads needs them far apart to see three decades at once:
 * ratio 8 for up to 3, 4 for up to 5, 2 for more. Ends before windows are shorter than
 * HMK_LADDER_SHORTEST_NS, but has @num_scans rungs at least.
 */
void hmk_ladder_make(struct hmk_ladder *l, __u64 longest_ns, __u32 num_scans)
{
	__u64 window = longest_ns ? longest_ns : 1;

	l->num_scans = num_scans;
	l->ratio_shift = num_scans > 5 ? 1 : num_scans > 3 ? 2 : 3;
	for (l->nr = 0; l->nr < HMK_LADDER_MAX; l->nr++, window >>= l->ratio_shift) {
		if (window < HMK_LADDER_SHORTEST_NS && l->nr >= num_scans)
			break;
		l->window_ns[l->nr] = window ? window : 1;
	}
	ladder_fill(l);
}

/**
 * hmk_ladder_make_equal() - windows of chapter 8 (HK-7): all of one length.
 * @l:         receives it.
 * @window_ns: 0 counts as 1.
 * @num_scans: how many, 1 .. HMK_CORE_MAX_SCANS.
 */
void hmk_ladder_make_equal(struct hmk_ladder *l, __u64 window_ns, __u32 num_scans)
{
	l->num_scans = num_scans;
	l->ratio_shift = 0;
	for (l->nr = 0; l->nr < num_scans; l->nr++)
		l->window_ns[l->nr] = window_ns ? window_ns : 1;
	ladder_fill(l);
}

/**
 * hmk_ladder_rate_q8() - the rate a hotness stands for.
 * @l:           the ladder.
 * @hotness_q16: 0 .. l->nr; more counts as that.
 *
 * Return: log2 of the accesses to a leaf in a second, 8 fraction bits. Of hotness 0 and
 * of all windows it is what half a step inside would be: less, or more, cannot be told.
 */
__s16 hmk_ladder_rate_q8(const struct hmk_ladder *l, __u32 hotness_q16)
{
	const __u32 step = HMK_CORE_Q16_ONE / HMK_LADDER_STEPS;
	__u32 row = hmk_ladder_row(l, hotness_q16);
	__s32 low = l->rate_q8[row], high;

	if (row == l->nr * HMK_LADDER_STEPS)
		return (__s16)low;
	high = l->rate_q8[row + 1];
	return (__s16)(low + (high - low) * (__s32)(hotness_q16 % step) / (__s32)step);
}

/**
 * hmk_ladder_tau_rule() - how tau1 may move on this scale (HK-14, A-6).
 * @l:        the ladder.
 * @tau1_q16: 0: two fifths of a step of the ladder, equal windows: num_scans / 3.
 * @tau2_q16: 0: twice that.
 * @step_q16: 0: a quarter of tau1.
 *
 * Return: as hmk_budget_tau_rule(); the limit is the end of the scale.
 */
struct hmk_tau_rule hmk_ladder_tau_rule(const struct hmk_ladder *l, __u32 tau1_q16,
					__u32 tau2_q16, __u32 step_q16)
{
	if (hmk_ladder_climbs(l)) {
		tau1_q16 = tau1_q16 ? tau1_q16 : TAU1_Q16;
		tau2_q16 = tau2_q16 ? tau2_q16 : TAU2_Q16;
	}
	return hmk_budget_tau_rule(l->nr, tau1_q16, tau2_q16, step_q16);
}

/**
 * hmk_ladder_group() - how many samples can be watched together.
 * @l:            the ladder.
 * @rung:         of their regions, up to hmk_ladder_top().
 * @flush_ns:     what a flush takes.
 * @scan_cost_ns: of one visit; 0 counts as 1.
 *
 * Clearing them all and the flush must not take longer than the shortest of their windows,
 * nor must reading them all.
 *
 * Return: samples, at least 1.
 */
__u32 hmk_ladder_group(const struct hmk_ladder *l, __u32 rung, __u64 flush_ns,
		       __u32 scan_cost_ns)
{
	const __u64 window = l->window_ns[rung + l->num_scans - 1];
	const __u64 nr = window > flush_ns ?
			 (window - flush_ns) / (scan_cost_ns ? scan_cost_ns : 1) : 0;

	if (nr > ~(__u32)0)
		return ~(__u32)0;
	return nr ? (__u32)nr : 1;
}

/**
 * hmk_ladder_rung_of() - the rung that windows belong to which came out longer than planned.
 * @l:           the ladder.
 * @shortest_ns: from clearing to the first read, as measured.
 *
 * Return: the highest rung whose shortest window is at least half of that, 0 when there
 * is none.
 */
__u32 hmk_ladder_rung_of(const struct hmk_ladder *l, __u64 shortest_ns)
{
	__u32 rung = hmk_ladder_top(l);

	while (rung && l->window_ns[rung + l->num_scans - 1] < shortest_ns / 2)
		rung--;
	return rung;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * From the counts of an interval to hotness, region by region.
 */
#include <hmk/core/hotness.h>
#include <hmk/core/region.h>

#define MAX_U32	((__u32)~0u)

/**
 * hmk_hotness_mean_q16() - mean count of a region's samples (HK-9).
 * @sum: sum of the counts.
 * @nr:  number of samples.
 *
 * Return: @sum / @nr in Q16, to the nearest; 0 without samples; saturates.
 */
__u32 hmk_hotness_mean_q16(__u32 sum, __u32 nr)
{
	__u64 mean;

	if (!nr)
		return 0;
	mean = (((__u64)sum << 16) + nr / 2) / nr;
	return mean > MAX_U32 ? MAX_U32 : (__u32)mean;
}

/**
 * hmk_hotness_ema_q16() - Eq. 8.2: alpha * now + (1 - alpha) * old.
 * @old_q16:   smoothed value so far.
 * @now_q16:   the new sample.
 * @alpha_q16: weight of the sample, 0 .. 65536; more counts as 65536.
 *
 * Rounds towards the sample: with @alpha_q16 above 0 a constant sample is
 * reached, where rounding down would stall just below it or never reach 0.
 *
 * Return: a value between @old_q16 and @now_q16.
 */
__u32 hmk_hotness_ema_q16(__u32 old_q16, __u32 now_q16, __u32 alpha_q16)
{
	__u64 alpha = alpha_q16 > HMK_CORE_Q16_ONE ? HMK_CORE_Q16_ONE : alpha_q16;
	__u64 way = now_q16 > old_q16 ? now_q16 - old_q16 : old_q16 - now_q16;
	__u32 step = (__u32)((way * alpha + HMK_CORE_Q16_ONE - 1) >> 16);

	return now_q16 > old_q16 ? old_q16 + step : old_q16 - step;
}

/**
 * hmk_hotness_variance_q16() - how much a region changed since the last interval.
 * @r: a judged region.
 *
 * The variance of two points grows with their distance, so that is used.
 *
 * Return: |HI - previous HI| in Q16.
 */
__u32 hmk_hotness_variance_q16(const struct hmk_region *r)
{
	return r->hi_q16 > r->prev_hi_q16 ? r->hi_q16 - r->prev_hi_q16
					  : r->prev_hi_q16 - r->hi_q16;
}

/* In registers: for all the compiler knows, a region could lie among its samples. */
static void hotness_gather(struct hmk_region *r, const struct hmk_sample *s,
			   const struct hmk_sample *end)
{
	__u32 accesses = 0, writes = 0, least = 0xff, most = 0;

	for (; s < end; s++) {
		const __u32 count = s->count;

		accesses += count;
		writes += s->dirty;
		least = count < least ? count : least;
		most = count > most ? count : most;
	}
	r->accesses = (__u16)accesses;
	r->writes = (__u16)writes;
	r->count_min = (__u8)least;
	r->count_max = (__u8)most;
}

/**
 * hmk_hotness_gather() - fold the samples' counts into their regions (HK-9).
 * @r:       regions; quota is how many of @samples are theirs.
 * @nr:      number of regions.
 * @samples: of this interval.
 *
 * Stale regions have none and keep what they have.
 */
void hmk_hotness_gather(struct hmk_region *r, __u32 nr, const struct hmk_sample *samples)
{
	const struct hmk_sample *s = samples;

	for (; nr; nr--, r++) {
		if (hmk_region_is(r, HMK_REGION_STALE))
			continue;
		hotness_gather(r, s, s + r->quota);
		s += r->quota;
	}
}

static void hotness_judge(struct hmk_region *r, __u32 alpha_q16)
{
	__u32 hi = hmk_hotness_mean_q16(r->accesses, r->quota);

	if (hmk_region_is(r, HMK_REGION_NEW)) {
		r->prev_hi_q16 = hi;	/* no interval before: has not changed */
		r->whi_q16 = hi;
		hmk_region_clear(r, HMK_REGION_NEW);
	} else {
		r->prev_hi_q16 = r->hi_q16;
		r->whi_q16 = hmk_hotness_ema_q16(r->whi_q16, hi, alpha_q16);
	}
	r->hi_q16 = hi;
	if (r->age < 0xff)
		r->age++;
}

/**
 * hmk_hotness_judge() - turn the counts of an interval into hotness.
 * @r:         regions; accesses and quota are those of this interval.
 * @nr:        number of regions.
 * @alpha_q16: weight of this interval, 0 .. 65536 (HK-33).
 *
 * HI becomes previous HI, the mean count becomes HI, and WHI follows. A region
 * that was never judged takes WHI from its first HI. One that is stale
 * or had no sample keeps everything.
 */
void hmk_hotness_judge(struct hmk_region *r, __u32 nr, __u32 alpha_q16)
{
	__u32 i;

	for (i = 0; i < nr; i++) {
		if (r[i].quota && !hmk_region_is(&r[i], HMK_REGION_STALE))
			hotness_judge(&r[i], alpha_q16);
	}
}

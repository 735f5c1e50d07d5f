/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Windows of the right length. An accessed bit says "at least once since it was
 * cleared", so it tells rates apart only about one per window. A sample is cleared
 * once and read num_scans times, each time later by a fixed ratio; what counts is
 * at how many of the reads it was found accessed: the time to the first access, in
 * steps of that ratio. Which windows those are is the region's own: the reads of
 * an interval are num_scans neighbours of a ladder of windows,
 *
 *   rung 0 (the interval itself) > rung 1 > ... > rung nr - 1 (about 0.1 ms)
 *
 * from the region's rung on. Longer windows than these are taken for accessed and
 * shorter ones for not: a sample's count is its region's rung + the reads that saw it.
 * So hotness (0 .. nr) means the same whatever the rung; one step of it is one ratio
 * of the rate. hmk_ladder_rate_q8() says which rate.
 *
 * An interval with a ladder, slice by slice where it says so:
 *
 *   place    rungs of new regions          (slices)
 *   watch    clear, wait and read, rungs in groups; hmk_hotness_gather()
 *   judge    HI, WHI, trust, the next rung, what is odd (slices)
 *   take     what all regions are like, once: hmk_crowd_take()
 *   publish  hmk_crowd_shrink_q16() of each region, and its rate
 *
 * Equal windows (chapter 8) have a ladder too: it says the rates. Their regions are
 * judged by hmk_hotness_judge().
 */
#ifndef HMK_CORE_LADDER_H
#define HMK_CORE_LADDER_H

#include <hmk/core/budget.h>
#include <hmk/core/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HMK_LADDER_MAX		16u	/* rungs */
#define HMK_LADDER_SHORTEST_NS	100000u	/* no window is shorter */
#define HMK_LADDER_STEPS	16u	/* rows of the tables below, for one of hotness */
#define HMK_LADDER_ROWS		(HMK_LADDER_MAX * HMK_LADDER_STEPS + 1)

struct hmk_ladder {
	__u32 nr;		/* rungs; num_scans of them where windows are equal */
	__u32 num_scans;	/* reads of a sample in an interval */
	__u32 ratio_shift;	/* log2 of a window over the next; 0: all are equal */
	__u64 window_ns[HMK_LADDER_MAX];
	__s16 window_q8[HMK_LADDER_MAX];	/* log2 of it in seconds, 8 fraction bits */
	/* By hotness: */
	__s16 rate_q8[HMK_LADDER_ROWS];
	__u32 var_q16[HMK_LADDER_ROWS];	/* variance of one sample's count */
	__u32 chance_q20[HMK_LADDER_ROWS];	/* that of 1/16, as well as it is known */
	__u32 dev_q16[HMK_LADDER_ROWS];	/* deviation of the rate that one sample tells, log2 */
	__u8  few[HMK_LADDER_ROWS];	/* a count below this is odd */
	__u8  many[HMK_LADDER_ROWS];	/* a count from this on is odd */
};

/* What the regions of a process are like together; all zero at first. */
struct hmk_crowd {
	__u32 mean_q16;		/* hotness, by bytes */
	__u32 kappa;		/* how many samples it is worth to a region; in 1/16 */
	__u32 known;		/* 1: an interval was taken */
	/* gathered: */
	__u64 pages, judged;
	__u64 sum, squares, noise;
};

void hmk_ladder_make(struct hmk_ladder *l, __u64 longest_ns, __u32 num_scans);
void hmk_ladder_make_equal(struct hmk_ladder *l, __u64 window_ns, __u32 num_scans);
__s16 hmk_ladder_rate_q8(const struct hmk_ladder *l, __u32 hotness_q16);
__u32 hmk_ladder_hotness_q16(const struct hmk_ladder *l, __s32 rate_q8);
struct hmk_tau_rule hmk_ladder_tau_rule(const struct hmk_ladder *l, __u32 tau1_q16,
					__u32 tau2_q16, __u32 step_q16);
__u32 hmk_ladder_group(const struct hmk_ladder *l, __u32 rung, __u64 flush_ns,
		       __u32 scan_cost_ns);
__u32 hmk_ladder_rung_of(const struct hmk_ladder *l, __u64 shortest_ns);

void hmk_ladder_place(const struct hmk_ladder *l, const struct hmk_crowd *crowd,
		      struct hmk_region *r, __u32 nr);
void hmk_ladder_judge(const struct hmk_ladder *l, struct hmk_crowd *crowd,
		      struct hmk_region *r, __u32 nr);
void hmk_crowd_take(struct hmk_crowd *crowd, const struct hmk_ladder *l);
__u32 hmk_crowd_shrink_q16(const struct hmk_crowd *crowd, const struct hmk_region *r);

/* Whether windows differ: chapter 8 has no ladder, or one of equal windows. */
static inline int hmk_ladder_climbs(const struct hmk_ladder *l)
{
	return l && l->ratio_shift;
}

/* The highest rung a region can be on: its num_scans windows are the shortest there are. */
static inline __u32 hmk_ladder_top(const struct hmk_ladder *l)
{
	return l->nr - l->num_scans;
}

/* The row of the tables for a hotness. */
static inline __u32 hmk_ladder_row(const struct hmk_ladder *l, __u32 hotness_q16)
{
	__u32 row = hotness_q16 / (HMK_CORE_Q16_ONE / HMK_LADDER_STEPS);

	return row < l->nr * HMK_LADDER_STEPS ? row : l->nr * HMK_LADDER_STEPS;
}

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_LADDER_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Quotas: how many samples each region gets. Their sum is num_ps (HK-24); one
 * call per interval, after split and merge, keeps it so:
 *
 *   1. scouts of the last interval come home
 *   2. samples the merges freed go to the regions that changed most (HK-20)
 *   3. what is missing is spread by size, what is too much is taken back
 *   4. a share of all samples visits larger regions in rotation
 */
#ifndef HMK_CORE_QUOTA_H
#define HMK_CORE_QUOTA_H

#include <hmk/core/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HMK_QUOTA_MAX_TOP	64u

/*
 * A-7 bounds the revisit time instead of HK-16's one sample a region: merging more
 * eagerly as soon as regions outnumber samples merges hot with cold, measured in
 * tools/sim (gups-512g at 1 %, scattered: recall 0.75 after 8 intervals, with this
 * 0.99). "Too many" for tau1 is what this many turns cannot revisit.
 */
#define HMK_QUOTA_TURNS		4u

struct hmk_quota_rule {
	__u32 num_ps;		/* the sum to reach: Eq. 8.1 */
	__u32 top_k;		/* 1 .. HMK_QUOTA_MAX_TOP (HK-21) */
	__u32 scout_bp;		/* share of num_ps that scouts, of 10000 */
	__u32 by_size;		/* 1: by size, and where one more look decides; no scouts */
};

/* Kept from interval to interval; all zero at first. */
struct hmk_quota_state {
	__u64 spread_at;	/* address where spreading goes on */
	__u64 scout_at;		/* address where scouting goes on */
	__u64 turn_at;		/* address where the next turn goes on */
};

/* What of an interval was not watched, gone over in the order of turns. All zero at first. */
struct hmk_quota_unread {
	__u32 nr;		/* regions */
	__u32 turns;		/* 1: others had to wait from the beginning */
	__u32 tail;		/* 1: the last ones were not watched, */
	__u64 tail_at;		/* from this address on */
	__u64 first_at;
};

struct hmk_quota_result {
	__u64 sum;		/* of all quotas now */
	__u64 moved;		/* freed samples that went to the top K */
	__u32 scouts;		/* regions that have a scout now */
	__u32 degraded;		/* 1: more regions than num_ps, one sample each */
};

/* The K regions that changed most, the most changed first. */
struct hmk_top {
	__u32 k, nr;
	struct {
		__u32 variance_q16;
		__u32 index;
	} at[HMK_QUOTA_MAX_TOP];
};

void hmk_top_init(struct hmk_top *top, __u32 k);
void hmk_top_offer(struct hmk_top *top, __u32 index, __u32 variance_q16);

__u32 hmk_quota_cap(const struct hmk_region *r);
__u64 hmk_quota_max_region(__u64 bytes, __u32 num_ps, __u64 most);
__u64 hmk_quota_sum(const struct hmk_region *r, __u32 nr);
void hmk_quota_assign(struct hmk_region *r, __u32 nr, __u64 freed,
		      const struct hmk_quota_rule *rule,
		      struct hmk_quota_state *state,
		      struct hmk_quota_result *res);
void hmk_quota_fit(struct hmk_region *r, __u32 nr, __u64 most);
__u64 hmk_quota_take_turns(struct hmk_region *r, __u32 nr, __u32 num_ps,
			   struct hmk_quota_state *state);
void hmk_quota_cut_short(struct hmk_region *r, __u32 nr, __u32 at, __u64 samples,
			 struct hmk_quota_state *state);
void hmk_quota_watched(struct hmk_quota_unread *unread, struct hmk_region *r, __u32 read);
void hmk_quota_settle(const struct hmk_quota_unread *unread, struct hmk_quota_state *state);

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_QUOTA_H */

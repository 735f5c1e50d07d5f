/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is known of each page where every page is read, not samples of them: a byte a page. A
 * piece is the memory of one last-level table, 512 pages that are cleared and read together.
 *
 *   bits 7..2  hotness above the piece's rung (ladder.h) in 1/16 of a window, or one of two words
 *   bits 1..0  reads of this interval that saw an access: 0 .. HMK_DENSE_SCANS
 *
 *   clear     hmk_dense_clear() of each page that is present, hmk_dense_leave() of all others
 *   read      hmk_dense_see() of each page that is found accessed
 *   judge     hmk_dense_fold(), if the piece was read to its end and in time; hmk_dense_wish()
 *   sum       hmk_dense_add() of a region's pieces that were read, hmk_dense_judge()
 *   tell      hmk_dense_class(), where HMK_REGION_MIXED
 *
 * Design: a session reads so what half of its budget pays for; page rates then differ page by
 * page, and moves name a class (uapi: HMK_SWITCH_DENSE, HMK_RANGE_CLASS).
 */
#ifndef HMK_CORE_DENSE_H
#define HMK_CORE_DENSE_H

#include <hmk/core/ladder.h>
#include <hmk/core/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HMK_DENSE_PAGES		512u
#define HMK_DENSE_STEP		16u	/* of hotness: a window */
#define HMK_DENSE_TOP		48u	/* HMK_DENSE_SCANS windows */
#define HMK_DENSE_HALF		(HMK_DENSE_STEP / 2)	/* a class */
#define HMK_DENSE_SEEN		3u
#define HMK_DENSE_NEW		(62u << 2)	/* is watched, and was never judged */
#define HMK_DENSE_ABSENT	(63u << 2)	/* was not there when the piece was cleared */
#define HMK_DENSE_UNKNOWN	(~0u)	/* hotness of no page */
#define HMK_DENSE_AGE		3u	/* intervals after which all weigh the same */
#define HMK_DENSE_AGE_MOST	5u	/* after which no more is known */

/* The pages of a region; all zero at first, but for @age. */
struct hmk_dense_sum {
	__u64 known;		/* pages that were judged */
	__u64 heat, squares;	/* of theirs, in 1/16 of a window; rungs included */
	__u32 lowest, highest;	/* class + 1; 0: none is known */
	__u32 age;		/* of the piece that was read in the fewest intervals */
};

void hmk_dense_fold(__u8 *page, __u32 nr, __u32 age);
void hmk_dense_climb(__u8 *page, __u32 nr, __s32 rungs);
__s32 hmk_dense_wish(const __u8 *page, __u32 nr);
void hmk_dense_add(struct hmk_dense_sum *sum, const __u8 *page, __u32 nr, __u32 rung, __u32 age);
__u32 hmk_dense_mean_q16(const __u8 *page, __u32 nr, __u32 rung);
int hmk_dense_compare(const struct hmk_ladder *l, const struct hmk_dense_sum *sum,
		      struct hmk_region *r);
void hmk_dense_judge(const struct hmk_ladder *l, const struct hmk_dense_sum *sum,
		     struct hmk_region *r);

static inline void hmk_dense_leave(__u8 *page)
{
	*page = HMK_DENSE_ABSENT;
}

static inline void hmk_dense_clear(__u8 *page)
{
	*page = *page == HMK_DENSE_ABSENT ? HMK_DENSE_NEW : (__u8)(*page & ~HMK_DENSE_SEEN);
}

/* Whether a read has to look at it. */
static inline int hmk_dense_waits(__u8 page)
{
	return page < HMK_DENSE_ABSENT && !(page & HMK_DENSE_SEEN);
}

/* By a read of which @seen, 1 .. HMK_DENSE_SCANS, of the windows are no shorter. */
static inline void hmk_dense_see(__u8 *page, __u32 seen)
{
	*page |= (__u8)seen;
}

/* Hotness above the rung in 1/16 of a window; HMK_DENSE_TOP + 1 or more: not known. */
static inline __u32 hmk_dense_heat(__u8 page)
{
	return page >> 2;
}

/* Its class, 0 .. HMK_CLASSES - 1, as the uapi has it; -1: not known. */
static inline __s32 hmk_dense_class(__u8 page, __u32 rung)
{
	const __u32 heat = hmk_dense_heat(page);

	if (heat > HMK_DENSE_TOP)
		return -1;
	return (__s32)(2 * rung + (heat + HMK_DENSE_HALF / 2) / HMK_DENSE_HALF);
}

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_DENSE_H */

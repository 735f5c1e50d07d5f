/* SPDX-License-Identifier: GPL-2.0-only */
/* Looking into huge pages. */
#ifndef HMK_HUGE_H
#define HMK_HUGE_H

#include <linux/types.h>

#define HMK_HUGE_PARTS	8u	/* a huge page is judged by its eighths */
#define HMK_HUGE_MOST	16u	/* examined in one interval */

struct hmk_profile;
struct hmk_session;
struct mm_struct;

/* A huge page whose 512 entries are watched one by one. */
struct hmk_huge_page {
	u64 addr;
	u32 count[HMK_HUGE_PARTS];	/* of each part: entries found accessed, over all rounds */
};

struct hmk_huge {
	struct hmk_huge_page page[HMK_HUGE_MOST];	/* in address order */
	u32 nr;
	int pace;		/* 2^pace in an interval, or one in 2^-pace intervals */
	u64 at;			/* address where the round goes on; 0: a new one begins */
	u64 next_round;		/* interval before which none begins */
	bool examined;		/* some in this round */
	u64 spent_ns, cost_ns;	/* CPU time for those of @page; for one, the dearest lately */
};

/* All by the interval thread. */
void hmk_huge_judge(struct hmk_session *s, struct mm_struct *mm);
void hmk_huge_examine(struct mm_struct *mm, struct hmk_profile *p);
void hmk_huge_count(struct mm_struct *mm, struct hmk_profile *p);

#endif

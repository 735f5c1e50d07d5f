/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples: chosen, cleared, read. */
#ifndef HMK_SCAN_H
#define HMK_SCAN_H

#include <linux/types.h>

struct hmk_profile;
struct hmk_region;
struct hmk_sample;
struct mm_struct;

struct hmk_samples {
	struct hmk_sample *at;
	u32 nr, cap;
};

/* What an interval has done so far. */
struct hmk_watch {
	u32 first;		/* index of the region whose samples are watched first */
	u32 chosen, begun, counted;	/* samples picked, cleared, with a known count */
	u32 unpaid;		/* of the chosen: not begun, or not read, for want of budget */
	u32 groups, late_groups;	/* in all, and read too late */
	u64 visits, pieces;	/* leaves that were looked at, and pieces (dense.h) */
	u64 passes_ns, pieces_ns;	/* CPU time of that */
	u64 began_ns, took_ns;	/* CPU time at the first clear; from it to the last read */
	u64 census_ns, choice_ns;	/* of counting pages, of choosing samples */
};

/* A read of a group: how often a sample counts that it finds accessed. */
struct hmk_read {
	u8 seen;
	bool last;	/* no other follows: who is not seen now counts one less */
};

enum hmk_pass { HMK_PASS_CLEAR, HMK_PASS_COUNT };

u64 hmk_random(struct hmk_profile *p);
struct hmk_region *hmk_scan_region(const struct hmk_profile *p, u32 n);
void hmk_scan_choose(struct mm_struct *mm, struct hmk_profile *p);
u32 hmk_scan_pass(struct mm_struct *mm, struct hmk_profile *p, enum hmk_pass pass, u32 later);
u32 hmk_scan_group(struct mm_struct *mm, struct hmk_profile *p, u32 group, u32 nr,
		   const struct hmk_read *read);
void hmk_scan_cut(struct hmk_profile *p, u32 samples);
void hmk_scan_forget(struct hmk_profile *p, u32 group, u32 nr);
void hmk_scan_settle(struct hmk_profile *p);
void hmk_scan_arrange(struct hmk_profile *p);

#endif

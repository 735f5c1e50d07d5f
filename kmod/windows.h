/* SPDX-License-Identifier: GPL-2.0-only */
/* The windows of an interval, and what hotness means in them. */
#ifndef HMK_WINDOWS_H
#define HMK_WINDOWS_H

#include <linux/types.h>
#include <hmk/core/ladder.h>

struct hmk_profile;
struct hmk_record;
struct hmk_region;

struct hmk_windows {
	struct hmk_ladder ladder;	/* of this interval */
	struct hmk_ladder before;	/* whose hotness regions had when it changed */
	struct hmk_crowd crowd;		/* what regions are like together */
};

/* All by the interval thread. */
void hmk_windows_set(struct hmk_profile *p, u64 span_ns);
u32 hmk_windows_convert(const struct hmk_profile *p, u32 hotness_q16);
void hmk_windows_convert_equal(struct hmk_profile *p);
void hmk_windows_place(struct hmk_profile *p);
void hmk_windows_tell(const struct hmk_profile *p, const struct hmk_region *r,
		      struct hmk_record *rec);
void hmk_windows_tell_class(const struct hmk_profile *p, u32 hotness_q16, struct hmk_record *rec);

#endif

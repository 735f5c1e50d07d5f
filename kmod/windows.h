/* SPDX-License-Identifier: GPL-2.0-only */
/* The windows of an interval, and what hotness means in them. */
#ifndef HMK_WINDOWS_H
#define HMK_WINDOWS_H

#include <linux/types.h>

struct hmk_profile;
struct hmk_record;
struct hmk_region;

/* All by the interval thread. */
void hmk_windows_set(struct hmk_profile *p, u64 span_ns);
u32 hmk_windows_convert(const struct hmk_profile *p, u32 hotness_q16);
void hmk_windows_convert_equal(struct hmk_profile *p);
void hmk_windows_place(struct hmk_profile *p);
void hmk_windows_tell(const struct hmk_profile *p, const struct hmk_region *r,
		      struct hmk_record *rec);

#endif

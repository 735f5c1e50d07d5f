/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Hotness: what the counts of one interval say about a region (HK-9), and the
 * smoothed value a decision may rest on (HK-33). All values are Q16 in
 * 0 .. num_scans.
 */
#ifndef HMK_CORE_HOTNESS_H
#define HMK_CORE_HOTNESS_H

#include <hmk/core/types.h>

#ifdef __cplusplus
extern "C" {
#endif

__u32 hmk_hotness_mean_q16(__u32 sum, __u32 nr);
__u32 hmk_hotness_ema_q16(__u32 old_q16, __u32 now_q16, __u32 alpha_q16);
__u32 hmk_hotness_variance_q16(const struct hmk_region *r);
void hmk_hotness_gather(struct hmk_region *r, __u32 nr, const struct hmk_sample *samples);
void hmk_hotness_judge(struct hmk_region *r, __u32 nr, __u32 alpha_q16);

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_HOTNESS_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef HMK_CORE_RATE_H
#define HMK_CORE_RATE_H

#include <hmk/core/ladder.h>

#ifdef __cplusplus
extern "C" {
#endif

void hmk_rate_fill(struct hmk_ladder *l);
__u16 hmk_rate_dev_q8(const struct hmk_ladder *l, __u32 hotness_q16, __u32 samples_q4);

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_RATE_H */

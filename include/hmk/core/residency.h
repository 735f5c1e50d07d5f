/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where a region's pages are, as far as its samples tell.
 */
#ifndef HMK_CORE_RESIDENCY_H
#define HMK_CORE_RESIDENCY_H

#include <hmk/core/types.h>

#ifdef __cplusplus
extern "C" {
#endif

const struct hmk_sample *hmk_residency_guess(struct hmk_region *r, __u32 nr,
					     const struct hmk_sample *samples);

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_RESIDENCY_H */

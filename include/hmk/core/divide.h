/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef HMK_CORE_DIVIDE_H
#define HMK_CORE_DIVIDE_H

#include <hmk/core/types.h>

#ifdef __cplusplus
extern "C" {
#endif

__u32 hmk_regions_divide(const struct hmk_region *in, __u32 nr, const __u64 *cuts, __u32 nr_cuts,
			 struct hmk_region *out, __u32 out_cap, __u32 generation);

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_DIVIDE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A pass over all regions of a large target takes milliseconds, and on a kernel without
 * preemption nobody else has that CPU meanwhile: it is offered every HMK_CORE_SLICE regions.
 * Passes are made by the interval thread, which holds no lock then. User space needs no pauses.
 */
#ifndef HMK_CORE_PAUSE_H
#define HMK_CORE_PAUSE_H

#include <hmk/core/types.h>
#ifdef __KERNEL__
#include <linux/sched.h>
#endif

#define HMK_CORE_SLICE	4096u	/* regions */

/**
 * hmk_pause() - offer the CPU to others, now and then.
 * @n: how many regions of the pass are done.
 */
static inline void hmk_pause(__u32 n)
{
#ifdef __KERNEL__
	if (!(n % HMK_CORE_SLICE))
		cond_resched();
#else
	(void)n;
#endif
}

#endif /* HMK_CORE_PAUSE_H */

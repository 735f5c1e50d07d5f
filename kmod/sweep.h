/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sweep looks at the samples, or the pieces, of a group one after the other, with the target's
 * mmap lock held (hold.h). Where an interval's budget is for several threads
 * (HMK_BUDGET_THREAD_BP), they share them, a few at a time in their order:
 *
 *   1. What a thread has taken it looks at to the end, unless the session stops or the target
 *      ends. So what was looked at is everything before some place, and that is what is returned.
 *   2. None takes any more once the budget does not pay for it, or one of them has ended early.
 *   3. A sample, and a piece, is looked at by one thread. What they add up together is atomic.
 *   4. All have ended before hmk_sweep() returns: its caller sees what they wrote.
 */
#ifndef HMK_SWEEP_H
#define HMK_SWEEP_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "charge.h"
#include "hold.h"

struct hmk_profile;
struct hmk_read;

/* One thread's part. */
struct hmk_sweeper {
	struct hmk_hold hold;
	struct hmk_clock clock;	/* of a helper */
	bool helps;		/* is not the interval thread */
	u32 visits, counted;	/* looks; samples whose count is known since */
};

struct hmk_sweep {
	struct hmk_profile *p;
	struct mm_struct *mm;	/* grabbed by the caller */
	/* Looks at one, the lock held. Return: how many entries that were. */
	u32 (*look)(struct hmk_sweep *sweep, struct hmk_sweeper *by, u32 i);
	u32 group, nr;		/* place of the first, and how many */
	u32 step;		/* a thread takes at a time */
	const struct hmk_read *read;	/* what the look means; NULL: clears, whatever is left */
	atomic_t counted;	/* samples, for hmk_charge_affords() */
	u64 visits;		/* out */

	atomic_t next, end;	/* who comes next; nobody behind this one counts */
};

int hmk_sweep_init(void);
void hmk_sweep_exit(void);

/* By the interval thread. */
u32 hmk_sweep_threads(const struct hmk_profile *p);
u32 hmk_sweep(struct hmk_sweep *sweep);

#endif

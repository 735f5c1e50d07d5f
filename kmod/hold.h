/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's mmap lock as a pass of the interval thread holds it: for so many
 * entries at most, and no longer than nobody waits for it or for this CPU. On 6.1 a
 * writer that waits for it keeps every fault behind it waiting.
 *
 *	held = hmk_hold_begin(h, mm);
 *	while (held && more)
 *		held = hmk_hold_on(h, entries just looked at);
 *	if (held)
 *		hmk_hold_end(h);
 */
#ifndef HMK_HOLD_H
#define HMK_HOLD_H

#include <linux/mm_types.h>
#include <linux/types.h>

#define HMK_HOLD_MOST	4096u	/* entries, of which each costs one cache miss at worst */

struct hmk_hold {
	struct mm_struct *mm;
	struct vm_area_struct *vma;	/* looked up last; NULL after the lock was given up */
	u32 looked;			/* entries since the lock was taken */
	u32 longest;			/* most of an interval's holds */
};

/*
 * By the interval thread, or one that helps it, each with a hold of its own. Return: false, and
 * then the lock is not held, when it is to stop or the target has ended.
 */
bool hmk_hold_begin(struct hmk_hold *h, struct mm_struct *mm);
bool hmk_hold_on(struct hmk_hold *h, u32 looked);
void hmk_hold_end(struct hmk_hold *h);

/* The VMA that covers @addr and takes part, or NULL; good until the lock is given up. */
struct vm_area_struct *hmk_hold_vma(struct hmk_hold *h, u64 addr);

#endif

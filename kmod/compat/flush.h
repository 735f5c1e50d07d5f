/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_COMPAT_FLUSH_H
#define HMK_COMPAT_FLUSH_H

#include <linux/mm_types.h>

/**
 * hmk_flush_works() - can an address space be flushed on this machine?
 *
 * Return: false where only a kernel function can that was not found.
 */
bool hmk_flush_works(void);

/**
 * hmk_flush_range() - no CPU uses an older translation of [start, end) on return.
 * @mm:     address space, its mmap lock held by the caller.
 * @start:  first byte.
 * @end:    one past the last byte.
 * @stride: shift of the smallest leaf within: a huge page is one entry, not 512.
 *
 * Context: may sleep; not with a spinlock held.
 */
void hmk_flush_range(struct mm_struct *mm, unsigned long start, unsigned long end,
		     unsigned int stride);

/**
 * hmk_flush_mm() - the same for the whole user half.
 * @mm: address space, held by the caller.
 */
void hmk_flush_mm(struct mm_struct *mm);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_COMPAT_FLUSH_H
#define HMK_COMPAT_FLUSH_H

#include <linux/mm_types.h>

/**
 * hmk_flush_range() - no CPU uses an older translation of [start, end) on return.
 * @mm:    address space, users held by the caller.
 * @start: first byte.
 * @end:   one past the last byte.
 *
 * Context: may sleep; not with a spinlock held.
 */
void hmk_flush_range(struct mm_struct *mm, unsigned long start, unsigned long end);

/**
 * hmk_flush_mm() - the same for the whole user half.
 * @mm: address space, users held by the caller.
 */
void hmk_flush_mm(struct mm_struct *mm);

#endif

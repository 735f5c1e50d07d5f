/* SPDX-License-Identifier: GPL-2.0-only */
/* Looking into an address space that may end at any moment. */
#ifndef HMK_MMREF_H
#define HMK_MMREF_H

#include <linux/mm.h>

/* Has its last task left it? It never comes back. */
static inline bool hmk_mm_ended(const struct mm_struct *mm)
{
	return !atomic_read(&mm->mm_users);
}

/**
 * hmk_mm_lock() - take the mmap lock for reading unless the address space has ended.
 * @mm: held by mm_count (mmgrab) for as long as the session lives.
 *
 * Never takes mm_users: the last mmput() of a large program takes seconds, and its
 * parent's wait() must not return before the memory is free. As khugepaged and ksmd do:
 *
 *   1. The lock is taken first, then mm_users is read. 0: exit_mmap() may have freed
 *      tables and VMAs already, nothing may be looked at.
 *   2. Not 0: exit_mmap() frees neither before the lock is given up, since it does so
 *      with the lock held for writing. It may zap entries meanwhile, as MADV_DONTNEED
 *      does, with the lock held for reading and each table's own lock.
 *   3. Each time the lock has been given up rule 1 holds anew.
 *   4. exit_mmap() waits for the lock, so it is given up after bounded work.
 *
 * Return: 0 with the lock held; -ESRCH when it has ended; -EINTR on a fatal signal.
 */
static inline int hmk_mm_lock(struct mm_struct *mm)
{
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	if (!hmk_mm_ended(mm))
		return 0;
	mmap_read_unlock(mm);
	return -ESRCH;
}

static inline void hmk_mm_unlock(struct mm_struct *mm)
{
	mmap_read_unlock(mm);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "hold.h"
#include "mmref.h"
#include "walk.h"

bool hmk_hold_begin(struct hmk_hold *h, struct mm_struct *mm)
{
	h->mm = mm;
	h->vma = NULL;
	h->looked = 0;
	return !kthread_should_stop() && !hmk_mm_lock(mm);
}

void hmk_hold_end(struct hmk_hold *h)
{
	h->longest = max(h->longest, h->looked);
	hmk_mm_unlock(h->mm);
}

bool hmk_hold_on(struct hmk_hold *h, u32 looked)
{
	h->looked += looked;
	if (h->looked < HMK_HOLD_MOST && !need_resched() && !mmap_lock_is_contended(h->mm))
		return true;
	hmk_hold_end(h);
	cond_resched();
	return hmk_hold_begin(h, h->mm);
}

struct vm_area_struct *hmk_hold_vma(struct hmk_hold *h, u64 addr)
{
	if (!h->vma || addr < h->vma->vm_start || addr >= h->vma->vm_end)
		h->vma = find_vma(h->mm, addr);
	if (!h->vma || addr < h->vma->vm_start || !hmk_vma_takes_part(h->vma))
		return NULL;
	return h->vma;
}

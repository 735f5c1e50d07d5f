// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ranges exist: the populated parts of the VMAs that take part. A region
 * begins to exist when its last-level table does (HK-3).
 */
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched.h>

#include "session.h"
#include "walk.h"

static bool is_shmem(const struct vm_area_struct *vma)
{
	return vma->vm_file && (vma->vm_flags & VM_SHARED) &&
	       file_inode(vma->vm_file)->i_sb->s_magic == TMPFS_MAGIC;
}

/* Anonymous memory, shared memory, and private file mappings that were written. */
static int kind_of(const struct vm_area_struct *vma)
{
	if (!hmk_vma_takes_part(vma))
		return -1;
	if (is_shmem(vma))
		return HMK_KIND_SHMEM;
	if (vma->anon_vma)
		return HMK_KIND_ANON;
	return -1;
}

static int add_span(struct hmk_profile *p, u64 start, u64 end, u8 kind)
{
	if (p->nr_spans == p->spans_cap) {
		u32 cap = p->spans_cap ? 2 * p->spans_cap : 256;
		struct hmk_span *more;

		more = kvmalloc_array(cap, sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		if (p->nr_spans)
			memcpy(more, p->spans, p->nr_spans * sizeof(*more));
		kvfree(p->spans);
		p->spans = more;
		p->spans_cap = cap;
	}
	p->spans[p->nr_spans++] = (struct hmk_span){
		.start = start, .end = end, .kind = kind, .leaf_shift = PAGE_SHIFT,
	};
	return 0;
}

/* The runs of valid last-level entries inside one VMA. */
static int add_vma(struct mm_struct *mm, struct hmk_profile *p,
		   struct vm_area_struct *vma, unsigned long from)
{
	unsigned long start, stop = max(from, vma->vm_start);
	int kind = kind_of(vma), err = 0;

	if (kind < 0)
		return 0;
	while (!err) {
		start = hmk_next_entry(mm, stop, vma->vm_end, true);
		if (start == vma->vm_end)
			break;
		stop = hmk_next_entry(mm, start, vma->vm_end, false);
		if (stop > start)	/* it may have been emptied meanwhile */
			err = add_span(p, start, stop, kind);
	}
	return err;
}

/**
 * hmk_discover() - list the populated spans of an address space.
 * @mm: users held by the caller.
 * @p:  @p->spans is filled in address order, one VMA never shares a span.
 *
 * Gives the mmap lock up between VMAs when somebody waits for it.
 *
 * Return: 0, or -ENOMEM with the list incomplete.
 */
int hmk_discover(struct mm_struct *mm, struct hmk_profile *p)
{
	unsigned long addr = 0;
	int err = 0;

	p->nr_spans = 0;
	mmap_read_lock(mm);
	while (!err) {
		struct vm_area_struct *vma = find_vma(mm, addr);

		if (!vma)
			break;
		err = add_vma(mm, p, vma, addr);
		addr = vma->vm_end;
		if (need_resched() || mmap_lock_is_contended(mm)) {
			mmap_read_unlock(mm);
			cond_resched();
			mmap_read_lock(mm);
		}
	}
	mmap_read_unlock(mm);
	return err;
}

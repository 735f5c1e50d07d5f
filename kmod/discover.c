// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ranges exist: the populated parts of the VMAs that take part. A region
 * begins to exist when its last-level table does (HK-3).
 */
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "session.h"
#include "walk.h"

static bool discover_is_shmem(const struct vm_area_struct *vma)
{
	return vma->vm_file && (vma->vm_flags & VM_SHARED) &&
	       file_inode(vma->vm_file)->i_sb->s_magic == TMPFS_MAGIC;
}

/*
 * Anonymous memory, shared memory, and private file mappings that were written: of these
 * only the pages that were (hmk_leaf_counts()). Return: HMK_KIND_*, -1 for what takes no part.
 */
int hmk_discover_kind(const struct vm_area_struct *vma)
{
	if (!hmk_vma_takes_part(vma))
		return -1;
	if (discover_is_shmem(vma))
		return HMK_KIND_SHMEM;
	if (vma->anon_vma)
		return HMK_KIND_ANON;
	return -1;
}

/* Room for twice as many spans; no lock held, since it may wait for memory. */
static int discover_reserve(struct hmk_profile *p)
{
	u32 cap = p->spans_cap ? 2 * p->spans_cap : 256;
	struct hmk_span *more = kvmalloc_array(cap, sizeof(*more), GFP_KERNEL);

	if (!more)
		return -ENOMEM;
	if (p->nr_spans)
		memcpy(more, p->spans, p->nr_spans * sizeof(*more));
	kvfree(p->spans);
	p->spans = more;
	p->spans_cap = cap;
	return 0;
}

/*
 * Where the lock was given up within a run, or a table came to be between two runs,
 * the rest belongs to the span before, if that lies in the same VMA: spans that touch
 * are of different ones.
 */
static void discover_add_span(struct hmk_profile *p, const struct vm_area_struct *vma,
			      u64 start, u64 end, u8 kind)
{
	struct hmk_span *last = p->nr_spans ? &p->spans[p->nr_spans - 1] : NULL;

	if (last && last->end == start && last->start >= vma->vm_start && last->kind == kind)
		last->end = end;
	else
		p->spans[p->nr_spans++] = (struct hmk_span){
			.start = start, .end = end, .kind = kind, .leaf_shift = PAGE_SHIFT,
		};
}

/*
 * The runs of valid last-level entries inside one VMA, while there is room for spans
 * and entries may be looked at. Return: how far it came.
 */
static u64 discover_vma(struct mm_struct *mm, struct hmk_profile *p,
			const struct vm_area_struct *vma, u64 from, u32 *left)
{
	u64 start, stop = max_t(u64, from, vma->vm_start);
	int kind = hmk_discover_kind(vma);

	if (kind < 0)
		return vma->vm_end;
	while (stop < vma->vm_end && *left && p->nr_spans < p->spans_cap) {
		start = hmk_next_entry(mm, stop, vma->vm_end, true, left);
		stop = hmk_next_entry(mm, start, vma->vm_end, false, left);
		if (stop > start)	/* it may have been emptied meanwhile */
			discover_add_span(p, vma, start, stop, kind);
	}
	return stop;
}

/* What one hold of the lock may look at. Return: false when no VMA is left. */
static bool discover_some(struct mm_struct *mm, struct hmk_profile *p, u64 *at)
{
	struct vm_area_struct *vma = NULL;
	u32 left = HMK_HOLD_MOST;

	while (left && p->nr_spans < p->spans_cap) {
		vma = find_vma(mm, *at);
		if (!vma)
			break;
		left--;
		*at = discover_vma(mm, p, vma, *at, &left);
	}
	p->hold.looked = HMK_HOLD_MOST - left;
	return vma;
}

/**
 * hmk_discover() - list the populated spans of an address space.
 * @mm: grabbed by the caller.
 * @p:  @p->spans is filled in address order, one VMA never shares a span.
 *
 * Gives the mmap lock up within a VMA, too; what has changed meanwhile is seen as
 * it is then.
 *
 * Return: 0; with the list incomplete -ENOMEM, or -ESRCH when the target has ended
 * or the thread is to stop.
 */
int hmk_discover(struct mm_struct *mm, struct hmk_profile *p)
{
	bool more = true;
	u64 at = 0;

	p->nr_spans = 0;
	while (more) {
		if (p->nr_spans == p->spans_cap && discover_reserve(p))
			return -ENOMEM;
		if (!hmk_hold_begin(&p->hold, mm))
			return -ESRCH;
		more = discover_some(mm, p, &at);
		hmk_hold_end(&p->hold);
		cond_resched();
	}
	return 0;
}

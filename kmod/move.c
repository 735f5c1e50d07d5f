// SPDX-License-Identifier: GPL-2.0-only
/* The engine: ranges in their order, chunk by chunk. Knows no session. */
#include <linux/bitfield.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "compat/symbols.h"
#include "copy.h"
#include "mmref.h"
#include "move.h"
#include "rights.h"
#include "walk.h"

static void preset(struct hmk_chunk *c, int status)
{
	u32 i, nr = (c->end - c->start) >> PAGE_SHIFT;

	for (i = 0; i < nr; i++)
		c->status[i] = status;
	c->res->pages_absent += nr;
}

/* All of a chunk, present or not. */
static void refuse(struct hmk_chunk *c, int status, unsigned int why)
{
	preset(c, status);
	c->res->pages_absent -= (c->end - c->start) >> PAGE_SHIFT;
	c->res->refused[why] += (c->end - c->start) >> PAGE_SHIFT;
}

#define MOST_SYNC	15	/* then one chunk tries again */

/*
 * Memory whose pages are written while they are copied pays for the fault and
 * for the second copy: where more than a quarter was, the next chunks are not
 * copied ahead (HK-54), twice as many each time that it is so again.
 */
static void predict(struct hmk_chunk *c, u64 clean, u64 recopied)
{
	clean = c->res->pages_clean - clean;
	recopied = c->res->pages_recopied - recopied;
	if (c->sync_left) {
		c->sync_left--;
	} else if (recopied > clean / 3) {
		c->nr_sync = min(2 * c->nr_sync + 1, MOST_SYNC);
		c->sync_left = c->nr_sync;
	} else {
		c->nr_sync = 0;
	}
}

/*
 * migrate_vma puts an entry away before it asks the reverse mapping who else
 * maps the page, and puts back only what that tells. KSM maps a page first and
 * notes it down later, or not at all once it met an entry on its way: such an
 * entry would stay away for ever (tests/e2e/70).
 */
static bool takes_part(const struct hmk_chunk *c, struct vm_area_struct *vma)
{
	return hmk_vma_takes_part(vma) && (c->own || !(vma->vm_flags & VM_MERGEABLE));
}

/* The program's own binding holds, unless the caller says that the move wins. */
static bool may_leave(const struct hmk_chunk *c, struct vm_area_struct *vma)
{
	return c->node < 0 || c->flags & HMK_MOVE_BOUND ||
	       !hmk_bound_elsewhere(c->run->pid, vma, c->node);
}

/*
 * The mmap lock is not held while pages are copied. Return: 0 or why it ends here,
 * and then what was copied ahead is given back.
 */
static int copy_and_commit(struct hmk_chunk *c)
{
	u64 clean = c->res->pages_clean, recopied = c->res->pages_recopied;
	struct vm_area_struct *vma;
	u64 begin = ktime_get_ns();
	u32 i;
	int err;

	hmk_copy_ahead(c);
	c->res->copy_ns += ktime_get_ns() - begin;

	err = c->run->stop(c->run);
	if (!err)
		err = hmk_mm_lock(c->mm);
	vma = err ? NULL : find_vma(c->mm, c->start);
	if (vma && vma->vm_start <= c->start && vma->vm_end >= c->end && takes_part(c, vma) &&
	    may_leave(c, vma)) {
		c->vm_flags = vma->vm_flags;
		if (c->own)
			hmk_commit_own(c);
		else
			hmk_commit_vma(c);
	}
	if (!err)
		hmk_mm_unlock(c->mm);
	for (i = 0; i < c->nr; i++)	/* stopped, or the VMA has changed: pages stay */
		if (c->page[i].src)
			hmk_drop(c, &c->page[i], err ? HMK_REFUSED_BUSY : HMK_REFUSED_GONE, -EBUSY);
	c->nr = 0;
	predict(c, clean, recopied);
	return err;
}

/*
 * Take the pages of a chunk: c->start is given, c->end is at most one chunk further
 * and is cut where the VMA ends. Return: 0 or why it ends here.
 */
static int collect_chunk(struct hmk_chunk *c)
{
	struct vm_area_struct *vma;
	int err = hmk_mm_lock(c->mm);

	if (err)
		return err;
	vma = find_vma(c->mm, c->start);
	c->nr = 0;
	if (!vma || vma->vm_start >= c->end) {
		preset(c, -EFAULT);		/* nothing is mapped here */
	} else if (vma->vm_start > c->start) {
		c->end = vma->vm_start;
		preset(c, -EFAULT);
	} else {
		c->end = min(c->end, vma->vm_end);
		if (!takes_part(c, vma)) {
			refuse(c, -EOPNOTSUPP, HMK_REFUSED_KIND);
		} else if (!may_leave(c, vma)) {
			refuse(c, -EPERM, HMK_REFUSED_POLICY);
		} else {
			preset(c, -ENOENT);
			if (c->class)
				c->run->classes(c->run, c->start,
						(c->end - c->start) >> PAGE_SHIFT, c->classes);
			hmk_collect(c, vma);
		}
	}
	hmk_mm_unlock(c->mm);
	return 0;
}

/*
 * A page in some CPU's LRU batch cannot be isolated. All batches are emptied for it
 * once in a request: that asks every CPU which has one, so not without need.
 */
static int collect_on_lru(struct hmk_chunk *c)
{
	struct hmk_range_result before = *c->res;
	unsigned long end = c->end;
	int err = collect_chunk(c);
	u32 i;

	if (err || !c->nr || !c->off_lru || c->drained || !hmk_has(HMK_FEAT_LRU_DRAIN))
		return err;
	for (i = 0; i < c->nr; i++)
		hmk_drop(c, &c->page[i], HMK_REFUSED_BUSY, -EBUSY);
	c->drained = true;
	hmk_call(lru_add_drain_all)();
	*c->res = before;
	c->end = end;
	return collect_chunk(c);
}

/* One chunk. Return: 0 or why it ends here. */
static int move_chunk(struct hmk_chunk *c)
{
	u64 begin = ktime_get_ns();
	int err = collect_on_lru(c);

	c->res->prepare_ns += ktime_get_ns() - begin;
	if (err)
		return err;
	c->res->chunks++;
	return c->nr ? copy_and_commit(c) : 0;
}

/* Chunks end at multiples of their size, so a huge page is never cut. */
static unsigned long chunk_end(unsigned long start, unsigned long end, u32 pages)
{
	unsigned long size = (unsigned long)pages << PAGE_SHIFT;

	return min(end, (start / size + 1) * size);
}

static int put_status(const struct hmk_chunk *c, const struct hmk_range *r)
{
	s32 __user *to = u64_to_user_ptr(r->status);
	u64 at = (c->start - r->start) >> PAGE_SHIFT;

	if (!r->status)
		return 0;
	return copy_to_user(to + at, c->status,
			    ((c->end - c->start) >> PAGE_SHIFT) * sizeof(*to)) ? -EFAULT : 0;
}

static int move_range(struct hmk_chunk *c, const struct hmk_range *r, u32 chunk_pages)
{
	unsigned long end = r->start + r->length;
	int err = 0;

	c->node = r->node;
	c->class = FIELD_GET(HMK_RANGE_CLASS_MASK, r->flags);
	c->from = (int)FIELD_GET(HMK_RANGE_FROM_MASK, r->flags) - 1;
	if (r->start != c->end) {	/* other memory: nothing is known of it */
		c->nr_sync = 0;
		c->sync_left = 0;
	}
	for (c->start = r->start; c->start < end && !err; c->start = c->end) {
		c->end = chunk_end(c->start, end, chunk_pages);
		err = c->run->stop(c->run);
		if (err)
			return err;
		err = move_chunk(c);
		if (!err)
			err = put_status(c, r);
		cond_resched();
	}
	return err;
}

static void take_ranges(struct hmk_run *run, struct hmk_chunk *c, u32 copy_threads)
{
	u32 pages = run->chunk_pages ? run->chunk_pages : HMK_CHUNK_PAGES, i;
	int err;

	c->run = run;
	c->mm = run->mm;
	c->flags = run->flags;
	c->copy_threads = copy_threads;
	c->own = hmk_has(HMK_FEAT_MOVE_OWN) && !(run->flags & HMK_MOVE_FORCE_VMA);
	while ((i = atomic_fetch_inc(&run->next)) < run->nr_ranges) {
		c->res = &run->results[i];
		err = READ_ONCE(run->err);
		if (!err && run->begin)
			c->res->error = run->begin(run, i);
		if (c->res->error)
			continue;
		if (!err)
			err = move_range(c, &run->ranges[i], pages);
		if (err)
			WRITE_ONCE(run->err, err);
		c->res->error = err;
		if (c->res->chunks)
			run->moved(run, i);
	}
}

struct second {
	struct work_struct work;
	struct hmk_run *run;
	struct hmk_chunk *chunk;
};

static void second_worker(struct work_struct *work)
{
	struct second *second = container_of(work, struct second, work);

	take_ranges(second->run, second->chunk, second->run->copy_threads / 2);
}

/* One that has not begun when all ranges are taken never does: nobody waits for a free worker. */
static void take_ranges_paired(struct hmk_run *run, struct hmk_chunk *c, struct hmk_chunk *other)
{
	struct second second = { .run = run, .chunk = other };

	INIT_WORK_ONSTACK(&second.work, second_worker);
	hmk_queue_near(hmk_ticket_wq, &second.work, run->ranges[1].node, NUMA_NO_NODE);
	take_ranges(run, c, DIV_ROUND_UP(run->copy_threads, 2));
	cancel_work_sync(&second.work);
	destroy_work_on_stack(&second.work);
}

/**
 * hmk_move_ranges() - move checked ranges in their order.
 * @run: all but @next and @err set by the caller.
 *
 * Return: 0; -ESRCH when the target has gone; what @run->stop answered (results say
 * how far it came); -EINTR on a fatal signal; -EFAULT when a status cannot be
 * written; -ENOMEM. What was not moved stays mapped where it was.
 */
int hmk_move_ranges(struct hmk_run *run)
{
	bool paired = run->flags & HMK_MOVE_PAIRED && run->nr_ranges > 1 && run->copy_threads != 1;
	struct hmk_chunk *c = kvcalloc(1 + paired, sizeof(*c), GFP_KERNEL_ACCOUNT);

	if (!c)
		return -ENOMEM;
	if (!atomic_read(&run->mm->mm_users)) {
		kvfree(c);
		return -ESRCH;
	}
	if (paired)
		take_ranges_paired(run, &c[0], &c[1]);
	else
		take_ranges(run, c, run->copy_threads);
	kvfree(c);
	return run->err;
}

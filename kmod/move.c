// SPDX-License-Identifier: GPL-2.0-only
/* HMK_IOC_MOVE: check everything, then move range by range, chunk by chunk. */
#include <linux/capability.h>
#include <linux/mmap_lock.h>
#include <linux/nodemask.h>
#include <linux/pagemap.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "compat/symbols.h"
#include "copy.h"
#include "move.h"
#include "session.h"
#include "walk.h"

#define MAX_RANGE_BYTES	(1ull << 40)
#define MOVE_FLAGS	(HMK_MOVE_TICKET | HMK_MOVE_SYNC_COPY | HMK_MOVE_SHARED | \
			 HMK_MOVE_FORCE_VMA | HMK_MOVE_DRY_RUN | HMK_MOVE_PAIRED)

static u32 known_flags(void)
{
	return MOVE_FLAGS | (IS_ENABLED(HMK_TEST_SWITCHES) ?
			     HMK_MOVE_TEST_NO_FLUSH | HMK_MOVE_TEST_WRITE_BIT : 0);
}

static int check_range(const struct hmk_range *r, const struct hmk_move *m,
		       const nodemask_t *allowed)
{
	u64 end;

	if (r->flags || !r->length || (r->start | r->length) & ~PAGE_MASK ||
	    r->length > MAX_RANGE_BYTES || check_add_overflow(r->start, r->length, &end) ||
	    end > TASK_SIZE_MAX)
		return -EINVAL;
	if (r->status && (m->flags & HMK_MOVE_TICKET))
		return -EINVAL;
	if (r->node == NUMA_NO_NODE)
		return r->status ? 0 : -EINVAL;
	if (r->node < 0 || r->node >= MAX_NUMNODES || !node_state(r->node, N_MEMORY))
		return -ENODEV;
	return node_isset(r->node, *allowed) ? 0 : -EACCES;
}

static int by_start(const void *a, const void *b)
{
	const struct hmk_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorts a copy: the caller's order is the order of the moves. */
static int check_overlap(const struct hmk_range *ranges, u32 nr)
{
	struct hmk_range *sorted;
	int err = 0;
	u32 i;

	if (nr < 2)
		return 0;
	sorted = kvmalloc_array(nr, sizeof(*sorted), GFP_KERNEL);
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, ranges, nr * sizeof(*sorted));
	sort(sorted, nr, sizeof(*sorted), by_start, NULL);
	for (i = 1; i < nr; i++) {
		if (sorted[i].start < sorted[i - 1].start + sorted[i - 1].length)
			err = -EBUSY;
	}
	kvfree(sorted);
	return err;
}

/* Who may move, and where to: asked anew for every call, nothing is cached. */
static int check_right(struct hmk_session *s, const struct hmk_move *m, nodemask_t *allowed)
{
	struct task_struct *task = get_pid_task(s->pid, PIDTYPE_TGID);
	bool own = current->mm == s->mm;
	int err = 0;

	if (!task)
		return -ESRCH;
	if ((!own || m->flags & HMK_MOVE_SHARED) && !capable(CAP_SYS_NICE))
		err = -EPERM;
	else if (!own && hmk_has(HMK_FEAT_PTRACE_CHECK))
		err = hmk_call(security_task_movememory)(task);
	task_lock(task);
	*allowed = task->mems_allowed;
	task_unlock(task);
	put_task_struct(task);
	return err;
}

static int check_move(struct hmk_session *s, const struct hmk_move *m,
		      const struct hmk_range *ranges)
{
	nodemask_t allowed;
	int err = check_right(s, m, &allowed);
	u32 i;

	for (i = 0; !err && i < m->nr_ranges; i++)
		err = check_range(&ranges[i], m, &allowed);
	return err ? err : check_overlap(ranges, m->nr_ranges);
}

/* Asked before each chunk, and again before it is committed. Return: 0 or why it ends here. */
static int should_stop(const struct hmk_chunk *c)
{
	if (READ_ONCE(c->session->closing) || fatal_signal_pending(current))
		return -EINTR;
	if (c->cancel && READ_ONCE(*c->cancel))
		return -ECANCELED;
	/* Only our reference keeps the memory of a target that has ended. */
	return atomic_read(&c->mm->mm_users) == 1 ? -ESRCH : 0;
}

static void preset(struct hmk_chunk *c, int status)
{
	u32 i, nr = (c->end - c->start) >> PAGE_SHIFT;

	for (i = 0; i < nr; i++)
		c->status[i] = status;
	c->res->pages_absent += nr;
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

	err = should_stop(c);
	if (!err)
		err = mmap_read_lock_killable(c->mm);
	vma = err ? NULL : find_vma(c->mm, c->start);
	if (vma && vma->vm_start <= c->start && vma->vm_end >= c->end && takes_part(c, vma)) {
		c->vm_flags = vma->vm_flags;
		if (c->own)
			hmk_commit_own(c);
		else
			hmk_commit_vma(c);
	}
	if (!err)
		mmap_read_unlock(c->mm);
	for (i = 0; i < c->nr; i++)	/* stopped, or the VMA has changed: pages stay */
		if (c->page[i].src)
			hmk_drop(c, &c->page[i], err ? HMK_REFUSED_BUSY : HMK_REFUSED_GONE, -EBUSY);
	c->nr = 0;
	predict(c, clean, recopied);
	return err;
}

/*
 * One chunk: c->start is given, c->end is at most one chunk further and is cut
 * where the VMA ends. Return: 0 or why it ends here.
 */
static int move_chunk(struct hmk_chunk *c)
{
	u64 begin = ktime_get_ns();
	struct vm_area_struct *vma;

	if (mmap_read_lock_killable(c->mm))
		return -EINTR;
	vma = find_vma(c->mm, c->start);
	c->nr = 0;
	if (!vma || vma->vm_start >= c->end) {
		preset(c, -EFAULT);		/* nothing is mapped here */
	} else if (vma->vm_start > c->start) {
		c->end = vma->vm_start;
		preset(c, -EFAULT);
	} else {
		c->end = min(c->end, vma->vm_end);
		if (takes_part(c, vma)) {
			preset(c, -ENOENT);
			hmk_collect(c, vma);
		} else {
			preset(c, -EOPNOTSUPP);
			c->res->pages_absent -= (c->end - c->start) >> PAGE_SHIFT;
			c->res->refused[HMK_REFUSED_KIND] += (c->end - c->start) >> PAGE_SHIFT;
		}
	}
	mmap_read_unlock(c->mm);
	c->res->prepare_ns += ktime_get_ns() - begin;
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
	if (r->start != c->end) {	/* other memory: nothing is known of it */
		c->nr_sync = 0;
		c->sync_left = 0;
	}
	for (c->start = r->start; c->start < end && !err; c->start = c->end) {
		c->end = chunk_end(c->start, end, chunk_pages);
		err = should_stop(c);
		if (err)
			return err;
		err = move_chunk(c);
		if (!err)
			err = put_status(c, r);
		cond_resched();
	}
	return err;
}

static void add_sums(struct hmk_session *s, int node, const struct hmk_range_result *r)
{
	u64 moved = r->pages_clean + r->pages_recopied + r->pages_sync;
	struct hmk_range_result *sum = &s->stats.moved;
	u32 i;

	spin_lock(&s->stats_lock);
	sum->paths |= r->paths;
	sum->pages_clean += r->pages_clean;
	sum->pages_recopied += r->pages_recopied;
	sum->pages_sync += r->pages_sync;
	sum->pages_already += r->pages_already;
	sum->pages_absent += r->pages_absent;
	for (i = 0; i < HMK_REFUSED_NR; i++)
		sum->refused[i] += r->refused[i];
	sum->chunks += r->chunks;
	sum->chunks_switched += r->chunks_switched;
	sum->prepare_ns += r->prepare_ns;
	sum->copy_ns += r->copy_ns;
	sum->commit_ns += r->commit_ns;
	sum->commit_max_ns = max(sum->commit_max_ns, r->commit_max_ns);
	if (node >= 0 && node < HMK_MAX_NODES)
		s->stats.moved_pages[node] += moved;
	spin_unlock(&s->stats_lock);
}

static void take_ranges(struct hmk_run *run, struct hmk_chunk *c)
{
	struct hmk_session *s = run->session;
	const struct hmk_move *m = run->move;
	u32 pages = m->chunk_pages ? m->chunk_pages : HMK_CHUNK_PAGES, i;
	int err;

	c->session = s;
	c->mm = s->mm;
	c->cancel = run->cancel;
	c->flags = m->flags;
	c->own = hmk_has(HMK_FEAT_MOVE_OWN) && !(m->flags & HMK_MOVE_FORCE_VMA);
	while ((i = atomic_fetch_inc(&run->next)) < m->nr_ranges) {
		const struct hmk_range *r = &run->ranges[i];

		c->res = &run->results[i];
		err = READ_ONCE(run->err);
		if (!err)
			err = move_range(c, r, pages);
		if (err)
			WRITE_ONCE(run->err, err);
		c->res->error = err;
		add_sums(s, r->node, c->res);
		if (r->node >= 0)
			hmk_session_touched(s, r->start, r->start + r->length);
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

	take_ranges(second->run, second->chunk);
}

/* One that has not begun when all ranges are taken never does: nobody waits for a free worker. */
static void take_ranges_paired(struct hmk_run *run, struct hmk_chunk *c, struct hmk_chunk *other)
{
	struct second second = { .run = run, .chunk = other };

	INIT_WORK_ONSTACK(&second.work, second_worker);
	hmk_queue_near(hmk_ticket_wq, &second.work, run->ranges[1].node, NUMA_NO_NODE);
	take_ranges(run, c);
	cancel_work_sync(&second.work);
	destroy_work_on_stack(&second.work);
}

/**
 * hmk_move_ranges() - move checked ranges in their order.
 * @run: all but @next and @err set by the caller.
 *
 * Return: 0; -ESRCH when the target has gone; -EINTR or -ECANCELED when stopped in
 * between (results say how far it came); -EFAULT when a status cannot be written;
 * -ENOMEM. What was not moved stays mapped where it was.
 */
int hmk_move_ranges(struct hmk_run *run)
{
	bool paired = run->move->flags & HMK_MOVE_PAIRED && run->move->nr_ranges > 1;
	struct hmk_chunk *c = kvcalloc(1 + paired, sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	if (!mmget_not_zero(run->session->mm)) {
		kvfree(c);
		return -ESRCH;
	}
	if (hmk_has(HMK_FEAT_LRU_DRAIN))
		hmk_call(lru_add_drain_all)();
	if (paired)
		take_ranges_paired(run, &c[0], &c[1]);
	else
		take_ranges(run, c);
	mmput_async(run->session->mm);
	kvfree(c);
	return run->err;
}

/* Whether answers can be written, before the first page moves. It writes zeros there. */
static int check_answers(const struct hmk_move *m, const struct hmk_range *ranges)
{
	size_t left = 0;
	u32 i;

	if (m->results)
		left = fault_in_writeable(u64_to_user_ptr(m->results),
					  m->nr_ranges * sizeof(struct hmk_range_result));
	for (i = 0; i < m->nr_ranges && !left; i++) {
		if (ranges[i].status)
			left = fault_in_writeable(u64_to_user_ptr(ranges[i].status),
						  (ranges[i].length >> PAGE_SHIFT) * sizeof(s32));
	}
	return left ? -EFAULT : 0;
}

static int move_now(struct hmk_session *s, const struct hmk_move *m,
		    const struct hmk_range *ranges)
{
	struct hmk_range_result *results;
	int err;

	results = kvcalloc(m->nr_ranges, sizeof(*results), GFP_KERNEL);
	if (!results)
		return -ENOMEM;
	err = check_answers(m, ranges);
	if (!err)
		err = hmk_move_ranges(&(struct hmk_run){
			.session = s, .move = m, .ranges = ranges, .results = results,
		});
	if (m->results && copy_to_user(u64_to_user_ptr(m->results), results,
				       m->nr_ranges * sizeof(*results)))
		err = -EFAULT;
	kvfree(results);
	return err;
}

static int check_header(struct hmk_session *s, const struct hmk_move *m)
{
	if (m->flags & ~known_flags() || m->chunk_pages > HMK_CHUNK_PAGES || !m->nr_ranges)
		return -EINVAL;
	if (m->results && m->flags & HMK_MOVE_TICKET)
		return -EINVAL;
	if (m->flags & HMK_MOVE_PAIRED && !(m->flags & HMK_MOVE_TICKET))
		return -EINVAL;
	if (m->nr_ranges > HMK_MAX_RANGES)
		return -E2BIG;
	if (!smp_load_acquire(&s->mm))	/* pairs with ATTACH */
		return -ENOTCONN;
	if (!hmk_has(HMK_FEAT_MOVE_OWN) && !hmk_has(HMK_FEAT_MOVE_VMA))
		return -EOPNOTSUPP;
	return 0;
}

/**
 * hmk_move() - HMK_IOC_MOVE.
 * @s:   session.
 * @arg: struct hmk_move in user memory.
 *
 * Nothing moves unless every range is acceptable.
 *
 * Return: 0 or what the uapi header's table says.
 */
long hmk_move(struct hmk_session *s, void __user *arg)
{
	struct hmk_range *ranges;
	struct hmk_move m;
	long err = hmk_copy_in(&m, sizeof(m), arg, sizeof(m));

	if (!err)
		err = check_header(s, &m);
	if (err)
		return err;
	ranges = vmemdup_user(u64_to_user_ptr(m.ranges),
			      array_size(m.nr_ranges, sizeof(*ranges)));
	if (IS_ERR(ranges))
		return PTR_ERR(ranges);
	err = check_move(s, &m, ranges);
	if (!err && m.flags & HMK_MOVE_DRY_RUN)
		goto out;
	if (!err && m.flags & HMK_MOVE_TICKET)
		return hmk_ticket_queue(s, &m, ranges);	/* takes @ranges */
	if (!err)
		err = move_now(s, &m, ranges);
out:
	kvfree(ranges);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/* HMK_IOC_MOVE: check everything, then move now or queue a ticket. */
#include <linux/bitfield.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "compat/symbols.h"
#include "move.h"
#include "request.h"
#include "rights.h"
#include "session.h"
#include "stats.h"
#include "ticket.h"
#include "usercopy.h"

#define MAX_RANGE_BYTES	(1ull << 40)
#define MOVE_FLAGS	(HMK_MOVE_TICKET | HMK_MOVE_SYNC_COPY | HMK_MOVE_SHARED | \
			 HMK_MOVE_FORCE_VMA | HMK_MOVE_DRY_RUN | HMK_MOVE_PAIRED | \
			 HMK_MOVE_BOUND)

static u32 known_flags(void)
{
	return MOVE_FLAGS | (IS_ENABLED(HMK_TEST_SWITCHES) ?
			     HMK_MOVE_TEST_NO_FLUSH | HMK_MOVE_TEST_WRITE_BIT |
			     HMK_MOVE_TEST_LATE_COUNT | HMK_MOVE_TEST_POISON : 0);
}

/* 0, or a class and a node to take it from: both. */
static bool check_range_flags(u32 flags)
{
	u32 class = FIELD_GET(HMK_RANGE_CLASS_MASK, flags);
	u32 from = FIELD_GET(HMK_RANGE_FROM_MASK, flags);

	return !flags || (!(flags & ~(HMK_RANGE_CLASS_MASK | HMK_RANGE_FROM_MASK)) &&
			  class && class <= HMK_CLASSES && from && from <= HMK_MAX_NODES);
}

static int check_range(const struct hmk_range *r, const struct hmk_move *m,
		       const nodemask_t *allowed)
{
	u64 end;

	if (!check_range_flags(r->flags) || !r->length || (r->start | r->length) & ~PAGE_MASK ||
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

static int range_by_start(const void *a, const void *b)
{
	const struct hmk_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int range_by_flags(const void *a, const void *b)
{
	const struct hmk_range *x = a, *y = b;

	return x->flags < y->flags ? -1 : x->flags > y->flags ? 1 : range_by_start(a, b);
}

static u64 range_end(const struct hmk_range *r)
{
	return r->start + r->length;
}

/* Sorts a copy: the caller's order is the order of the moves. */
static int check_overlap(const struct hmk_range *ranges, u32 nr)
{
	u64 end[2] = {};	/* of ranges whole, and of those with a class */
	struct hmk_range *sorted;
	int err = 0;
	u32 i;

	if (nr < 2)
		return 0;
	sorted = kvmalloc_array(nr, sizeof(*sorted), GFP_KERNEL);
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, ranges, nr * sizeof(*sorted));
	sort(sorted, nr, sizeof(*sorted), range_by_flags, NULL);
	for (i = 1; i < nr; i++) {
		if (sorted[i].flags == sorted[i - 1].flags &&
		    sorted[i].start < range_end(&sorted[i - 1]))
			err = -EBUSY;
	}
	/* All pages of a range, and some of another. */
	sort(sorted, nr, sizeof(*sorted), range_by_start, NULL);
	for (i = 0; i < nr; i++) {
		if (sorted[i].start < end[!sorted[i].flags])
			err = -EBUSY;
		end[!!sorted[i].flags] = max(end[!!sorted[i].flags], range_end(&sorted[i]));
	}
	kvfree(sorted);
	return err;
}

static int check_move(struct hmk_session *s, const struct hmk_move *m,
		      const struct hmk_range *ranges)
{
	nodemask_t allowed;
	int err = hmk_may_move(s, m->flags, current->mm == s->mm, &allowed);
	u32 i;

	for (i = 0; !err && i < m->nr_ranges; i++)
		err = check_range(&ranges[i], m, &allowed);
	return err ? err : check_overlap(ranges, m->nr_ranges);
}

#define FAULT_IN_BYTES	(2ul << 20)	/* between two looks for signals */

static int fault_in(u64 at, u64 bytes)
{
	u64 done, part;

	for (done = 0; done < bytes; done += part) {
		part = min_t(u64, bytes - done, FAULT_IN_BYTES);
		if (fault_in_writeable(u64_to_user_ptr(at + done), part))
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* Whether answers can be written, before the first page moves. It writes zeros there. */
static int check_answers(const struct hmk_move *m, const struct hmk_range *ranges)
{
	int err = 0;
	u32 i;

	if (m->results)
		err = fault_in(m->results, m->nr_ranges * sizeof(struct hmk_range_result));
	for (i = 0; i < m->nr_ranges && !err; i++) {
		if (ranges[i].status)
			err = fault_in(ranges[i].status,
				       (ranges[i].length >> PAGE_SHIFT) * sizeof(s32));
	}
	return err;
}

/* A move whose caller waits for it. */
struct request {
	struct hmk_run run;
	struct hmk_session *session;
};

static int request_stop(const struct hmk_run *run)
{
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static void request_moved(struct hmk_run *run, u32 i)
{
	hmk_stats_moved(container_of(run, struct request, run)->session, &run->ranges[i],
			&run->results[i]);
}

static void request_classes(const struct hmk_run *run, unsigned long start, u32 nr, u8 *class)
{
	hmk_pieces_classes(&container_of(run, struct request, run)->session->prof.dense.pieces,
			   start, nr, class);
}

static int move_now(struct hmk_session *s, const struct hmk_move *m,
		    const struct hmk_range *ranges)
{
	struct request request = {
		.run = {
			.mm = s->mm, .pid = s->pid, .ranges = ranges,
			.nr_ranges = m->nr_ranges, .flags = m->flags,
			.chunk_pages = m->chunk_pages, .copy_threads = m->copy_threads,
			.stop = request_stop, .classes = request_classes,
			.moved = request_moved,
		},
		.session = s,
	};
	struct hmk_range_result *results;
	int err;

	results = kvcalloc(m->nr_ranges, sizeof(*results), GFP_KERNEL_ACCOUNT);
	if (!results)
		return -ENOMEM;
	request.run.results = results;
	err = check_answers(m, ranges);
	if (!err)
		err = hmk_move_ranges(&request.run);
	if (err == -ESRCH)
		hmk_events_gone(&s->events);
	if (m->results && copy_to_user(u64_to_user_ptr(m->results), results,
				       m->nr_ranges * sizeof(*results)))
		err = -EFAULT;
	kvfree(results);
	return err;
}

static int check_header(struct hmk_session *s, const struct hmk_move *m)
{
	if (m->flags & ~known_flags() || m->chunk_pages > HMK_CHUNK_PAGES || !m->nr_ranges ||
	    m->copy_threads > HMK_MAX_COPY_THREADS || m->reserved)
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
	long err = hmk_copy_in(&m, sizeof(m), arg, offsetofend(struct hmk_move, chunk_pages));

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

// SPDX-License-Identifier: GPL-2.0-only
/* Moves that run while their caller does something else. */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "copy.h"
#include "events.h"
#include "move.h"
#include "rights.h"
#include "session.h"
#include "stats.h"
#include "ticket.h"
#include "trace.h"
#include "usercopy.h"

struct hmk_ticket {
	struct list_head list;		/* of its session, oldest first */
	struct hmk_session *session;
	struct hmk_move move;
	struct hmk_range *ranges;
	struct hmk_range_result *results;
	struct hmk_run run;
	const struct cred *cred;	/* of who queued it */
	bool own;			/* who moves its own memory */
	bool begun, done;
	bool fetched;			/* its results are being copied out: nobody else may */
	bool cancel;			/* read by its workers without the lock */
};

static void ticket_free(struct hmk_ticket *t)
{
	kvfree(t->ranges);
	kvfree(t->results);
	put_cred(t->cred);
	kfree(t);
}

static struct hmk_ticket *ticket_find(struct hmk_tickets *q, u64 cookie)
{
	struct hmk_ticket *t;

	lockdep_assert_held(&q->lock);
	list_for_each_entry(t, &q->list, list) {
		if (t->move.cookie == cookie)
			return t;
	}
	return NULL;
}

static int ticket_stop(const struct hmk_run *run)
{
	const struct hmk_ticket *t = container_of(run, struct hmk_ticket, run);

	if (READ_ONCE(t->session->closing))
		return -EINTR;
	return READ_ONCE(t->cancel) ? -ECANCELED : 0;
}

/* It had the node when it was queued. */
static int ticket_begin(const struct hmk_run *run, u32 i)
{
	return hmk_cpuset_allows(run->pid, run->ranges[i].node) ? 0 : -EACCES;
}

static void ticket_classes(const struct hmk_run *run, unsigned long start, u32 nr, u8 *class)
{
	hmk_pieces_classes(&container_of(run, struct hmk_ticket, run)->session->prof.dense.pieces,
			   start, nr, class);
}

static void ticket_moved(struct hmk_run *run, u32 i)
{
	hmk_stats_moved(container_of(run, struct hmk_ticket, run)->session, &run->ranges[i],
			&run->results[i]);
}

/**
 * hmk_ticket_queue() - accept a move and return.
 * @s:      attached session.
 * @m:      checked.
 * @ranges: checked; freed here or with the ticket, in every case.
 *
 * The caller's cookie names it, so nothing is handed back: a request is either
 * queued or refused, never both.
 *
 * Return: 0, -EAGAIN when the queue is full, -EBUSY when the cookie is in use,
 * -ENOMEM.
 */
long hmk_ticket_queue(struct hmk_session *s, const struct hmk_move *m,
		      struct hmk_range *ranges)
{
	struct hmk_ticket *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	struct hmk_tickets *q = &s->tickets;
	int node = ranges[0].node;
	long err = 0;

	if (t)
		t->results = kvcalloc(m->nr_ranges, sizeof(*t->results), GFP_KERNEL_ACCOUNT);
	if (!t || !t->results) {
		kvfree(ranges);
		kfree(t);
		return -ENOMEM;
	}
	t->session = s;
	t->move = *m;
	t->ranges = ranges;
	t->cred = get_current_cred();
	t->own = current->mm == s->mm;
	t->run = (struct hmk_run){
		.mm = s->mm, .pid = s->pid, .ranges = ranges, .results = t->results,
		.nr_ranges = m->nr_ranges, .flags = m->flags, .chunk_pages = m->chunk_pages,
		.copy_threads = m->copy_threads,
		.stop = ticket_stop, .begin = ticket_begin, .classes = ticket_classes,
		.moved = ticket_moved,
	};
	spin_lock(&q->lock);
	if (ticket_find(q, m->cookie))
		err = -EBUSY;
	else if (q->nr >= HMK_MAX_TICKETS)
		err = -EAGAIN;
	if (!err) {
		list_add_tail(&t->list, &q->list);
		q->nr++;
	}
	spin_unlock(&q->lock);
	if (err)
		ticket_free(t);
	else
		hmk_queue_near(hmk_ticket_wq, &q->work, node, NUMA_NO_NODE);
	return err;
}

static struct hmk_ticket *ticket_next(struct hmk_tickets *q)
{
	struct hmk_ticket *t, *found = NULL;

	spin_lock(&q->lock);
	list_for_each_entry(t, &q->list, list) {
		if (!t->done) {
			t->begun = true;
			found = t;
			break;
		}
	}
	spin_unlock(&q->lock);
	return found;
}

/* Nobody else looks at the results: it is not done yet, or being fetched. */
static void ticket_give_up(struct hmk_ticket *t, int err)
{
	u32 i;

	for (i = 0; i < t->move.nr_ranges; i++) {
		if (!t->results[i].chunks)
			t->results[i].error = err;
	}
}

/* Whoever fetches it finds it done before it is reported, and never after it is freed. */
static void ticket_done(struct hmk_ticket *t)
{
	lockdep_assert_held(&t->session->tickets.lock);
	t->done = true;
	hmk_events_ticket(&t->session->events, t->move.cookie);
}

/* Return: 0 or what ended it before its ranges did. */
static int ticket_run(struct hmk_ticket *t)
{
	struct hmk_session *s = t->session;
	int err = hmk_may_run(s, t->run.flags, t->own, t->cred);

	if (!err)
		err = hmk_move_ranges(&t->run);
	if (err)	/* without the right, -ESRCH and -ENOMEM: before the first range */
		ticket_give_up(t, err);
	trace_hmk_ticket(&t->move, err);
	spin_lock(&s->tickets.lock);
	ticket_done(t);
	spin_unlock(&s->tickets.lock);
	return err;
}

static void ticket_work(struct work_struct *work)
{
	struct hmk_session *s = container_of(work, struct hmk_session, tickets.work);
	struct hmk_ticket *t;
	bool gone = false;

	while (!READ_ONCE(s->closing) && (t = ticket_next(&s->tickets)))
		gone |= ticket_run(t) == -ESRCH;
	if (gone)	/* after the ends of all its tickets: it is the last event */
		hmk_events_gone(&s->events);
}

/* What was copied ahead is given back by its worker, before its end is reported. */
static long ticket_cancel(struct hmk_tickets *q, u64 cookie)
{
	struct hmk_ticket *t;

	spin_lock(&q->lock);
	t = ticket_find(q, cookie);
	if (t && !t->done) {
		WRITE_ONCE(t->cancel, true);
		if (!t->begun)
			ticket_done(t);
	}
	spin_unlock(&q->lock);
	return t ? 0 : -ENOENT;
}

/* Mark it as being fetched: it keeps its place and its cookie until that has worked. */
static struct hmk_ticket *ticket_fetch(struct hmk_tickets *q, const struct hmk_result *r)
{
	struct hmk_ticket *t;

	spin_lock(&q->lock);
	t = ticket_find(q, r->cookie);
	if (!t)
		t = ERR_PTR(-ENOENT);
	else if (!t->done || t->fetched)
		t = ERR_PTR(-EAGAIN);
	else if (t->move.nr_ranges != r->nr_ranges)
		t = ERR_PTR(-EINVAL);
	else
		t->fetched = true;
	spin_unlock(&q->lock);
	return t;
}

/**
 * hmk_result() - HMK_IOC_RESULT: fetch a finished ticket and forget it.
 * @s:   session.
 * @arg: struct hmk_result in user memory.
 *
 * No lock of ours may be held over a fault, since mmap() of the table takes one
 * below the mmap lock.
 *
 * Return: 0; -EAGAIN while it runs or another thread fetches it; -ENOENT; -EINVAL
 * when the number of ranges differs; -EFAULT, and then the ticket is kept. With
 * HMK_RESULT_CANCEL 0 also when it has ended.
 */
long hmk_result(struct hmk_session *s, void __user *arg)
{
	struct hmk_tickets *q = &s->tickets;
	struct hmk_ticket *t;
	struct hmk_result r;
	bool failed;
	long err = hmk_copy_in(&r, sizeof(r), arg, sizeof(r));

	if (err)
		return err;
	if (r.flags & ~HMK_RESULT_CANCEL || r.reserved)
		return -EINVAL;
	if (r.flags)
		return r.results || r.nr_ranges ? -EINVAL : ticket_cancel(q, r.cookie);
	t = ticket_fetch(q, &r);
	if (IS_ERR(t))
		return PTR_ERR(t);
	if (!t->begun)
		ticket_give_up(t, -ECANCELED);
	failed = copy_to_user(u64_to_user_ptr(r.results), t->results,
			      array_size(r.nr_ranges, sizeof(*t->results)));
	spin_lock(&q->lock);
	t->fetched = false;
	if (!failed) {
		list_del(&t->list);
		q->nr--;
		hmk_events_forget(&s->events, r.cookie);
	}
	spin_unlock(&q->lock);
	if (failed)
		return -EFAULT;
	ticket_free(t);
	return 0;
}

void hmk_tickets_init(struct hmk_tickets *q)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->list);
	INIT_WORK(&q->work, ticket_work);
}

/* The session is closing and nobody else is inside: running tickets end after their chunk. */
void hmk_tickets_end(struct hmk_tickets *q)
{
	struct hmk_ticket *t, *next;

	flush_work(&q->work);
	list_for_each_entry_safe(t, next, &q->list, list) {
		list_del(&t->list);
		ticket_free(t);
	}
}

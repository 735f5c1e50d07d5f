// SPDX-License-Identifier: GPL-2.0-only
/* Moves that run while their caller does something else. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "copy.h"
#include "move.h"
#include "session.h"
#include "trace.h"

struct hmk_ticket {
	struct list_head list;		/* of its session, oldest first */
	struct hmk_move move;
	struct hmk_range *ranges;
	struct hmk_range_result *results;
	u64 done_ns;
	bool begun, done, told;
	bool cancel;			/* read by its worker without the lock */
};

static void ticket_free(struct hmk_ticket *t)
{
	kvfree(t->ranges);
	kvfree(t->results);
	kfree(t);
}

static struct hmk_ticket *find(struct hmk_session *s, u64 cookie)
{
	struct hmk_ticket *t;

	lockdep_assert_held(&s->event_lock);
	list_for_each_entry(t, &s->tickets, list) {
		if (t->move.cookie == cookie)
			return t;
	}
	return NULL;
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
	struct hmk_ticket *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int node = ranges[0].node;
	long err = 0;

	if (t)
		t->results = kvcalloc(m->nr_ranges, sizeof(*t->results), GFP_KERNEL);
	if (!t || !t->results) {
		kvfree(ranges);
		kfree(t);
		return -ENOMEM;
	}
	t->move = *m;
	t->ranges = ranges;
	spin_lock(&s->event_lock);
	if (find(s, m->cookie))
		err = -EBUSY;
	else if (s->nr_tickets >= HMK_MAX_TICKETS)
		err = -EAGAIN;
	if (!err) {
		list_add_tail(&t->list, &s->tickets);
		s->nr_tickets++;
	}
	spin_unlock(&s->event_lock);
	if (err)
		ticket_free(t);
	else
		hmk_queue_near(hmk_ticket_wq, &s->ticket_work, node, NUMA_NO_NODE);
	return err;
}

static struct hmk_ticket *next_to_do(struct hmk_session *s)
{
	struct hmk_ticket *t, *found = NULL;

	spin_lock(&s->event_lock);
	list_for_each_entry(t, &s->tickets, list) {
		if (!t->done) {
			t->begun = true;
			found = t;
			break;
		}
	}
	spin_unlock(&s->event_lock);
	return found;
}

/* Nobody else looks at the results: it is not done yet, or off its list. */
static void give_up(struct hmk_ticket *t, int err)
{
	u32 i;

	for (i = 0; i < t->move.nr_ranges; i++) {
		if (!t->results[i].chunks)
			t->results[i].error = err;
	}
}

static void tell_done(struct hmk_session *s, struct hmk_ticket *t)
{
	lockdep_assert_held(&s->event_lock);
	t->done = true;
	t->done_ns = ktime_get_ns();
}

/* One worker per session: its tickets run in their order. */
void hmk_ticket_work(struct work_struct *work)
{
	struct hmk_session *s = container_of(work, struct hmk_session, ticket_work);
	struct hmk_ticket *t;

	while (!READ_ONCE(s->closing) && (t = next_to_do(s))) {
		int err = hmk_move_ranges(&(struct hmk_run){
			.session = s, .move = &t->move, .ranges = t->ranges,
			.results = t->results, .cancel = &t->cancel,
		});

		if (err)	/* -ESRCH and -ENOMEM come before the first range */
			give_up(t, err);
		trace_hmk_ticket(&t->move, err);
		spin_lock(&s->event_lock);
		tell_done(s, t);
		spin_unlock(&s->event_lock);
		wake_up_interruptible(&s->wait);
	}
}

/* What was copied ahead is given back by its worker, before it is told. */
static long cancel(struct hmk_session *s, u64 cookie)
{
	struct hmk_ticket *t;
	bool over = false;

	spin_lock(&s->event_lock);
	t = find(s, cookie);
	if (t && !t->done) {
		WRITE_ONCE(t->cancel, true);
		over = !t->begun;
		if (over)
			tell_done(s, t);
	}
	spin_unlock(&s->event_lock);
	if (over)
		wake_up_interruptible(&s->wait);
	return t ? 0 : -ENOENT;
}

/**
 * hmk_result() - HMK_IOC_RESULT: fetch a finished ticket and forget it.
 * @s:   session.
 * @arg: struct hmk_result in user memory.
 *
 * The ticket is off the list while its results are copied: no lock of ours may
 * be held over a fault, since mmap() of the table takes one below the mmap lock.
 *
 * Return: 0; -EAGAIN while it runs; -ENOENT; -EINVAL when the number of ranges
 * differs; -EFAULT, and then the ticket is kept. With HMK_RESULT_CANCEL 0 also when
 * it has ended.
 */
long hmk_result(struct hmk_session *s, void __user *arg)
{
	struct hmk_ticket *t;
	struct hmk_result r;
	long err = hmk_copy_in(&r, sizeof(r), arg, sizeof(r));

	if (err)
		return err;
	if (r.flags & ~HMK_RESULT_CANCEL || r.reserved)
		return -EINVAL;
	if (r.flags)
		return r.results || r.nr_ranges ? -EINVAL : cancel(s, r.cookie);
	spin_lock(&s->event_lock);
	t = find(s, r.cookie);
	if (!t)
		err = -ENOENT;
	else if (!t->done)
		err = -EAGAIN;
	else if (t->move.nr_ranges != r.nr_ranges)
		err = -EINVAL;
	if (!err) {
		list_del(&t->list);
		s->nr_tickets--;
	}
	spin_unlock(&s->event_lock);
	if (err)
		return err;
	if (!t->begun)
		give_up(t, -ECANCELED);
	if (!copy_to_user(u64_to_user_ptr(r.results), t->results,
			  array_size(r.nr_ranges, sizeof(*t->results)))) {
		ticket_free(t);
		return 0;
	}
	spin_lock(&s->event_lock);
	list_add(&t->list, &s->tickets);
	s->nr_tickets++;
	spin_unlock(&s->event_lock);
	return -EFAULT;
}

/* Report a finished ticket once. event_lock held. */
bool hmk_ticket_event(struct hmk_session *s, struct hmk_event *ev)
{
	struct hmk_ticket *t;

	list_for_each_entry(t, &s->tickets, list) {
		if (!t->done || t->told)
			continue;
		t->told = true;
		ev->kind = HMK_EVENT_TICKET;
		ev->value = t->move.cookie;
		ev->time_ns = t->done_ns;
		return true;
	}
	return false;
}

/* It was not told after all. event_lock held. */
void hmk_ticket_untold(struct hmk_session *s, u64 cookie)
{
	struct hmk_ticket *t = find(s, cookie);

	if (t)
		t->told = false;
}

bool hmk_ticket_pending(struct hmk_session *s)
{
	struct hmk_ticket *t;

	lockdep_assert_held(&s->event_lock);
	list_for_each_entry(t, &s->tickets, list) {
		if (t->done && !t->told)
			return true;
	}
	return false;
}

/* The worker has ended: nobody else holds the list. */
void hmk_tickets_free(struct hmk_session *s)
{
	struct hmk_ticket *t, *next;

	list_for_each_entry_safe(t, next, &s->tickets, list) {
		list_del(&t->list);
		ticket_free(t);
	}
}

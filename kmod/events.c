// SPDX-License-Identifier: GPL-2.0-only
/* Stages push what happened; the reader of the session's file takes it. */
#include <linux/ktime.h>
#include <linux/uaccess.h>

#include "events.h"

void hmk_events_init(struct hmk_events *e)
{
	spin_lock_init(&e->lock);
	init_waitqueue_head(&e->wait);
}

/**
 * hmk_events_interval() - an interval has been published.
 * @e:   the session's events.
 * @seq: of the table; an older one that nobody has read is folded into it.
 */
void hmk_events_interval(struct hmk_events *e, u64 seq)
{
	spin_lock(&e->lock);
	e->published = seq;
	e->published_ns = ktime_get_ns();
	spin_unlock(&e->lock);
	wake_up_interruptible(&e->wait);
}

/**
 * hmk_events_ticket() - a ticket has ended.
 * @e:      the session's events.
 * @cookie: its name; no other ticket has it until this one is fetched.
 */
void hmk_events_ticket(struct hmk_events *e, u64 cookie)
{
	spin_lock(&e->lock);
	if (!WARN_ON_ONCE(e->nr_done == ARRAY_SIZE(e->done))) {
		e->done[e->nr_done].cookie = cookie;
		e->done[e->nr_done++].ns = ktime_get_ns();
	}
	spin_unlock(&e->lock);
	wake_up_interruptible(&e->wait);
}

/* @ns: when it ended, 0 where only the name is known. Return: true when it was there. */
static bool events_drop_ticket(struct hmk_events *e, u64 cookie, u64 ns)
{
	u32 i;

	lockdep_assert_held(&e->lock);
	for (i = 0; i < e->nr_done; i++) {
		if (e->done[i].cookie != cookie || (ns && e->done[i].ns != ns))
			continue;
		e->nr_done--;
		memmove(&e->done[i], &e->done[i + 1], (e->nr_done - i) * sizeof(e->done[0]));
		return true;
	}
	return false;
}

/**
 * hmk_events_forget() - a ticket has been fetched: its end is no news any more.
 * @e:      the session's events.
 * @cookie: its name.
 */
void hmk_events_forget(struct hmk_events *e, u64 cookie)
{
	spin_lock(&e->lock);
	events_drop_ticket(e, cookie, 0);
	spin_unlock(&e->lock);
}

/**
 * hmk_events_gone() - the target's address space has ended; reported once.
 * @e: the session's events.
 */
void hmk_events_gone(struct hmk_events *e)
{
	spin_lock(&e->lock);
	if (!e->gone) {
		e->gone = true;
		e->gone_ns = ktime_get_ns();
	}
	spin_unlock(&e->lock);
	wake_up_interruptible(&e->wait);
}

/**
 * hmk_events_stopped() - profiling has ended by itself.
 * @e:   the session's events.
 * @why: HMK_STOPPED_*
 */
void hmk_events_stopped(struct hmk_events *e, u64 why)
{
	spin_lock(&e->lock);
	e->stopped = why;
	e->stopped_ns = ktime_get_ns();
	spin_unlock(&e->lock);
	wake_up_interruptible(&e->wait);
}

/* Tickets first, then the newest interval, then the end. Takes nothing. */
static bool events_peek(const struct hmk_events *e, struct hmk_event *ev)
{
	lockdep_assert_held(&e->lock);
	memset(ev, 0, sizeof(*ev));
	ev->size = sizeof(*ev);
	if (e->nr_done) {
		ev->kind = HMK_EVENT_TICKET;
		ev->value = e->done[0].cookie;
		ev->time_ns = e->done[0].ns;
	} else if (e->published != e->acked) {
		ev->kind = HMK_EVENT_INTERVAL;
		ev->value = e->published;
		ev->time_ns = e->published_ns;
	} else if (e->stopped) {
		ev->kind = HMK_EVENT_STOPPED;
		ev->value = e->stopped;
		ev->time_ns = e->stopped_ns;
	} else if (e->gone && !e->gone_acked) {
		ev->kind = HMK_EVENT_GONE;
		ev->time_ns = e->gone_ns;
	}
	return ev->kind;
}

/* Return: false when another reader, or the one who fetched the ticket, was first. */
static bool events_take(struct hmk_events *e, const struct hmk_event *ev)
{
	bool mine = false;

	lockdep_assert_held(&e->lock);
	switch (ev->kind) {
	case HMK_EVENT_TICKET:
		return events_drop_ticket(e, ev->value, ev->time_ns);
	case HMK_EVENT_INTERVAL:
		mine = e->acked < ev->value;
		e->acked = max(e->acked, ev->value);
		break;
	case HMK_EVENT_STOPPED:
		mine = e->stopped && e->stopped_ns == ev->time_ns;
		e->stopped = mine ? 0 : e->stopped;
		break;
	case HMK_EVENT_GONE:
		mine = !e->gone_acked;
		e->gone_acked = true;
		break;
	}
	return mine;
}

static bool events_any(struct hmk_events *e)
{
	struct hmk_event ev;
	bool any;

	spin_lock(&e->lock);
	any = events_peek(e, &ev);
	spin_unlock(&e->lock);
	return any;
}

/**
 * hmk_events_read() - read(2): whole events, oldest kind first.
 * @e:        the session's events.
 * @buf:      user memory.
 * @len:      at least one event.
 * @nonblock: -EAGAIN rather than wait.
 *
 * An event is taken only after its reader has it: one that cannot be written is
 * still to come.
 *
 * Return: bytes written; 0 when the target has gone and all was read; -EINVAL,
 * -EFAULT, -EAGAIN, -ERESTARTSYS.
 */
ssize_t hmk_events_read(struct hmk_events *e, char __user *buf, size_t len, bool nonblock)
{
	struct hmk_event ev;
	size_t done = 0;

	if (len < sizeof(ev))
		return -EINVAL;
	while (done + sizeof(ev) <= len) {
		bool got, over;

		spin_lock(&e->lock);
		got = events_peek(e, &ev);
		over = e->gone_acked;
		spin_unlock(&e->lock);
		if (got) {
			if (copy_to_user(buf + done, &ev, sizeof(ev)))
				return done ? done : -EFAULT;
			spin_lock(&e->lock);
			if (events_take(e, &ev))
				done += sizeof(ev);
			spin_unlock(&e->lock);
			continue;
		}
		if (done || over)
			break;
		if (nonblock)
			return -EAGAIN;
		if (wait_event_interruptible(e->wait, events_any(e)))
			return -ERESTARTSYS;
	}
	return done;
}

__poll_t hmk_events_poll(struct hmk_events *e, struct file *file, poll_table *pt)
{
	__poll_t mask = 0;

	poll_wait(file, &e->wait, pt);
	if (events_any(e))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(e->gone))
		mask |= EPOLLHUP;
	return mask;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life and events of a session. It holds the address space by mm_count only
 * (mmgrab), so a target that exits is never kept alive: each use takes mm_users
 * with mmget_not_zero() and learns from a refusal that the target has gone. No
 * mmu notifier is registered: ours would make every invalidation of the target
 * dearer, and would hide the ones of KVM that forbid pre-copy.
 */
#include <linux/kthread.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "move.h"
#include "session.h"

struct hmk_session *hmk_session_create(void)
{
	struct hmk_session *s = kvzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	mutex_init(&s->clock);
	mutex_init(&s->lock);
	mutex_init(&s->table_lock);
	spin_lock_init(&s->touched_lock);
	spin_lock_init(&s->stats_lock);
	spin_lock_init(&s->event_lock);
	init_waitqueue_head(&s->wait);
	INIT_LIST_HEAD(&s->tickets);
	INIT_WORK(&s->ticket_work, hmk_ticket_work);
	return s;
}

/* Called when the last reference to the file has gone: nobody else is inside. */
void hmk_session_destroy(struct hmk_session *s)
{
	WRITE_ONCE(s->closing, true);
	flush_work(&s->ticket_work);
	if (s->thread)
		kthread_stop(s->thread);
	hmk_tickets_free(s);
	hmk_table_destroy(s);
	kvfree(s->prof.now.at);
	kvfree(s->prof.next.at);
	kvfree(s->prof.spans);
	kvfree(s->prof.samples);
	if (s->mm)
		mmdrop(s->mm);
	put_pid(s->pid);
	kvfree(s);
}

/**
 * hmk_session_start() - run the interval clock.
 * @s: attached session.
 *
 * Return: 0, -ENOTCONN before ATTACH, -EBUSY when it runs, -ESRCH when the
 * target has gone, -EOPNOTSUPP when a secondary MMU uses its memory, or what
 * creating a thread returned.
 */
int hmk_session_start(struct hmk_session *s)
{
	struct task_struct *thread;
	int err = 0;

	mutex_lock(&s->clock);
	mutex_lock(&s->lock);
	if (!s->mm) {
		err = -ENOTCONN;
	} else if (hmk_table_ensure(s)) {
		err = -ENOMEM;
	} else if (s->thread) {
		err = -EBUSY;
	} else if (!atomic_read(&s->mm->mm_users)) {
		err = -ESRCH;
	} else if (mm_has_notifiers(s->mm)) {
		err = -EOPNOTSUPP;	/* KVM: what its guest touches would look cold */
	} else {
		thread = kthread_create(hmk_interval_thread, s, "hmk/%d", pid_nr(s->pid));
		if (IS_ERR(thread)) {
			err = PTR_ERR(thread);
		} else {
			s->thread = thread;
			wake_up_process(thread);
		}
	}
	mutex_unlock(&s->lock);
	mutex_unlock(&s->clock);
	return err;
}

/**
 * hmk_session_stop() - stop the interval clock; regions keep their history.
 * @s: session.
 *
 * Return: 0, also when it was not running; -ENOTCONN before ATTACH.
 */
int hmk_session_stop(struct hmk_session *s)
{
	struct task_struct *thread;
	bool attached;

	mutex_lock(&s->clock);
	mutex_lock(&s->lock);
	attached = s->mm;
	thread = s->thread;
	s->thread = NULL;
	mutex_unlock(&s->lock);
	/* The thread takes @lock when it publishes; a START waits for @clock. */
	if (thread)
		kthread_stop(thread);
	mutex_unlock(&s->clock);
	return attached ? 0 : -ENOTCONN;
}

void hmk_session_gone(struct hmk_session *s)
{
	spin_lock(&s->event_lock);
	if (!s->gone) {
		s->gone = true;
		s->gone_ns = ktime_get_ns();
	}
	spin_unlock(&s->event_lock);
	wake_up_interruptible(&s->wait);
}

/* Tickets first, then the newest interval, then the end. event_lock held. */
static bool next_event(struct hmk_session *s, struct hmk_event *ev)
{
	lockdep_assert_held(&s->event_lock);
	memset(ev, 0, sizeof(*ev));
	ev->size = sizeof(*ev);
	if (hmk_ticket_event(s, ev))
		return true;
	if (s->published != s->acked) {
		s->acked = s->published;
		ev->kind = HMK_EVENT_INTERVAL;
		ev->value = s->published;
		ev->time_ns = s->published_ns;
		return true;
	}
	if (s->gone && !s->gone_acked) {
		s->gone_acked = true;
		ev->kind = HMK_EVENT_GONE;
		ev->time_ns = s->gone_ns;
		return true;
	}
	return false;
}

/* Its reader could not be told: it is still to come. */
static void keep_event(struct hmk_session *s, const struct hmk_event *ev)
{
	spin_lock(&s->event_lock);
	if (ev->kind == HMK_EVENT_TICKET)
		hmk_ticket_untold(s, ev->value);
	else if (ev->kind == HMK_EVENT_GONE)
		s->gone_acked = false;
	else if (s->acked == ev->value)
		s->acked--;
	spin_unlock(&s->event_lock);
}

static bool has_event(struct hmk_session *s)
{
	bool has;

	spin_lock(&s->event_lock);
	has = hmk_ticket_pending(s) || s->published != s->acked ||
	      (s->gone && !s->gone_acked);
	spin_unlock(&s->event_lock);
	return has;
}

/**
 * hmk_session_read_event() - read(2): whole events, oldest kind first.
 * @s:        session.
 * @buf:      user memory.
 * @len:      at least one event.
 * @nonblock: -EAGAIN rather than wait.
 *
 * Return: bytes written; 0 when the target has gone and all was read; -EINVAL,
 * -EFAULT, -EAGAIN, -ERESTARTSYS.
 */
ssize_t hmk_session_read_event(struct hmk_session *s, char __user *buf, size_t len,
			       bool nonblock)
{
	struct hmk_event ev;
	size_t done = 0;

	if (len < sizeof(ev))
		return -EINVAL;
	while (done + sizeof(ev) <= len) {
		bool got, over;

		spin_lock(&s->event_lock);
		got = next_event(s, &ev);
		over = s->gone_acked;
		spin_unlock(&s->event_lock);
		if (got) {
			if (copy_to_user(buf + done, &ev, sizeof(ev))) {
				keep_event(s, &ev);
				return done ? done : -EFAULT;
			}
			done += sizeof(ev);
			continue;
		}
		if (done || over)
			break;
		if (nonblock)
			return -EAGAIN;
		if (wait_event_interruptible(s->wait, has_event(s)))
			return -ERESTARTSYS;
	}
	return done;
}

__poll_t hmk_session_poll(struct hmk_session *s, struct file *file, poll_table *pt)
{
	__poll_t mask = 0;

	poll_wait(file, &s->wait, pt);
	if (has_event(s))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(s->gone))
		mask |= EPOLLHUP;
	return mask;
}

long hmk_session_stats(struct hmk_session *s, void __user *arg)
{
	struct hmk_stats *stats = kzalloc(sizeof(*stats), GFP_KERNEL);
	u32 size;
	long err;

	if (!stats)
		return -ENOMEM;
	err = hmk_copy_in(stats, sizeof(*stats), arg, 16);
	size = stats->size;
	if (!err && stats->reserved)
		err = -EINVAL;
	mutex_lock(&s->lock);
	if (!err && !s->mm)
		err = -ENOTCONN;
	if (!err) {
		spin_lock(&s->stats_lock);
		*stats = s->stats;
		spin_unlock(&s->stats_lock);
		stats->size = size;
		stats->table_bytes = hmk_table_bytes(s);
	}
	mutex_unlock(&s->lock);
	if (!err)
		err = hmk_copy_out(arg, stats, sizeof(*stats));
	kfree(stats);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a session. It holds the address space by mm_count only
 * (mmgrab), so a target that exits is never kept alive: each use
 * asks under the mmap lock whether the target has gone (mmref.h). No
 * mmu notifier is registered: ours would make every invalidation of the target
 * dearer, and would hide the ones of KVM that forbid pre-copy.
 */
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "mmref.h"
#include "session.h"

struct hmk_session *hmk_session_create(void)
{
	struct hmk_session *s = kvzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	mutex_init(&s->clock);
	mutex_init(&s->lock);
	mutex_init(&s->table_lock);
	spin_lock_init(&s->moved.lock);
	spin_lock_init(&s->stats_lock);
	hmk_events_init(&s->events);
	hmk_tickets_init(&s->tickets);
	hmk_pieces_create(&s->prof.dense.pieces);
	return s;
}

/* Called when the last reference to the file has gone: nobody else is inside. */
void hmk_session_destroy(struct hmk_session *s)
{
	WRITE_ONCE(s->closing, true);
	hmk_tickets_end(&s->tickets);
	if (s->thread)
		kthread_stop(s->thread);
	hmk_table_destroy(s);
	kvfree(s->prof.now.at);
	kvfree(s->prof.next.at);
	kvfree(s->prof.spans);
	kvfree(s->prof.samples.at);
	hmk_dense_destroy(&s->prof.dense);
	if (s->mm)
		mmdrop(s->mm);
	put_pid(s->pid);
	if (s->cred)
		put_cred(s->cred);
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
	} else if (hmk_mm_ended(s->mm)) {
		err = -ESRCH;
	} else if (mm_has_notifiers(s->mm)) {
		err = -EOPNOTSUPP;	/* KVM: what its guest touches would look cold */
	} else if (s->thread) {
		err = -EBUSY;
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

/* SPDX-License-Identifier: GPL-2.0-only */
/* What a session has to report: poll(2) and read(2) of its file. */
#ifndef HMK_EVENTS_H
#define HMK_EVENTS_H

#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/hmk.h>

struct hmk_events {
	spinlock_t lock;		/* everything below; innermost, no user copy under it */
	wait_queue_head_t wait;
	u64 published, acked;		/* table seq */
	u64 published_ns, gone_ns;
	bool gone, gone_acked;
	u64 stopped, stopped_ns;	/* HMK_STOPPED_*; 0: not, or it has been told */
	u32 nr_done;
	struct {
		u64 cookie, ns;
	} done[HMK_MAX_TICKETS];	/* finished tickets to report, oldest first */
};

void hmk_events_init(struct hmk_events *e);
void hmk_events_interval(struct hmk_events *e, u64 seq);
void hmk_events_ticket(struct hmk_events *e, u64 cookie);
void hmk_events_forget(struct hmk_events *e, u64 cookie);
void hmk_events_gone(struct hmk_events *e);
void hmk_events_stopped(struct hmk_events *e, u64 why);
ssize_t hmk_events_read(struct hmk_events *e, char __user *buf, size_t len, bool nonblock);
__poll_t hmk_events_poll(struct hmk_events *e, struct file *file, poll_table *pt);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Moves that run while their caller does something else: a queue per session. */
#ifndef HMK_TICKET_H
#define HMK_TICKET_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/hmk.h>

struct hmk_session;

struct hmk_tickets {
	spinlock_t lock;		/* @list, @nr and the state of each ticket */
	struct list_head list;		/* struct hmk_ticket, oldest first */
	u32 nr;
	struct work_struct work;	/* one worker per session: tickets run in their order */
};

void hmk_tickets_init(struct hmk_tickets *q);
void hmk_tickets_end(struct hmk_tickets *q);
long hmk_ticket_queue(struct hmk_session *s, const struct hmk_move *m, struct hmk_range *ranges);
long hmk_result(struct hmk_session *s, void __user *arg);

#endif

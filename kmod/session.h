/* SPDX-License-Identifier: GPL-2.0-only */
/* One managed address space: what an open file of /dev/hmk stands for. */
#ifndef HMK_SESSION_H
#define HMK_SESSION_H

#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/hmk.h>
#include <hmk/core/pause.h>
#include <hmk/core/types.h>

#include "adapt.h"
#include "census.h"
#include "charge.h"
#include "cost.h"
#include "dense.h"
#include "events.h"
#include "hold.h"
#include "huge.h"
#include "scan.h"
#include "ticket.h"
#include "touched.h"
#include "windows.h"

#define HMK_INTERVAL_MIN_NS	(50 * (u64)NSEC_PER_MSEC)
#define HMK_INTERVAL_MAX_NS	(600 * (u64)NSEC_PER_SEC)
#define HMK_CUTS_MAX		(2 * HMK_TOUCHED_MAX)
#define HMK_WEIGHT_DEFAULT	100u

/* Used by the interval thread alone: no lock. What a stage keeps is its header's. */
struct hmk_profile {
	struct hmk_params params;	/* copy taken at the start of each interval */
	struct hmk_region_array now, next;
	struct hmk_span *spans;
	u32 nr_spans, spans_cap;
	u64 seq;
	u64 rng;
	u32 flags;		/* HMK_INTERVAL_* of this interval */
	u64 start_ns;
	u64 span_ns;		/* of this interval: from the first clear to the last read */
	struct hmk_hold hold;
	struct hmk_charge charge;
	struct hmk_costs cost;
	struct hmk_windows windows;
	struct hmk_samples samples;
	struct hmk_watch watch;
	struct hmk_census census;
	struct hmk_touched touched[HMK_TOUCHED_MAX];	/* since the last interval */
	struct hmk_huge huge;
	struct hmk_dense dense;
	struct hmk_adapted adapt;
	u64 cuts[HMK_CUTS_MAX];	/* what hmk_regions_cut() is called with */
};

struct hmk_table;

struct hmk_session {
	/*
	 * Order: @clock, @lock, exec_update_lock, mmap lock, @table_lock. mmap() of
	 * the table comes with the mmap lock held, so it takes the last one only,
	 * and no user copy happens under any of them.
	 */
	struct mutex clock;		/* START and STOP, one at a time */
	struct mutex lock;		/* everything down to @thread */
	struct mm_struct *mm;		/* mmgrab()ed; set once by ATTACH */
	struct pid *pid;
	const struct cred *cred;	/* of who attached; set once with @mm */
	struct hmk_params params;	/* in force from the next interval */
	u32 table_capacity;		/* records of the first table */
	struct task_struct *thread;	/* interval clock; NULL when stopped */

	struct mutex table_lock;	/* @table */
	struct hmk_table *table;	/* NULL until needed; replaced when it grows */

	struct hmk_profile prof;

	struct hmk_moved moved;		/* since the last census */

	spinlock_t stats_lock;		/* @stats */
	struct hmk_stats stats;

	struct hmk_events events;
	struct hmk_tickets tickets;
	bool closing;			/* moves stop after their chunk */
};

/* session.c */
struct hmk_session *hmk_session_create(void);
void hmk_session_destroy(struct hmk_session *s);
int hmk_session_start(struct hmk_session *s);
int hmk_session_stop(struct hmk_session *s);

/* attach.c */
long hmk_attach(struct hmk_session *s, void __user *arg);
long hmk_set(struct hmk_session *s, void __user *arg);

/* interval.c */
int hmk_interval_thread(void *session);

/* discover.c */
int hmk_discover(struct mm_struct *mm, struct hmk_profile *p);
int hmk_discover_kind(const struct vm_area_struct *vma);

/* publish.c */
int hmk_table_ensure(struct hmk_session *s);
void hmk_table_destroy(struct hmk_session *s);
u64 hmk_table_size(u32 capacity);
u64 hmk_table_bytes(struct hmk_session *s);
int hmk_table_mmap(struct hmk_session *s, struct vm_area_struct *vma);
void hmk_publish(struct hmk_session *s, const struct hmk_interval *iv);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* One managed address space: what an open file of /dev/hmk stands for. */
#ifndef HMK_SESSION_H
#define HMK_SESSION_H

#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/hmk.h>
#include <hmk/core/ladder.h>
#include <hmk/core/quota.h>
#include <hmk/core/types.h>

#include "census.h"
#include "charge.h"
#include "events.h"
#include "hold.h"
#include "huge.h"
#include "ticket.h"
#include "touched.h"

#define HMK_INTERVAL_MIN_NS	(50 * (u64)NSEC_PER_MSEC)
#define HMK_INTERVAL_MAX_NS	(600 * (u64)NSEC_PER_SEC)
#define HMK_SLICE		4096u	/* regions between two offers of the CPU */
#define HMK_CUTS_MAX		(2 * HMK_TOUCHED_MAX)
#define HMK_WEIGHT_DEFAULT	100u

struct hmk_region_array {
	struct hmk_region *at;
	u32 nr, cap;
};

/* Used by the interval thread alone: no lock. */
struct hmk_profile {
	struct hmk_params params;	/* copy taken at the start of each interval */
	struct hmk_region_array now, next;
	struct hmk_span *spans;
	u32 nr_spans, spans_cap;
	struct hmk_sample *samples;
	u32 nr_samples, samples_cap;
	u32 first;		/* index of the region whose samples are watched first */
	struct hmk_ladder ladder;	/* of this interval's windows */
	struct hmk_ladder ladder_before;	/* whose hotness regions had when they changed */
	struct hmk_crowd crowd;		/* what regions are like together */
	u32 num_ps;
	u32 scan_cost_ns;	/* moving average of a look at a sample */
	u32 sample_cost_ns;	/* and of all its looks, its share of flushes and waits included */
	u32 choice_cost_ns;	/* and of choosing it */
	u32 generation;
	struct hmk_census census;
	struct hmk_tau_rule tau;
	u32 tau1_q16;		/* in force; moves between the parameter and the top of hotness */
	struct hmk_quota_state quota;
	bool changed;		/* regions came or went since quotas were given */
	u32 merges, splits;	/* of the last interval */
	u64 quota_moves;
	u64 fixed_ns;		/* moving average of everything but samples and census */
	u64 fixed_dev_ns;	/* and of how far an interval was from it */
	u64 seq;
	u64 rng;
	u32 flags;		/* HMK_INTERVAL_* of this interval */
	struct hmk_hold hold;
	u64 start_ns;
	u64 span_ns;		/* of this interval: from the first clear to the last read */
	u64 census_ns, choice_ns;	/* CPU time of counting pages, of choosing samples */
	u64 passes_ns, visits;	/* CPU time of the passes, leaves they looked at */
	u64 watch_began_ns, watch_ns;	/* CPU time at the first clear; from it to the last read */
	u64 group_cost_ns;	/* moving average of what a group costs beside its looks */
	u32 chosen, watched, counted;	/* samples picked, begun, and those whose count is known */
	u32 unpaid;		/* of the chosen: not begun, or not read, for want of budget */
	u32 groups, late_groups;	/* in all, and read too late */
	struct hmk_charge charge;
	struct hmk_touched touched[HMK_TOUCHED_MAX];	/* since the last interval */
	struct hmk_huge huge;
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
bool hmk_interval_can_go_on(struct hmk_session *s);
bool hmk_sleep_until(u64 ns);

/* discover.c, scan.c: the seams to the kernel */
int hmk_discover(struct mm_struct *mm, struct hmk_profile *p);
enum hmk_pass { HMK_PASS_CLEAR, HMK_PASS_COUNT };
void hmk_scan_choose(struct mm_struct *mm, struct hmk_profile *p);
u32 hmk_scan_pass(struct mm_struct *mm, struct hmk_profile *p, enum hmk_pass pass, u32 later);
void hmk_scan_cut(struct hmk_profile *p, u32 samples);

/* A read of a group: how often a sample counts that it finds accessed. */
struct hmk_read {
	u8 seen;
	bool last;	/* no other follows: who is not seen now counts one less */
};

/* While samples are watched: the region whose samples come so many regions after the first. */
static inline struct hmk_region *hmk_scan_region(const struct hmk_profile *p, u32 n)
{
	return &p->now.at[n < p->now.nr - p->first ? p->first + n : p->first + n - p->now.nr];
}

u32 hmk_scan_group(struct mm_struct *mm, struct hmk_profile *p, u32 group, u32 nr,
		   const struct hmk_read *read);
void hmk_scan_forget(struct hmk_profile *p, u32 group, u32 nr);
void hmk_scan_settle(struct hmk_profile *p);
void hmk_scan_arrange(struct hmk_profile *p);

u64 hmk_random(struct hmk_profile *p);

/* adapt.c */
int hmk_regions_reserve(struct hmk_region_array *a, u32 want);
void hmk_regions_cut(struct hmk_profile *p, u32 nr);
int hmk_plan_samples(struct hmk_profile *p);
void hmk_adapt(struct hmk_profile *p);

/* publish.c */
int hmk_table_ensure(struct hmk_session *s);
void hmk_table_destroy(struct hmk_session *s);
u64 hmk_table_size(u32 capacity);
u64 hmk_table_bytes(struct hmk_session *s);
int hmk_table_mmap(struct hmk_session *s, struct vm_area_struct *vma);
void hmk_publish(struct hmk_session *s, const struct hmk_interval *iv);

#endif

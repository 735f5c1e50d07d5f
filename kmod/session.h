/* SPDX-License-Identifier: GPL-2.0-only */
/* One managed address space: what an open file of /dev/hmk stands for. */
#ifndef HMK_SESSION_H
#define HMK_SESSION_H

#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/hmk.h>
#include <hmk/core/quota.h>
#include <hmk/core/types.h>

#define HMK_INTERVAL_MIN_NS	(50 * (u64)NSEC_PER_MSEC)
#define HMK_INTERVAL_MAX_NS	(600 * (u64)NSEC_PER_SEC)
#define HMK_TOUCHED_MAX	256u

struct hmk_touched {
	u64 start, end;
};

/* The region whose pages are being counted, in as many intervals as it takes. */
struct hmk_census {
	u64 start, end;
	u64 at, step_end;
	u32 generation;
	u32 pages[HMK_MAX_NODES];
	u8 leaf_shift;
};

#define HMK_HUGE_PARTS	8u	/* a huge page is judged by its eighths */
#define HMK_HUGE_MOST	16u	/* examined in one interval */

/* A huge page whose 512 entries are watched one by one. */
struct hmk_huge_page {
	u64 addr;
	u32 count[HMK_HUGE_PARTS];	/* of each part: entries found accessed, over all rounds */
};

/* Looking into huge pages. */
struct hmk_huge {
	struct hmk_huge_page page[HMK_HUGE_MOST];	/* in address order */
	u32 nr;
	int pace;		/* 2^pace in an interval, or one in 2^-pace intervals */
	u64 at;			/* address where the round goes on; 0: a new one begins */
	u64 next_round;		/* interval before which none begins */
	bool examined;		/* some in this round */
	u64 spent_ns, cost_ns;	/* CPU time for those of @page; for one, the dearest lately */
};

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
	u32 num_ps;
	u32 scan_cost_ns;	/* moving average per sample and pass */
	u32 generation;
	u32 census_next;	/* rotation */
	struct hmk_census census;
	u32 tau1_q16;		/* in force; moves between the parameter and num_scans */
	struct hmk_quota_state quota;
	bool changed;		/* regions came or went since quotas were given */
	u32 merges, splits;	/* of the last interval */
	u64 quota_moves;
	u64 fixed_ns;		/* moving average of everything but the passes */
	u64 seq;
	u64 rng;
	u32 flags;		/* HMK_INTERVAL_* of this interval */
	u64 start_ns;
	u64 passes_ns, visits;	/* CPU time of the passes, leaves they looked at */
	u32 weight;		/* counted among the running sessions; 0: not running */
	u64 budget_ns;		/* this session's share in this interval */
	u64 charged_ns;		/* CPU time of the thread when the last interval ended */
	u64 stop_ns;		/* CPU time at which sampling ends */
	u64 owed_ns;		/* used beyond the last budget */
	u64 summed_ns, summed_at, looked_ns;	/* hmk_charge_used() */
	unsigned long switches;			/* when it looked last */
	struct hmk_touched touched[HMK_TOUCHED_MAX];	/* since the last interval */
	struct hmk_huge huge;
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
	struct hmk_params params;	/* in force from the next interval */
	u32 table_capacity;		/* records of the first table */
	struct task_struct *thread;	/* interval clock; NULL when stopped */

	struct mutex table_lock;	/* @table */
	struct hmk_table *table;	/* NULL until needed; replaced when it grows */

	struct hmk_profile prof;

	spinlock_t touched_lock;	/* @touched: ranges moved since the last census */
	u32 nr_touched;			/* HMK_TOUCHED_MAX + 1: too many, census all */
	struct hmk_touched touched[HMK_TOUCHED_MAX];

	spinlock_t stats_lock;		/* @stats */
	struct hmk_stats stats;

	wait_queue_head_t wait;		/* poll and read */
	spinlock_t event_lock;		/* down to @nr_tickets */
	u64 published, acked;		/* table seq */
	u64 published_ns, gone_ns;
	bool gone, gone_acked;
	struct list_head tickets;	/* struct hmk_ticket, oldest first */
	u32 nr_tickets;

	struct work_struct ticket_work;
	bool closing;			/* moves stop after their chunk */
};

/* session.c */
struct hmk_session *hmk_session_create(void);
void hmk_session_destroy(struct hmk_session *s);
int hmk_session_start(struct hmk_session *s);
int hmk_session_stop(struct hmk_session *s);
void hmk_session_gone(struct hmk_session *s);
ssize_t hmk_session_read_event(struct hmk_session *s, char __user *buf, size_t len,
			       bool nonblock);
__poll_t hmk_session_poll(struct hmk_session *s, struct file *file, poll_table *pt);
long hmk_session_stats(struct hmk_session *s, void __user *arg);

/* attach.c */
long hmk_attach(struct hmk_session *s, void __user *arg);
long hmk_set(struct hmk_session *s, void __user *arg);

/* touched.c */
void hmk_session_touched(struct hmk_session *s, u64 start, u64 end);
void hmk_touched_take(struct hmk_session *s);
void hmk_regions_cut(struct hmk_profile *p, const u64 *cuts, u32 nr);

/* huge.c: all by the interval thread */
void hmk_huge_judge(struct hmk_session *s, struct mm_struct *mm);
void hmk_huge_examine(struct mm_struct *mm, struct hmk_profile *p);
void hmk_huge_count(struct mm_struct *mm, struct hmk_profile *p);

/* interval.c */
int hmk_interval_thread(void *session);

/* discover.c, scan.c, census.c: the seams to the kernel */
int hmk_discover(struct mm_struct *mm, struct hmk_profile *p);
enum hmk_pass { HMK_PASS_CLEAR, HMK_PASS_COUNT };
void hmk_scan_choose(struct mm_struct *mm, struct hmk_profile *p);
u32 hmk_scan_pass(struct mm_struct *mm, struct hmk_profile *p, enum hmk_pass pass, u32 later);
void hmk_scan_cut(struct hmk_profile *p, u32 samples);
void hmk_census(struct hmk_session *s, struct mm_struct *mm);

u64 hmk_random(struct hmk_profile *p);

/* charge.c: all by the interval thread */
void hmk_charge_start(struct hmk_profile *p);
void hmk_charge_begin(struct hmk_profile *p);
u64 hmk_charge_end(struct hmk_profile *p);
void hmk_charge_stop(struct hmk_profile *p);
u64 hmk_charge_used(struct hmk_profile *p);
u64 hmk_charge_since(struct hmk_profile *p, u64 begin);
bool hmk_charge_affords(struct hmk_profile *p, u32 samples, u32 visits);

/* adapt.c */
int hmk_regions_reserve(struct hmk_region_array *a, u32 want);
int hmk_plan_samples(struct hmk_profile *p);
void hmk_adapt(struct hmk_profile *p);

/* publish.c */
int hmk_table_ensure(struct hmk_session *s);
void hmk_table_destroy(struct hmk_session *s);
u64 hmk_table_size(u32 capacity);
u64 hmk_table_bytes(struct hmk_session *s);
int hmk_table_mmap(struct hmk_session *s, struct vm_area_struct *vma);
void hmk_publish(struct hmk_session *s, const struct hmk_interval *iv);

/* Copy a sized struct in: user memory to kernel, as the uapi promises. */
long hmk_copy_in(void *dst, size_t size, const void __user *src, size_t min);
long hmk_copy_out(void __user *dst, const void *src, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU time: what an interval may use, has used and owes. */
#ifndef HMK_CHARGE_H
#define HMK_CHARGE_H

#include <linux/atomic.h>
#include <linux/types.h>

/* CPU time of one thread, which alone looks at it. */
struct hmk_clock {
	u64 summed_ns, summed_at, looked_ns;	/* clock_used() */
	unsigned long switches;			/* when it looked last */
	u64 told_ns;				/* hmk_charge_helper() */
};

struct hmk_profile;
struct mm_struct;

struct hmk_charge {
	u32 weight;		/* counted among the running sessions; 0: not running */
	u64 budget_ns;		/* this session's share in this interval */
	u64 charged_ns;		/* CPU time of the thread when the last interval ended */
	u64 stop_ns;		/* CPU time at which sampling ends */
	u64 owed_ns;		/* used beyond the last budget */
	atomic64_t others_ns;	/* of other CPUs in this interval: flushes, threads that help */
	u64 own_ns;		/* of this thread, as it saw it last: helpers read it */
	u64 flush_ns;		/* moving average of a flush, as this thread waits for it */
	u64 flush_cost_ns;	/* and as all CPUs together spend it */
	u64 flushed_ns;		/* CPU time of the flushes of this interval */
	u32 flushes;
	struct hmk_clock clock;
};

/* All by the interval thread. */
void hmk_charge_start(struct hmk_profile *p);
void hmk_charge_begin(struct hmk_profile *p);
u64 hmk_charge_end(struct hmk_profile *p);
void hmk_charge_stop(struct hmk_profile *p);
u64 hmk_charge_used(struct hmk_profile *p);
u64 hmk_charge_fixed(const struct hmk_profile *p);
u64 hmk_charge_since(struct hmk_profile *p, u64 begin);
void hmk_charge_flush(struct hmk_profile *p, struct mm_struct *mm);
bool hmk_charge_affords(struct hmk_profile *p, u32 samples, u64 more_ns);

/* By a thread that helps it. */
void hmk_clock_start(struct hmk_clock *clock);
void hmk_charge_helper(struct hmk_profile *p, struct hmk_clock *clock);
bool hmk_charge_affords_helper(const struct hmk_profile *p, u32 samples);

#endif

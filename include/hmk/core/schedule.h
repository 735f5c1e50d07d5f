/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * When the samples of an interval are cleared and read. Samples of one rung of the
 * ladder (ladder.h) are watched in groups: all are cleared, the TLB is flushed once,
 * and then they are read num_scans times, the shortest window first. Clearing a group
 * takes no longer than its shortest window.
 *
 * Open groups lie in each other like brackets: one that is opened while another waits
 * for its next read has shorter windows and ends before that read. So the pass over one
 * never stretches a window of another, and the innermost is always the next to be read.
 *
 * What is seen in one moment holds for that moment: the process may sleep, or catch up. So
 * the samples of a rung are dealt into parts, groups that begin evenly over the interval.
 *
 *   hmk_schedule_deal(&s, clock, groups that can be paid for);
 *   now = clock;
 *   switch ((step = hmk_schedule_next(&s, now)).kind) {
 *   HMK_STEP_WAIT:  sleep until step.at_ns
 *   HMK_STEP_OPEN:  clear step.nr samples of step.rung, flush; hmk_schedule_opened()
 *   HMK_STEP_READ:  read the innermost group; hmk_schedule_read()
 *   HMK_STEP_END:   what is left of the samples does not fit into the interval
 *   }
 */
#ifndef HMK_CORE_SCHEDULE_H
#define HMK_CORE_SCHEDULE_H

#include <hmk/core/ladder.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hmk_group {
	__u64 flushed_ns;	/* its windows begin */
	__u64 pass_ns;		/* what clearing it took */
	__u64 due_ns;		/* of its next read */
	__u32 nr;		/* samples */
	__u8  rung;
	__u8  reads;		/* done */
};

struct hmk_schedule {
	const struct hmk_ladder *ladder;
	__u64 from_ns, end_ns;	/* nothing is cleared before, no read is due later */
	__u64 flush_ns;		/* what a flush takes */
	__u32 visit_ns[HMK_LADDER_MAX];	/* what a look at a sample takes, by rung */
	__u32 depth;		/* open groups, the innermost is the last */
	__u32 left[HMK_LADDER_MAX];	/* samples by rung that are not watched yet */
	__u32 parts[HMK_LADDER_MAX];	/* of them, to come; 0: one */
	__u32 begun[HMK_LADDER_MAX];	/* parts that are not */
	struct hmk_group open[HMK_LADDER_MAX];
};

enum hmk_step_kind { HMK_STEP_END, HMK_STEP_WAIT, HMK_STEP_OPEN, HMK_STEP_READ };

struct hmk_step {
	enum hmk_step_kind kind;
	__u32 rung, nr;		/* OPEN */
	__u64 at_ns;		/* WAIT */
};

void hmk_schedule_deal(struct hmk_schedule *s, __u64 from_ns, __u32 most);
struct hmk_step hmk_schedule_next(const struct hmk_schedule *s, __u64 now_ns);
void hmk_schedule_opened(struct hmk_schedule *s, __u32 rung, __u32 nr, __u64 began_ns,
			 __u64 flushed_ns);
int hmk_schedule_read(struct hmk_schedule *s, __u64 now_ns);
__u64 hmk_schedule_owed_ns(const struct hmk_schedule *s);

/* The group that is read next; there is one. */
static inline struct hmk_group *hmk_schedule_innermost(struct hmk_schedule *s)
{
	return &s->open[s->depth - 1];
}

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_SCHEDULE_H */

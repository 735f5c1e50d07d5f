/* SPDX-License-Identifier: GPL-2.0-only */
/* Events in /sys/kernel/tracing/events/hmk (HK-70). A session's thread is named hmk/PID. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hmk

#if !defined(HMK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HMK_TRACE_H

#include <linux/tracepoint.h>
#include <linux/hmk.h>
#include <hmk/core/types.h>

#include "session.h"

TRACE_EVENT(hmk_interval,
	TP_PROTO(const struct hmk_interval *iv, const struct hmk_profile *p),
	TP_ARGS(iv, p),
	TP_STRUCT__entry(
		__field(u64, seq)
		__field(u64, profile_ns)
		__field(u64, budget_ns)
		__field(u32, nr_regions)
		__field(u32, longest_hold)	/* entries, of the mmap lock */
		__field(u32, nr_samples)
		__field(u32, tau1_q16)
		__field(u32, flags)
		__field(u32, groups)
		__field(u32, late_groups)
		__field(u32, flushes)
	),
	TP_fast_assign(
		__entry->seq = iv->seq;
		__entry->profile_ns = iv->profile_ns;
		__entry->budget_ns = iv->budget_ns;
		__entry->nr_regions = p->now.nr;
		__entry->longest_hold = p->hold.longest;
		__entry->groups = p->watch.groups;
		__entry->late_groups = p->watch.late_groups;
		__entry->flushes = p->charge.flushes;
		__entry->nr_samples = iv->nr_samples;
		__entry->tau1_q16 = iv->tau1_q16;
		__entry->flags = iv->flags;
	),
	TP_printk("seq=%llu profile_ns=%llu budget_ns=%llu regions=%u samples=%u tau1_q16=%u flags=%#x longest_hold=%u groups=%u late_groups=%u flushes=%u",
		  __entry->seq, __entry->profile_ns, __entry->budget_ns, __entry->nr_regions,
		  __entry->nr_samples, __entry->tau1_q16, __entry->flags,
		  __entry->longest_hold, __entry->groups, __entry->late_groups, __entry->flushes)
);

/* A region whose borders have changed. */
DECLARE_EVENT_CLASS(hmk_region,
	TP_PROTO(const struct hmk_region *r),
	TP_ARGS(r),
	TP_STRUCT__entry(
		__field(u64, start)
		__field(u64, end)
		__field(u32, hi_q16)
		__field(u32, whi_q16)
		__field(u16, quota)
	),
	TP_fast_assign(
		__entry->start = r->start;
		__entry->end = r->end;
		__entry->hi_q16 = r->hi_q16;
		__entry->whi_q16 = r->whi_q16;
		__entry->quota = r->quota;
	),
	TP_printk("%#llx-%#llx hi_q16=%u whi_q16=%u quota=%u", __entry->start, __entry->end,
		  __entry->hi_q16, __entry->whi_q16, __entry->quota)
);

DEFINE_EVENT(hmk_region, hmk_split, TP_PROTO(const struct hmk_region *r), TP_ARGS(r));
DEFINE_EVENT(hmk_region, hmk_merge, TP_PROTO(const struct hmk_region *r), TP_ARGS(r));

/* A ticket is done. */
TRACE_EVENT(hmk_ticket,
	TP_PROTO(const struct hmk_move *m, int err),
	TP_ARGS(m, err),
	TP_STRUCT__entry(
		__field(u64, cookie)
		__field(u32, nr_ranges)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->cookie = m->cookie;
		__entry->nr_ranges = m->nr_ranges;
		__entry->err = err;
	),
	TP_printk("cookie=%llu ranges=%u err=%d", __entry->cookie, __entry->nr_ranges, __entry->err)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>

// SPDX-License-Identifier: GPL-2.0-only
/* When the interval thread goes on, and whether it does. */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mmu_notifier.h>
#include <linux/timekeeping.h>

#include "mmref.h"
#include "pace.h"
#include "session.h"

#define SLACK_NS	(50 * NSEC_PER_USEC)
#define SLACK_PARTS	16u	/* of a short sleep */
#define SPIN_NS		(20 * NSEC_PER_USEC)	/* shorter than a sleep and a wake-up */

/**
 * hmk_sleep_until() - wait for a time of the monotonic clock.
 * @ns: the time.
 *
 * Return: false when the thread was told to stop.
 */
bool hmk_sleep_until(u64 ns)
{
	ktime_t at = ns_to_ktime(ns);
	u64 now;

	while (!kthread_should_stop() && (now = ktime_get_ns()) < ns) {
		if (ns - now < SPIN_NS) {
			cpu_relax();
			continue;
		}
		set_current_state(TASK_IDLE);
		if (kthread_should_stop()) {
			__set_current_state(TASK_RUNNING);
			break;
		}
		schedule_hrtimeout_range(&at, min_t(u64, SLACK_NS, (ns - now) / SLACK_PARTS),
					 HRTIMER_MODE_ABS);
	}
	return !kthread_should_stop();
}

/**
 * hmk_goes_on() - can the target be profiled any longer?
 * @s: session; called by its interval thread.
 *
 * What a virtual machine or a device touches sets no bit in the page table: the hot
 * memory of a target that has become one would look cold. An interval in which that
 * happened is not shown.
 *
 * Return: false when that is so, or the target has ended; the session's events say which.
 */
bool hmk_goes_on(struct hmk_session *s)
{
	if (hmk_mm_ended(s->mm))
		hmk_events_gone(&s->events);
	else if (mm_has_notifiers(s->mm))
		hmk_events_stopped(&s->events, HMK_STOPPED_NOTIFIER);
	else
		return true;
	return false;
}

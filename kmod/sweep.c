// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <hmk/core/budget.h>

#include "scan.h"
#include "session.h"
#include "sweep.h"

#define LEAST_STEPS	8u	/* of a thread, or waking it costs more than it helps */

static struct workqueue_struct *hmk_sweep_wq;

struct helper {
	struct work_struct work;
	struct hmk_sweep *sweep;
	struct hmk_sweeper by;
};

int __init hmk_sweep_init(void)
{
	hmk_sweep_wq = alloc_workqueue("hmk_sweep", WQ_UNBOUND, 0);
	return hmk_sweep_wq ? 0 : -ENOMEM;
}

void hmk_sweep_exit(void)
{
	destroy_workqueue(hmk_sweep_wq);
}

/**
 * hmk_sweep_threads() - how many threads this interval's budget is for.
 * @p: the interval has begun.
 *
 * Return: 1, the interval thread itself, to 16, but no more than there are CPUs.
 */
u32 hmk_sweep_threads(const struct hmk_profile *p)
{
	return min(hmk_budget_threads(p->params.interval_ns, p->charge.budget_ns),
		   num_online_cpus());
}

/* Rule 2. */
static bool sweep_goes_on(struct hmk_sweep *w, struct hmk_sweeper *by)
{
	const u32 counted = atomic_read(&w->counted);

	if (atomic_read(&w->end) < w->nr)
		return false;
	if (!w->read)
		return true;
	return by->helps ? hmk_charge_affords_helper(w->p, counted) :
			   hmk_charge_affords(w->p, counted, 0);
}

/* Rule 1. Return: false, and then the lock is not held, when it ended early. */
static bool sweep_step(struct hmk_sweep *w, struct hmk_sweeper *by, u32 from)
{
	const u32 end = min(from + w->step, w->nr), counted = by->counted;
	bool held = true;
	u32 i;

	for (i = from; held && i < end; i++)
		held = hmk_hold_on(&by->hold, w->look(w, by, i));
	if (by->counted != counted)
		atomic_add(by->counted - counted, &w->counted);
	if (by->helps)
		hmk_charge_helper(w->p, &by->clock);
	return held;
}

static void sweep_end_at(struct hmk_sweep *w, int place)
{
	int end = atomic_read(&w->end);

	while (place < end && !atomic_try_cmpxchg(&w->end, &end, place))
		;
}

static void sweep_some(struct hmk_sweep *w, struct hmk_sweeper *by)
{
	u32 from = atomic_read(&w->next);
	bool held = hmk_hold_begin(&by->hold, w->mm);

	while (held && sweep_goes_on(w, by)) {
		from = atomic_fetch_add(w->step, &w->next);
		if (from >= w->nr)
			break;
		held = sweep_step(w, by, from);
	}
	if (held)
		hmk_hold_end(&by->hold);
	else
		sweep_end_at(w, from);
}

static void sweep_help(struct work_struct *work)
{
	struct helper *helper = container_of(work, struct helper, work);

	helper->by.helps = true;
	hmk_clock_start(&helper->by.clock);
	sweep_some(helper->sweep, &helper->by);
}

static u32 sweep_helpers(const struct hmk_sweep *w)
{
	u32 threads = min(hmk_sweep_threads(w->p), w->nr / (LEAST_STEPS * w->step));

	return threads ? threads - 1 : 0;
}

static void sweep_add(struct hmk_sweep *w, const struct hmk_sweeper *by)
{
	w->visits += by->visits;
	w->p->hold.longest = max(w->p->hold.longest, by->hold.longest);
}

/**
 * hmk_sweep() - look at all of a group, or as many as the budget pays for.
 * @w: filled in; @w->counted as it is before.
 *
 * Return: how many were looked at: all, or those before the place where it ended.
 */
u32 hmk_sweep(struct hmk_sweep *w)
{
	u32 i, nr = sweep_helpers(w);
	struct helper *helper = nr ? kcalloc(nr, sizeof(*helper), GFP_KERNEL | __GFP_NOWARN) : NULL;
	struct hmk_sweeper by = {};

	atomic_set(&w->next, 0);
	atomic_set(&w->end, w->nr);
	for (i = 0; helper && i < nr; i++) {
		INIT_WORK(&helper[i].work, sweep_help);
		helper[i].sweep = w;
		queue_work(hmk_sweep_wq, &helper[i].work);
	}
	sweep_some(w, &by);
	sweep_add(w, &by);
	for (i = 0; helper && i < nr; i++) {
		/* Nothing is left: one that has not begun need not. */
		cancel_work_sync(&helper[i].work);
		sweep_add(w, &helper[i].by);
	}
	kfree(helper);
	return min3((u32)atomic_read(&w->next), (u32)atomic_read(&w->end), w->nr);
}

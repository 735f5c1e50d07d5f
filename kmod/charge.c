// SPDX-License-Identifier: GPL-2.0-only
/*
 * The budget as a promise: what the thread has used of an interval's CPU time,
 * whether it can go on, and its share when several sessions run (HK-25, A-4, A-20).
 * What other CPUs do for it, flushing their TLBs, counts as if it did it itself.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/mm_types.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <hmk/core/budget.h>

#include "compat/flush.h"
#include "session.h"

#define RESERVE_PARTS	8u	/* of the budget: between looks, wake-ups of reads that are owed */
#define LEAST_PARTS	4u	/* of the planned samples: watched whatever the clock says */

static atomic64_t hmk_weights;	/* of all sessions whose clock runs */

static unsigned long charge_switches(void)
{
	return READ_ONCE(current->nvcsw) + READ_ONCE(current->nivcsw);
}

/**
 * hmk_clock_start() - what the calling thread has used by now is not its.
 * @clock: of the calling thread.
 */
void hmk_clock_start(struct hmk_clock *clock)
{
	clock->switches = charge_switches();
	clock->summed_ns = READ_ONCE(current->se.sum_exec_runtime);
	clock->told_ns = clock->summed_ns;
	clock->summed_at = ktime_get_ns();
	clock->looked_ns = clock->summed_at;
}

/**
 * hmk_charge_start() - a new thread: what the one before it has used is not its.
 * @p: the profile.
 */
void hmk_charge_start(struct hmk_profile *p)
{
	hmk_clock_start(&p->charge.clock);
	p->charge.charged_ns = p->charge.clock.summed_ns;
	p->charge.owed_ns = 0;
	atomic64_set(&p->charge.others_ns, 0);
}

/*
 * CPU time of this thread. The scheduler brings its sum up to date at ticks and
 * switches. What came after a tick is at most the time since our last look before
 * it. After a switch that look lies before a wait of any length, and what came
 * since is left out until the next tick: less than the work between two looks.
 * A switch among the readings would make them belong to two times: they are repeated.
 */
static u64 clock_used(struct hmk_clock *clock)
{
	unsigned long switched;
	u64 sum, now;

	do {
		switched = charge_switches();
		sum = READ_ONCE(current->se.sum_exec_runtime);
		now = ktime_get_ns();
	} while (switched != charge_switches());
	if (switched != clock->switches) {
		clock->switches = switched;
		clock->summed_ns = sum;
		clock->summed_at = now;
	} else if (sum != clock->summed_ns) {
		clock->summed_ns = sum;
		clock->summed_at = clock->looked_ns;
	}
	clock->looked_ns = now;
	return sum + now - clock->summed_at;
}

static u64 charge_others(const struct hmk_profile *p)
{
	return atomic64_read(&p->charge.others_ns);
}

/* CPU time of this thread and for it. */
u64 hmk_charge_used(struct hmk_profile *p)
{
	u64 own_ns = clock_used(&p->charge.clock);

	WRITE_ONCE(p->charge.own_ns, own_ns);
	return own_ns + charge_others(p);
}

/**
 * hmk_charge_helper() - charge what a thread that helps has used since it was asked last.
 * @p:     of the session it helps.
 * @clock: of the calling thread.
 */
void hmk_charge_helper(struct hmk_profile *p, struct hmk_clock *clock)
{
	u64 used = clock_used(clock);

	if (used <= clock->told_ns)
		return;
	atomic64_add(used - clock->told_ns, &p->charge.others_ns);
	clock->told_ns = used;
}

/**
 * hmk_charge_flush() - flush the target's TLB entries, and charge all who do it.
 * @p:  the profile.
 * @mm: grabbed by the caller.
 *
 * A CPU that is interrupted is taken to lose what this thread waits.
 */
void hmk_charge_flush(struct hmk_profile *p, struct mm_struct *mm)
{
	struct hmk_charge *c = &p->charge;
	u64 begin, took;
	u32 cpus;

	preempt_disable();	/* what another does meanwhile is not the flush */
	cpus = data_race(cpumask_weight(mm_cpumask(mm)));	/* they come and go */
	begin = ktime_get_ns();
	hmk_flush_mm(mm);
	took = ktime_get_ns() - begin;
	cpus -= cpus && cpumask_test_cpu(smp_processor_id(), mm_cpumask(mm));
	preempt_enable();
	atomic64_add(took * cpus, &c->others_ns);
	c->flushed_ns += took * (cpus + 1);
	c->flushes++;
	c->flush_ns = hmk_budget_track_fixed(c->flush_ns, took);
	c->flush_cost_ns = hmk_budget_track_fixed(c->flush_cost_ns, took * (cpus + 1));
}

/**
 * hmk_charge_since() - CPU time used since an earlier look.
 * @p:     the profile.
 * @begin: what hmk_charge_used() said then; it may have said too much.
 *
 * Return: nanoseconds, 0 rather than less.
 */
u64 hmk_charge_since(struct hmk_profile *p, u64 begin)
{
	u64 used = hmk_charge_used(p);

	return used > begin ? used - begin : 0;
}

/**
 * hmk_charge_fixed() - what is set aside for work that is not for samples.
 * @p: the profile.
 *
 * Two mean deviations above the average: an interval is seldom that much dearer. What the
 * census has for itself (HMK_CENSUS_PARTS) is of what nothing is planned with.
 *
 * Return: nanoseconds.
 */
u64 hmk_charge_fixed(const struct hmk_profile *p)
{
	return p->cost.fixed.ns + 2 * p->cost.fixed.dev_ns;
}

static u64 charge_share(const struct hmk_params *params, u64 all)
{
	return hmk_budget_share(hmk_budget_ns(params->interval_ns, params->budget_bp),
				params->weight, all);
}

static u64 charge_one_thread(const struct hmk_params *params)
{
	return hmk_budget_ns(params->interval_ns, HMK_BUDGET_THREAD_BP);
}

/**
 * hmk_charge_begin() - an interval begins: what it may use.
 * @p: its parameters are those of the interval.
 *
 * What the last one used beyond its budget is paid back, with at most half of this.
 * Judging and publishing the last one is part of this interval, which is longer than
 * asked for where looking after the regions alone would take the budget.
 */
void hmk_charge_begin(struct hmk_profile *p)
{
	struct hmk_params *params = &p->params;
	u64 all = atomic64_add_return((s64)params->weight - p->charge.weight, &hmk_weights);
	u64 budget_ns = charge_share(params, all);

	p->charge.weight = params->weight;
	budget_ns -= budget_ns / HMK_CENSUS_PARTS;	/* the census has its own */
	budget_ns = min(budget_ns, charge_one_thread(params));	/* fixed work has no helpers */
	if (!(params->switches & HMK_SWITCH_NO_BUDGET))
		params->interval_ns = hmk_budget_interval(params->interval_ns, budget_ns,
							  hmk_charge_fixed(p), HMK_INTERVAL_MAX_NS);
	p->charge.budget_ns = charge_share(params, all);
	p->charge.flushed_ns = 0;
	p->charge.flushes = 0;
	p->charge.stop_ns = p->charge.charged_ns + p->charge.budget_ns -
			    p->charge.budget_ns / RESERVE_PARTS -
			    min(p->charge.owed_ns, p->charge.budget_ns / 2);
	if (params->switches & HMK_SWITCH_NO_BUDGET)
		p->charge.stop_ns = U64_MAX;
}

/**
 * hmk_charge_end() - an interval has ended; call it right after a sleep.
 * @p: the profile.
 *
 * Return: CPU time that was used since the last call, exact.
 */
u64 hmk_charge_end(struct hmk_profile *p)
{
	u64 sum = READ_ONCE(current->se.sum_exec_runtime);
	u64 used = sum - p->charge.charged_ns + atomic64_xchg(&p->charge.others_ns, 0);

	p->charge.charged_ns = sum;
	p->charge.owed_ns = used > p->charge.budget_ns ? used - p->charge.budget_ns : 0;
	return used;
}

/*
 * A quarter of what was planned can be paid for, and one sample: on a virtual machine whose time
 * is stolen nothing would be watched at all. Up to twice the budget: who says that a scan costs
 * nothing plans with too many.
 */
static bool charge_pays(const struct hmk_profile *p, u64 used, u32 samples, u64 more_ns)
{
	return used + more_ns < p->charge.stop_ns ||
	       (samples < max(p->adapt.num_ps / LEAST_PARTS, 1u) &&
		used < p->charge.charged_ns + 2 * p->charge.budget_ns);
}

/**
 * hmk_charge_affords() - can the interval still pay for what is to come?
 * @p:       the profile.
 * @samples: watched by then.
 * @more_ns: what is to come.
 *
 * Return: true when it can.
 */
bool hmk_charge_affords(struct hmk_profile *p, u32 samples, u64 more_ns)
{
	return charge_pays(p, hmk_charge_used(p), samples, more_ns);
}

/**
 * hmk_charge_affords_helper() - can the interval still pay, as a thread that helps sees it?
 * @p:       of the session it helps.
 * @samples: watched by then.
 *
 * Return: true when it can.
 */
bool hmk_charge_affords_helper(const struct hmk_profile *p, u32 samples)
{
	return charge_pays(p, READ_ONCE(p->charge.own_ns) + charge_others(p), samples, 0);
}

/**
 * hmk_charge_stop() - the clock stops: its share goes to the others.
 * @p: the profile.
 */
void hmk_charge_stop(struct hmk_profile *p)
{
	atomic64_sub(p->charge.weight, &hmk_weights);
	p->charge.weight = 0;
}

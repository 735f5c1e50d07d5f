// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The budget of an interval: time, samples, and the way back to both.
 */
#include <hmk/core/budget.h>
#include <hmk/core/pause.h>
#include <hmk/core/quota.h>
#include <hmk/core/region.h>

#define MAX_U32		((__u32)~0u)
#define TRACK_WEIGHT	4u	/* a new measurement counts one quarter */

/**
 * hmk_budget_ns() - the CPU time profiling may use in an interval (HK-25).
 * @interval_ns: length of the interval.
 * @budget_bp:   share of it, of 10000; more than HMK_BUDGET_BP_MOST counts as that.
 *
 * Return: nanoseconds, rounded down; exact for every input, but saturating above one whole.
 */
__u64 hmk_budget_ns(__u64 interval_ns, __u32 budget_bp)
{
	const __u64 bp = budget_bp > HMK_BUDGET_BP_MOST ? HMK_BUDGET_BP_MOST : budget_bp;

	if (bp > HMK_BUDGET_BP_ONE && interval_ns > ~0ull / bp)
		return ~0ull;
	return interval_ns / HMK_BUDGET_BP_ONE * bp +
	       interval_ns % HMK_BUDGET_BP_ONE * bp / HMK_BUDGET_BP_ONE;
}

/**
 * hmk_budget_num_ps() - Eq. 8.1: how many samples an interval can pay for.
 * @interval_ns:  length of the interval.
 * @budget_bp:    share of it for profiling, of 10000.
 * @scan_cost_ns: cost of one scan of one sample; 0 counts as 1.
 * @num_scans:    scans of each sample in the interval; 0 counts as 1.
 * @fixed_ns:     other profiling work, charged to the same budget.
 *
 * Return: number of samples, saturating; 0 when @fixed_ns leaves nothing.
 */
__u32 hmk_budget_num_ps(__u64 interval_ns, __u32 budget_bp, __u32 scan_cost_ns,
			__u32 num_scans, __u64 fixed_ns)
{
	__u64 have = hmk_budget_ns(interval_ns, budget_bp);
	__u64 each = (__u64)(scan_cost_ns ? scan_cost_ns : 1) * (num_scans ? num_scans : 1);
	__u64 nr;

	if (fixed_ns >= have)
		return 0;
	nr = (have - fixed_ns) / each;
	return nr > MAX_U32 ? MAX_U32 : (__u32)nr;
}

/**
 * hmk_budget_threads() - how many threads a budget is for.
 * @interval_ns: length of the interval; not 0.
 * @budget_ns:   CPU time it may use.
 *
 * Return: as few as need HMK_BUDGET_BP_THREAD of the interval at most; at least 1.
 */
__u32 hmk_budget_threads(__u64 interval_ns, __u64 budget_ns)
{
	const __u64 one = hmk_budget_ns(interval_ns, HMK_BUDGET_BP_THREAD);
	const __u64 threads = budget_ns ? (budget_ns - 1) / (one ? one : 1) + 1 : 1;

	return threads > MAX_U32 ? MAX_U32 : (__u32)threads;
}

/**
 * hmk_budget_share() - what one of several sessions gets of a budget.
 * @budget_ns: of one interval, at most eighty minutes of CPU time.
 * @weight:    of this session, at most 10000.
 * @all:       sum of the weights of all sessions; at least @weight.
 *
 * Return: nanoseconds; shares of one budget never exceed it together.
 */
__u64 hmk_budget_share(__u64 budget_ns, __u32 weight, __u64 all)
{
	return all > weight ? budget_ns * weight / all : budget_ns;
}

/**
 * hmk_budget_interval() - how long an interval must be to keep its budget (HK-25, A-7).
 * @interval_ns: as asked for.
 * @budget_ns:   of such an interval.
 * @fixed_ns:    work that each interval has, however many samples it takes, as tracked.
 * @max_ns:      the longest interval there is; at least @interval_ns.
 *
 * As asked for, while that work leaves a quarter of the budget for samples; else as
 * many times as long as it takes for that.
 *
 * Return: from @interval_ns to @max_ns.
 */
__u64 hmk_budget_interval(__u64 interval_ns, __u64 budget_ns, __u64 fixed_ns, __u64 max_ns)
{
	__u64 room = budget_ns / 4 * 3, times;

	if (fixed_ns <= room)
		return interval_ns;
	times = room ? (fixed_ns - 1) / room + 1 : max_ns;
	return times < max_ns / interval_ns ? interval_ns * times : max_ns;
}

/**
 * hmk_budget_plan() - Eq. 8.1 as an interval plans it.
 * @budget_ns:    CPU time it may use.
 * @aim_percent:  of it that is planned with.
 * @scan_cost_ns: as tracked.
 * @num_scans:    readings of a sample; one clearing visit comes before.
 * @fixed_ns:     other work, as tracked.
 *
 * A quarter of the budget is kept for samples whatever the other work costs: that
 * work without samples would be for nothing.
 *
 * Return: number of samples, at least 1.
 */
__u32 hmk_budget_plan(__u64 budget_ns, __u32 aim_percent, __u32 scan_cost_ns,
		      __u32 num_scans, __u64 fixed_ns)
{
	__u64 aim = hmk_budget_ns(budget_ns, aim_percent * 100);
	__u64 fixed = fixed_ns < aim / 4 * 3 ? fixed_ns : aim / 4 * 3;
	__u32 nr = hmk_budget_num_ps(aim, HMK_BUDGET_BP_ONE, scan_cost_ns, num_scans + 1, fixed);

	return nr ? nr : 1;
}

/**
 * hmk_budget_track_fixed() - moving average of the work beside the scans (HK-30).
 * @old_ns: average so far; 0: none yet, takes @now_ns.
 * @now_ns: measured in the last interval.
 *
 * Moves a quarter of the way, rounded towards the new measurement, so that a
 * constant cost is reached exactly.
 *
 * Return: the new average, between the two.
 */
__u64 hmk_budget_track_fixed(__u64 old_ns, __u64 now_ns)
{
	__u64 way = now_ns > old_ns ? now_ns - old_ns : old_ns - now_ns;
	__u64 step = way / TRACK_WEIGHT + (way % TRACK_WEIGHT != 0);

	if (!old_ns)
		return now_ns;
	return now_ns > old_ns ? old_ns + step : old_ns - step;
}

/**
 * hmk_budget_track() - moving average of the cost of one scan (HK-30).
 * @old_ns: average so far; 0: none yet, takes @now_ns.
 * @now_ns: measured in the last interval.
 *
 * Return: as hmk_budget_track_fixed().
 */
__u32 hmk_budget_track(__u32 old_ns, __u32 now_ns)
{
	return (__u32)hmk_budget_track_fixed(old_ns, now_ns);
}

/**
 * hmk_budget_track_cost() - moving averages of a cost and of its deviation (HK-30).
 * @cost:   so far; all 0: none yet.
 * @now_ns: measured in the last interval.
 *
 * One measurement does not tell how far the next one may be from it: a quarter, until others
 * tell. Without it the second interval would be planned as if nothing could vary (RFC 6298
 * 2.2 begins round-trip times in the same way, with a half).
 */
void hmk_budget_track_cost(struct hmk_budget_cost *cost, __u64 now_ns)
{
	__u64 off = now_ns > cost->ns ? now_ns - cost->ns : cost->ns - now_ns;

	cost->dev_ns = cost->ns ? hmk_budget_track_fixed(cost->dev_ns, off) :
				  now_ns / TRACK_WEIGHT;
	cost->ns = hmk_budget_track_fixed(cost->ns, now_ns);
}

/**
 * hmk_budget_forget() - an average after an interval in which nothing was measured.
 * @old_ns: average so far; 0: none yet.
 *
 * What seems too dear to be done is not measured again: an interval in which a virtual machine
 * stood still would keep all later ones from looking.
 *
 * Return: three quarters of it, 1 at least; 0 of 0.
 */
__u64 hmk_budget_forget(__u64 old_ns)
{
	return old_ns ? hmk_budget_track_fixed(old_ns, 1) : 0;
}

/**
 * hmk_budget_tau_rule() - how tau1 may move, defaults filled in (HK-14, A-6).
 * @num_scans: 1 .. 16; upper end of hotness.
 * @tau1_q16:  0: num_scans / 3.
 * @tau2_q16:  0: 2 * num_scans / 3.
 * @step_q16:  0: a quarter of tau1.
 *
 * Return: a rule with base <= tau2 <= limit and a step of at least 1.
 */
struct hmk_tau_rule hmk_budget_tau_rule(__u32 num_scans, __u32 tau1_q16,
					__u32 tau2_q16, __u32 step_q16)
{
	struct hmk_tau_rule rule = { .limit_q16 = num_scans << 16 };

	rule.base_q16 = tau1_q16 ? tau1_q16 : rule.limit_q16 / 3;
	if (rule.base_q16 > rule.limit_q16)
		rule.base_q16 = rule.limit_q16;
	rule.tau2_q16 = tau2_q16 ? tau2_q16 : (__u32)((__u64)rule.limit_q16 * 2 / 3);
	if (rule.tau2_q16 > rule.limit_q16)
		rule.tau2_q16 = rule.limit_q16;
	if (rule.tau2_q16 < rule.base_q16)
		rule.tau2_q16 = rule.base_q16;
	rule.step_q16 = step_q16 ? step_q16 : rule.base_q16 / 4;
	if (!rule.step_q16)
		rule.step_q16 = 1;
	return rule;
}

static __u32 budget_raise_to(__u32 now, __u32 step, __u32 cap)
{
	return now < cap && cap - now > step ? now + step : cap;
}

/**
 * hmk_budget_tau1() - the merge threshold of the next interval (HK-15, A-6).
 * @now_q16:    the one in force.
 * @rule:       from hmk_budget_tau_rule().
 * @nr_regions: regions after this interval's merges.
 * @num_ps:     samples the budget pays for.
 *
 * Up by one step while there are more regions than samples, first to tau2 and
 * only from there to the limit; down by one step when there are less than nine
 * tenths of them; else as it is.
 *
 * Return: between base and limit of @rule.
 */
__u32 hmk_budget_tau1(__u32 now_q16, const struct hmk_tau_rule *rule,
		      __u32 nr_regions, __u32 num_ps)
{
	__u32 now = now_q16;

	if (now < rule->base_q16)
		now = rule->base_q16;
	if (now > rule->limit_q16)
		now = rule->limit_q16;
	if (nr_regions > num_ps)
		return budget_raise_to(now, rule->step_q16,
				now < rule->tau2_q16 ? rule->tau2_q16 : rule->limit_q16);
	if ((__u64)nr_regions * 10 < (__u64)num_ps * 9)
		return now - rule->base_q16 > rule->step_q16 ? now - rule->step_q16
							    : rule->base_q16;
	return now;
}

/**
 * hmk_budget_next_tau1() - hmk_budget_tau1() for the regions an interval ends with.
 * @now_q16: the one in force.
 * @rule:    from hmk_budget_tau_rule().
 * @r:       regions after split and merge.
 * @nr:      number of them.
 * @num_ps:  samples the budget pays for.
 *
 * New regions do not count, they cannot merge before they are judged; too many
 * are more than HMK_QUOTA_TURNS turns revisit.
 *
 * Return: between base and limit of @rule.
 */
__u32 hmk_budget_next_tau1(__u32 now_q16, const struct hmk_tau_rule *rule,
			   const struct hmk_region *r, __u32 nr, __u32 num_ps)
{
	__u64 in_turns = (__u64)HMK_QUOTA_TURNS * num_ps;
	__u32 i, judged = 0;

	for (i = 0; i < nr; hmk_pause(++i))
		judged += !hmk_region_is(&r[i], HMK_REGION_NEW);
	return hmk_budget_tau1(now_q16, rule, judged,
			       in_turns > MAX_U32 ? MAX_U32 : (__u32)in_turns);
}

/**
 * hmk_budget_may_split() - whether regions may be split at this tau1.
 * @tau1_q16: the one in force.
 * @rule:     from hmk_budget_tau_rule().
 *
 * Beyond tau2 a split would be undone by the next merge.
 *
 * Return: 1 or 0.
 */
int hmk_budget_may_split(__u32 tau1_q16, const struct hmk_tau_rule *rule)
{
	return tau1_q16 <= rule->tau2_q16;
}

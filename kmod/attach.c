// SPDX-License-Identifier: GPL-2.0-only
/* Who may be profiled, by whom, and with which parameters. */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <hmk/core/budget.h>

#include "compat/symbols.h"
#include "rights.h"
#include "session.h"
#include "usercopy.h"

#define MSEC	1000000ull

static const struct hmk_params hmk_defaults = {
	.interval_ns = 10000 * MSEC,
	.budget_bp = 500,
	.num_scans = 3,
	.alpha_q16 = 32768,
	.top_k = 5,
	.scout_bp = 1000,
	.flush = HMK_FLUSH_ROUND,
	.max_region = 256ull << 20,
	.weight = HMK_WEIGHT_DEFAULT,
};

/* One row per parameter: where it lives and what it may be. */
struct limit {
	u64 bit;
	u16 offset, size;
	u64 min, max;
};

#define LIMIT(bit, member, min, max)						\
	{ bit, offsetof(struct hmk_params, member),				\
	  sizeof_field(struct hmk_params, member), min, max }

static const struct limit hmk_limits[] = {
	LIMIT(HMK_PARAM_INTERVAL, interval_ns, HMK_INTERVAL_MIN_NS, HMK_INTERVAL_MAX_NS),
	LIMIT(HMK_PARAM_BUDGET, budget_bp, 1, HMK_BUDGET_MAX_BP),
	LIMIT(HMK_PARAM_NUM_SCANS, num_scans, 1, HMK_CORE_MAX_SCANS),
	LIMIT(HMK_PARAM_ALPHA, alpha_q16, 1, HMK_CORE_Q16_ONE),
	LIMIT(HMK_PARAM_TAU1, tau1_q16, 0, HMK_CORE_MAX_SCANS << 16),
	LIMIT(HMK_PARAM_TAU2, tau2_q16, 0, HMK_CORE_MAX_SCANS << 16),
	LIMIT(HMK_PARAM_TAU_STEP, tau_step_q16, 0, HMK_CORE_MAX_SCANS << 16),
	LIMIT(HMK_PARAM_TOP_K, top_k, 1, 64),
	LIMIT(HMK_PARAM_SCOUTS, scout_bp, 0, 5000),
	LIMIT(HMK_PARAM_FLUSH, flush, HMK_FLUSH_NONE, HMK_FLUSH_ROUND),
	LIMIT(HMK_PARAM_SWITCHES, switches, 0, HMK_SWITCH_ALL),
	LIMIT(HMK_PARAM_SCAN_COST, scan_cost_ns, 0, 1000000),
	LIMIT(HMK_PARAM_MAX_REGION, max_region, HMK_CORE_BASE_REGION, 1ull << 40),
	LIMIT(HMK_PARAM_WEIGHT, weight, 1, 10000),
	LIMIT(HMK_PARAM_SEED, seed, 0, U64_MAX),
};

static_assert(HMK_BUDGET_MAX_BP == HMK_BUDGET_BP_MOST);
static_assert(HMK_BUDGET_THREAD_BP == HMK_BUDGET_BP_THREAD);

static u64 params_value(const struct hmk_params *p, const struct limit *l)
{
	const void *at = (const void *)p + l->offset;

	return l->size == 8 ? *(const u64 *)at : *(const u32 *)at;
}

/* Check what is named by the mask and lay it over @into. Nothing half-done. */
static int params_merge(struct hmk_params *into, const struct hmk_params *given)
{
	struct hmk_params p = *into;
	u32 i;

	if (given->mask & ~HMK_PARAM_ALL)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(hmk_limits); i++) {
		const struct limit *l = &hmk_limits[i];
		u64 value = params_value(given, l);

		if (!(given->mask & l->bit))
			continue;
		if (value < l->min || value > l->max)
			return -EINVAL;
		memcpy((void *)&p + l->offset, (const void *)given + l->offset, l->size);
	}
	if (p.switches & HMK_SWITCH_SPLIT_HUGE && !hmk_has(HMK_FEAT_SPLIT_HUGE))
		return -EOPNOTSUPP;
	p.mask = HMK_PARAM_ALL;
	*into = p;
	return 0;
}

static struct pid *attach_pid_of(const struct hmk_attach *a)
{
	struct file *file;
	struct pid *pid;

	if (a->flags & HMK_ATTACH_PID)
		return find_get_pid(a->pidfd) ?: ERR_PTR(-ESRCH);
	if (!hmk_has(HMK_FEAT_PIDFD))
		return ERR_PTR(-EOPNOTSUPP);
	file = fget(a->pidfd);
	if (!file)
		return ERR_PTR(-EBADF);
	pid = hmk_call(pidfd_pid)(file);
	if (!IS_ERR(pid))
		get_pid(pid);
	fput(file);
	return pid;
}

/*
 * The mm, grabbed, if the caller may trace it. exec_update_lock makes check and
 * look-up one step, so that no suid exec can come between them.
 */
static struct mm_struct *attach_grab_mm(struct task_struct *task)
{
	struct mm_struct *mm;
	bool allowed;

	if (down_read_killable(&task->signal->exec_update_lock))
		return ERR_PTR(-EINTR);
	mm = get_task_mm(task);
	allowed = hmk_may_trace(task);
	up_read(&task->signal->exec_update_lock);
	if (mm && allowed)
		mmgrab(mm);
	if (mm)
		mmput(mm);
	if (!allowed)
		return ERR_PTR(-EPERM);
	return mm ? mm : ERR_PTR(-EINVAL);
}

/* What ATTACH has taken hold of before the session knows of it. */
struct target {
	struct pid *pid;
	struct mm_struct *mm;
	u32 table_capacity;
};

static int attach_find(const struct hmk_attach *a, struct target *t)
{
	struct task_struct *task;

	t->pid = attach_pid_of(a);
	if (IS_ERR(t->pid))
		return PTR_ERR(t->pid);
	task = get_pid_task(t->pid, PIDTYPE_TGID);
	t->mm = task ? attach_grab_mm(task) : ERR_PTR(-ESRCH);
	if (task)
		put_task_struct(task);
	if (IS_ERR(t->mm)) {
		put_pid(t->pid);
		return PTR_ERR(t->mm);
	}
	/* Twice what is there now: the table grows, but a reader has to follow. */
	t->table_capacity = 2 * get_mm_rss(t->mm) / (HMK_CORE_BASE_REGION / PAGE_SIZE) + 256;
	return 0;
}

static int attach_bind(struct hmk_session *s, const struct target *t,
		       const struct hmk_params *params)
{
	int err = 0;

	mutex_lock(&s->lock);
	if (s->mm) {
		err = -EBUSY;
	} else {
		s->table_capacity = t->table_capacity;
		s->params = *params;
		s->pid = t->pid;
		s->cred = get_current_cred();
		/* MOVE and mmap() look without the lock: @pid and the capacity are set. */
		smp_store_release(&s->mm, t->mm);
	}
	mutex_unlock(&s->lock);
	return err;
}

/**
 * hmk_attach() - HMK_IOC_ATTACH.
 * @s:   session without a target.
 * @arg: struct hmk_attach in user memory.
 *
 * The answer is written before the session is bound, since no user copy may
 * happen under its lock: a caller that cannot be told has no session either.
 *
 * Return: 0 or what the uapi header's table says.
 */
long hmk_attach(struct hmk_session *s, void __user *arg)
{
	struct hmk_params params = hmk_defaults;
	struct hmk_attach a;
	struct target t;
	long err = hmk_copy_in(&a, sizeof(a), arg, sizeof(a));

	if (err)
		return err;
	if (a.flags & ~HMK_ATTACH_PID || a.reserved || a.table_bytes)
		return -EINVAL;
	err = params_merge(&params, &a.params);
	if (!err && READ_ONCE(s->mm))	/* attach_bind() asks again, under the lock */
		err = -EBUSY;
	if (!err)
		err = attach_find(&a, &t);
	if (err)
		return err;
	err = hmk_may_tune(t.pid, t.mm, &a.params);
	a.params = params;
	a.table_bytes = hmk_table_size(t.table_capacity);
	if (!err)
		err = hmk_copy_out(arg, &a, sizeof(a));
	if (!err)
		err = attach_bind(s, &t, &params);
	if (err) {
		mmdrop(t.mm);
		put_pid(t.pid);
	}
	return err;
}

/* Lay @given over the parameters in force; tell what came of it in @now. */
static long params_set(struct hmk_session *s, const struct hmk_params *given,
		       struct hmk_params *now, bool keep)
{
	long err;

	mutex_lock(&s->lock);
	*now = s->params;
	err = s->mm ? hmk_may_tune(s->pid, s->mm, given) : -ENOTCONN;
	if (!err)
		err = params_merge(now, given);
	if (!err && keep)
		s->params = *now;
	mutex_unlock(&s->lock);
	return err;
}

/**
 * hmk_set() - HMK_IOC_SET: change parameters from the next interval on.
 * @s:   attached session.
 * @arg: struct hmk_set in user memory; all values in force are written back,
 *       and nothing changes if they cannot be.
 *
 * Return: 0 or what the uapi header's table says.
 */
long hmk_set(struct hmk_session *s, void __user *arg)
{
	struct hmk_params given;
	struct hmk_set set;
	long err = hmk_copy_in(&set, sizeof(set), arg, sizeof(set));

	if (err)
		return err;
	if (set.reserved)
		return -EINVAL;
	given = set.params;
	err = params_set(s, &given, &set.params, false);
	if (!err)
		err = hmk_copy_out(arg, &set, sizeof(set));
	return err ? err : params_set(s, &given, &set.params, true);
}

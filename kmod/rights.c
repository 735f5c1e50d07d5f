// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may do what.
 *
 * 1. The rights of who makes a call count, at that call: a descriptor that is handed on
 *    gives nothing, nor does one that was opened before rights were dropped.
 * 2. What a ticket moves is asked for twice: when it is queued, and, with the credentials
 *    of who queued it, when it begins; the cpuset also when each of its ranges begins.
 * 3. What cannot be asked is refused.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mempolicy.h>
#include <linux/mmap_lock.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>

#include "compat/symbols.h"
#include "rights.h"
#include "session.h"

/**
 * hmk_may_trace() - may the caller see where a task has its memory?
 * @task: any.
 *
 * What the table shows is as private as /proc/PID/pagemap.
 *
 * Return: true when it may.
 */
bool hmk_may_trace(struct task_struct *task)
{
	if (!hmk_has(HMK_FEAT_PTRACE_CHECK))
		return capable(CAP_SYS_PTRACE);
	return hmk_call(ptrace_may_access)(task, PTRACE_MODE_READ_REALCREDS);
}

/* The caller has all that who attached had then. */
static bool is_as_attached(const struct hmk_session *s)
{
	const struct cred *now = current_cred(), *then = s->cred;

	return now == then ||
	       (uid_eq(now->euid, then->euid) && now->user_ns == then->user_ns &&
		cap_issubset(then->cap_effective, now->cap_effective));
}

/**
 * hmk_may_use() - may the caller use this session (rule 1)?
 * @s: session.
 *
 * Once the target's address space has ended there is nobody left to ask about: then it is
 * for the credentials that attached it, who learn that it has gone.
 *
 * Return: 0 or -EPERM. 0 also before ATTACH, when there is nothing to be seen.
 */
int hmk_may_use(struct hmk_session *s)
{
	struct mm_struct *mm = smp_load_acquire(&s->mm), *now;	/* pairs with ATTACH */
	struct task_struct *task;
	bool allowed;

	if (!mm || mm == current->mm)
		return 0;
	task = get_pid_task(s->pid, PIDTYPE_TGID);
	if (!task)
		return is_as_attached(s) ? 0 : -EPERM;
	task_lock(task);
	now = task->mm;		/* compared, not used */
	task_unlock(task);
	/* Without one it ends, or only its first thread has: its credentials still tell. */
	allowed = !now || now == mm ? hmk_may_trace(task) : is_as_attached(s);
	put_task_struct(task);
	return allowed ? 0 : -EPERM;
}

/* What changes another process's memory, or takes CPU time for it from others. */
static int may_change(struct task_struct *task)
{
	if (!capable(CAP_SYS_NICE))
		return -EPERM;
	if (!hmk_has(HMK_FEAT_LSM_CHECK))
		return -EOPNOTSUPP;
	return hmk_call(security_task_movememory)(task);
}

/**
 * hmk_may_move() - may the caller move the target's memory?
 * @s:       attached session.
 * @flags:   HMK_MOVE_*.
 * @own:     the caller moves its own memory.
 * @allowed: out: the nodes of the target's cpuset.
 *
 * As move_pages(2) asks, and CAP_SYS_NICE besides for another process.
 *
 * Return: 0, -EPERM, -ESRCH, -EOPNOTSUPP when a security module cannot be asked, or what
 * it answered.
 */
int hmk_may_move(struct hmk_session *s, u32 flags, bool own, nodemask_t *allowed)
{
	struct task_struct *task;
	int err = own ? 0 : hmk_may_use(s);

	if (err)
		return err;
	task = get_pid_task(s->pid, PIDTYPE_TGID);
	if (!task)
		return -ESRCH;
	if (!own)
		err = may_change(task);
	else if (flags & HMK_MOVE_SHARED && !capable(CAP_SYS_NICE))
		err = -EPERM;
	task_lock(task);
	*allowed = task->mems_allowed;
	task_unlock(task);
	put_task_struct(task);
	return err;
}

/**
 * hmk_may_run() - hmk_may_move() for a ticket that begins.
 * @s:     attached session.
 * @flags: HMK_MOVE_*.
 * @own:   whoever queued it moves its own memory.
 * @cred:  of who queued it.
 *
 * Return: as hmk_may_move().
 */
int hmk_may_run(struct hmk_session *s, u32 flags, bool own, const struct cred *cred)
{
	const struct cred *ours = override_creds(cred);
	nodemask_t allowed;
	int err = hmk_may_move(s, flags, own, &allowed);

	revert_creds(ours);
	return err;
}

/**
 * hmk_cpuset_allows() - does the target's cpuset have this node now?
 * @pid:  of the target.
 * @node: below MAX_NUMNODES.
 *
 * Return: true when it has, and when the target has gone: then nothing moves.
 */
bool hmk_cpuset_allows(struct pid *pid, int node)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	bool allowed;

	if (!task)
		return true;
	task_lock(task);
	allowed = node_isset(node, task->mems_allowed);
	task_unlock(task);
	put_task_struct(task);
	return allowed;
}

/**
 * hmk_may_tune() - may the caller have these parameters for this address space?
 * @pid:    of the target.
 * @mm:     of the target.
 * @params: as given.
 *
 * What changes the target or takes CPU time from others needs what a move needs.
 *
 * Return: 0, or as hmk_may_move().
 */
int hmk_may_tune(struct pid *pid, const struct mm_struct *mm, const struct hmk_params *params)
{
	struct task_struct *task;
	int err;
	bool dear = (params->mask & HMK_PARAM_SWITCHES &&
		     params->switches & (HMK_SWITCH_SPLIT_HUGE | HMK_SWITCH_NO_BUDGET)) ||
		    (params->mask & HMK_PARAM_BUDGET && params->budget_bp > HMK_BUDGET_THREAD_BP) ||
		    (params->mask & HMK_PARAM_WEIGHT && params->weight > HMK_WEIGHT_DEFAULT);

	if (!dear || mm == current->mm)
		return 0;
	task = get_pid_task(pid, PIDTYPE_TGID);
	if (!task)	/* ended: nobody is left to ask about */
		return capable(CAP_SYS_NICE) ? 0 : -EPERM;
	err = may_change(task);
	put_task_struct(task);
	return err;
}

#ifdef CONFIG_NUMA
static bool binds_elsewhere(const struct mempolicy *policy, int node)
{
	return policy && policy->mode == MPOL_BIND && !node_isset(node, policy->nodes);
}

/**
 * hmk_bound_elsewhere() - has the program bound this memory to other nodes?
 * @pid:  of the target.
 * @vma:  of the target, mmap lock held: mbind(2) changes a policy with it held for writing.
 * @node: where the memory would go.
 *
 * A VMA without a policy of its own has that of the target's first thread. What another
 * process has laid down for shared memory is not seen.
 *
 * Return: true when it has.
 */
bool hmk_bound_elsewhere(struct pid *pid, struct vm_area_struct *vma, int node)
{
	struct task_struct *task;
	bool bound;

	lockdep_assert_held(&vma->vm_mm->mmap_lock);
	if (vma->vm_policy)
		return binds_elsewhere(vma->vm_policy, node);
	task = get_pid_task(pid, PIDTYPE_TGID);
	if (!task)
		return false;
	task_lock(task);	/* set_mempolicy(2), cpusets */
	bound = binds_elsewhere(task->mempolicy, node);
	task_unlock(task);
	put_task_struct(task);
	return bound;
}
#else
bool hmk_bound_elsewhere(struct pid *pid, struct vm_area_struct *vma, int node)
{
	return false;
}
#endif

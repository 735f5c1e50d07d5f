// SPDX-License-Identifier: GPL-2.0-only
/* A module that is never built for use: each function has the one defect its name tells. */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

static DEFINE_MUTEX(lock);
static DEFINE_SPINLOCK(spin);

/* sparse: user memory read like the kernel's own */
static int sparse_user_pointer(int __user *from)
{
	return *from;
}

/* gcc: no prototype */
int gcc_without_prototype(void)
{
	return sparse_user_pointer(NULL);
}

/* clang: compares with itself */
static int clang_same_on_both_sides(int a)
{
	return a == a;
}

/* coccinelle, lock_balance: a way out with the lock held */
static int coccinelle_stays_locked(int a)
{
	mutex_lock(&lock);
	if (a)
		return -EINVAL;
	mutex_unlock(&lock);
	return 0;
}

/* coccinelle, put_after_get: the reference is lost */
static int coccinelle_loses_reference(struct task_struct *task)
{
	struct mm_struct *mm = NULL;

	mm = get_task_mm(task);
	if (task->flags)
		return -EINVAL;
	mmput(mm);
	return 0;
}

/* coccinelle, atomic_alloc: sleeps under a spinlock */
static void *coccinelle_sleeps(void)
{
	void *got;

	spin_lock(&spin);
	got = kzalloc(16, GFP_KERNEL);
	spin_unlock(&spin);
	return got;
}

/* checkpatch: spaces for a tab */
static int __init planted_init(void)
{
        return clang_same_on_both_sides(1) + coccinelle_stays_locked(0) +
	       coccinelle_loses_reference(current) + !coccinelle_sleeps();
}
module_init(planted_init);
MODULE_LICENSE("GPL");

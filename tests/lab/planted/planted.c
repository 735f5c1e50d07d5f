// SPDX-License-Identifier: GPL-2.0-only
/* A module with one bug of your choice, done at load: what watches over the tests must see each of them. */
#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define LOST_BYTES	(96ul << 20)	/* more than a hundredth of the lab's memory */

static char *bug = "none";
module_param(bug, charp, 0444);

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);

static void both(struct mutex *a, struct mutex *b)
{
	mutex_lock(a);
	mutex_lock(b);
	mutex_unlock(b);
	mutex_unlock(a);
}

static void lose_slab(void)
{
	unsigned long done;

	for (done = 0; done < LOST_BYTES; done += 8192)
		kmalloc(8192, GFP_KERNEL);
}

static void lose_pages(void)
{
	unsigned long done;

	for (done = 0; done < LOST_BYTES; done += PAGE_SIZE)
		alloc_page(GFP_KERNEL);
}

static void write_past_the_end(void)
{
	volatile char *at = kmalloc(64, GFP_KERNEL);

	if (at)
		at[64 + (strlen(bug) & 1)] = 1;
	kfree((void *)at);
}

static unsigned long raced;

static int add_to_it(void *unused)
{
	while (!kthread_should_stop()) {
		raced++;
		cond_resched();
	}
	return 0;
}

/* Two threads count with one word, for ten seconds. */
static void race(void)
{
	struct task_struct *other = kthread_run(add_to_it, NULL, "planted");
	const unsigned long end = jiffies + 10 * HZ;

	while (!IS_ERR(other) && time_before(jiffies, end)) {
		raced++;
		cond_resched();
	}
	if (!IS_ERR(other))
		kthread_stop(other);
}

static int __init planted_init(void)
{
	if (!strcmp(bug, "warn")) {
		WARN(1, "planted\n");
	} else if (!strcmp(bug, "slab")) {
		lose_slab();
	} else if (!strcmp(bug, "pages")) {
		lose_pages();
	} else if (!strcmp(bug, "vmalloc")) {
		vmalloc(LOST_BYTES);
	} else if (!strcmp(bug, "taint")) {
		add_taint(TAINT_USER, LOCKDEP_STILL_OK);
	} else if (!strcmp(bug, "past-the-end")) {
		write_past_the_end();
	} else if (!strcmp(bug, "lock-order")) {
		both(&first, &second);
		both(&second, &first);
	} else if (!strcmp(bug, "sleep")) {
		spin_lock(&spin);
		msleep(1);
		spin_unlock(&spin);
	} else if (!strcmp(bug, "race")) {
		race();
	}
	return 0;
}

static void __exit planted_exit(void)
{
}

module_init(planted_init);
module_exit(planted_exit);
MODULE_DESCRIPTION("bugs, for the tests of what finds them");
MODULE_LICENSE("GPL");

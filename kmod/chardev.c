// SPDX-License-Identifier: GPL-2.0-only
/* /dev/hmk: copy in, check, hand over; no policy. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "chardev.h"
#include "compat/symbols.h"
#include "request.h"
#include "rights.h"
#include "session.h"
#include "stats.h"
#include "usercopy.h"

static long chardev_info(void __user *arg)
{
	struct hmk_info info;
	u32 size;
	long err = hmk_copy_in(&info, sizeof(info), arg, 16);

	if (err)
		return err;
	size = info.size;
	memset(&info, 0, sizeof(info));
	info.size = size;
	info.abi_version = HMK_ABI_VERSION;
	info.max_ranges = HMK_MAX_RANGES;
	info.interval_min_ns = HMK_INTERVAL_MIN_NS;
	info.interval_max_ns = HMK_INTERVAL_MAX_NS;
	info.budget_max_bp = HMK_BUDGET_MAX_BP;
	info.num_scans_max = HMK_CORE_MAX_SCANS;
	info.record_size = sizeof(struct hmk_record);
	hmk_symbols_report(&info);
	return hmk_copy_out(arg, &info, sizeof(info));
}

static int hmk_open(struct inode *inode, struct file *file)
{
	struct hmk_session *s = hmk_session_create();

	if (!s)
		return -ENOMEM;
	file->private_data = s;
	return nonseekable_open(inode, file);
}

static int hmk_release(struct inode *inode, struct file *file)
{
	hmk_session_destroy(file->private_data);
	return 0;
}

static long hmk_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct hmk_session *s = file->private_data;
	void __user *user = (void __user *)arg;
	int err;

	/* The size in the command is the caller's; the struct says it again. */
	if (_IOC_TYPE(cmd) != HMK_IOC_MAGIC)
		return -ENOTTY;
	if (_IOC_NR(cmd) == _IOC_NR(HMK_IOC_GET_INFO))
		return chardev_info(user);
	if (_IOC_NR(cmd) <= _IOC_NR(HMK_IOC_STATS) && !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	err = hmk_may_use(s);
	if (err)
		return err;
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(HMK_IOC_ATTACH):
		return hmk_attach(s, user);
	case _IOC_NR(HMK_IOC_SET):
		return hmk_set(s, user);
	case _IOC_NR(HMK_IOC_START):
		return hmk_session_start(s);
	case _IOC_NR(HMK_IOC_STOP):
		return hmk_session_stop(s);
	case _IOC_NR(HMK_IOC_MOVE):
		return hmk_move(s, user);
	case _IOC_NR(HMK_IOC_RESULT):
		return hmk_result(s, user);
	case _IOC_NR(HMK_IOC_STATS):
		return hmk_stats_get(s, user);
	}
	return -ENOTTY;
}

static int hmk_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct hmk_session *s = file->private_data;
	int err = hmk_may_use(s);

	return err ? err : hmk_table_mmap(s, vma);
}

static ssize_t hmk_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct hmk_session *s = file->private_data;
	int err = hmk_may_use(s);

	return err ? err : hmk_events_read(&s->events, buf, len, file->f_flags & O_NONBLOCK);
}

static __poll_t hmk_poll(struct file *file, poll_table *pt)
{
	struct hmk_session *s = file->private_data;

	/* Not queued either: when a session wakes is what it does. */
	if (hmk_may_use(s))
		return EPOLLERR;
	return hmk_events_poll(&s->events, file, pt);
}

static const struct file_operations hmk_fops = {
	.owner = THIS_MODULE,	/* no unload while a file is open */
	.open = hmk_open,
	.release = hmk_release,
	.unlocked_ioctl = hmk_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = hmk_mmap,
	.read = hmk_read,
	.poll = hmk_poll,
	.llseek = noop_llseek,
};

static struct miscdevice hmk_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "hmk",
	.fops = &hmk_fops,
	.mode = 0600,
};

int hmk_chardev_init(void)
{
	return misc_register(&hmk_misc);
}

void hmk_chardev_exit(void)
{
	misc_deregister(&hmk_misc);
}

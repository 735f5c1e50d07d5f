// SPDX-License-Identifier: GPL-2.0-only OR MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <linux/mempolicy.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hmk/move.h>

#define PAGE_MASK	(~(uint64_t)(HMK_PAGE_SIZE - 1))
#define USER_END	0x7ffffffff000ull	/* with four-level tables: the kernel knows what is above */
#define UNSET		INT32_MIN		/* no status yet: not a node, not an errno */

struct request {
	unsigned long count;
	void **pages;
	const int *nodes;
	int *status;
	int flags;
	unsigned int copy_threads;
	bool has_begun;	/* to move: statuses are worth something even if it then fails */
};

static long kernel_move(int pid, const struct request *r)
{
	return syscall(SYS_move_pages, pid, r->count, r->pages, r->nodes, r->status, r->flags);
}

static uint64_t page_of(const struct request *r, unsigned long i)
{
	return (uint64_t)r->pages[i] & PAGE_MASK;
}

static int by_page(const void *a, const void *b, void *request)
{
	const unsigned long i = *(const unsigned long *)a, k = *(const unsigned long *)b;
	const uint64_t x = page_of(request, i), y = page_of(request, k);

	if (x != y)
		return x < y ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* A page named again is busy with its first mention, as the kernel answers. */
static int mark_repeated(struct request *r)
{
	unsigned long *order = malloc(r->count * sizeof(*order));

	if (!order)
		return -1;
	for (unsigned long i = 0; i < r->count; i++)
		order[i] = i;
	qsort_r(order, r->count, sizeof(*order), by_page, r);
	for (unsigned long i = 1; i < r->count; i++) {
		if (page_of(r, order[i]) == page_of(r, order[i - 1]))
			r->status[order[i]] = -EBUSY;
	}
	free(order);
	return 0;
}

static bool continues(const struct request *r, const struct hmk_range *range, unsigned long i)
{
	return range->node == r->nodes[i] && range->start + range->length == page_of(r, i) &&
	       range->status + range->length / HMK_PAGE_SIZE * sizeof(int) ==
		       (uint64_t)&r->status[i];
}

/* Runs of neighbouring pages with one target. Return: how many. */
static unsigned long make_ranges(const struct request *r, struct hmk_range *ranges)
{
	unsigned long nr = 0;

	for (unsigned long i = 0; i < r->count; i++) {
		if (r->status[i] != UNSET)
			continue;
		if (nr && continues(r, &ranges[nr - 1], i)) {
			ranges[nr - 1].length += HMK_PAGE_SIZE;
			continue;
		}
		ranges[nr++] = (struct hmk_range){
			.start = page_of(r, i), .length = HMK_PAGE_SIZE, .node = r->nodes[i],
			.status = (uint64_t)&r->status[i],
		};
	}
	return nr;
}

/* An older module takes no number of threads, and moves all the same. */
static int move_by(int fd, struct hmk_move *move)
{
	int err = ioctl(fd, HMK_IOC_MOVE, move);

	if (err < 0 && errno == E2BIG && move->copy_threads) {
		move->copy_threads = 0;
		err = ioctl(fd, HMK_IOC_MOVE, move);
	}
	return err < 0 ? -1 : 0;
}

static int run(int fd, struct hmk_range *ranges, unsigned long nr, unsigned int flags,
	       unsigned int copy_threads)
{
	struct hmk_move move = { .size = sizeof(move), .flags = flags, .copy_threads = copy_threads };

	for (unsigned long at = 0; at < nr; at += move.nr_ranges) {
		move.ranges = (uint64_t)(ranges + at);
		move.nr_ranges = (unsigned int)(nr - at < HMK_MAX_RANGES ? nr - at : HMK_MAX_RANGES);
		if (move_by(fd, &move))
			return -1;
	}
	return 0;
}

/* Everything is checked before anything moves. */
static int move_ranges(int fd, struct request *r)
{
	/* An explicit request wins over the policy, as with move_pages(2). */
	const unsigned int flags =
		HMK_MOVE_BOUND | (r->flags & MPOL_MF_MOVE_ALL ? HMK_MOVE_SHARED : 0);
	struct hmk_range *ranges = malloc(r->count * sizeof(*ranges));
	int err = -1;

	if (ranges) {
		const unsigned long nr = make_ranges(r, ranges);

		err = run(fd, ranges, nr, flags | HMK_MOVE_DRY_RUN, r->copy_threads);
		r->has_begun = !err;
		if (!err)
			err = run(fd, ranges, nr, flags, r->copy_threads);
	}
	free(ranges);
	return err;
}

/* What has failed: also a part of a huge page whose other parts were named in the same call. */
static void move_one_by_one(int pid, const struct request *r)
{
	for (unsigned long i = 0; i < r->count; i++) {
		const struct request one = { 1, &r->pages[i], &r->nodes[i], &r->status[i], r->flags, 0, true };

		if (r->status[i] >= 0)
			continue;
		r->status[i] = -EBUSY;
		if (kernel_move(pid, &one) < 0)
			r->status[i] = -errno;
	}
}

#define AT_ONCE	512ul	/* each call to the kernel empties the LRU batches of all CPUs */

/*
 * What hmk.ko does not take, and what lies where only five-level tables reach, is asked
 * of the kernel. It stops at the first page that cannot be moved and does not say what
 * became of those beside it: then they are asked for one by one.
 */
static void move_leftovers(int pid, struct request *r)
{
	unsigned long at[AT_ONCE];
	void *pages[AT_ONCE];
	int nodes[AT_ONCE], status[AT_ONCE] = { 0 };

	for (unsigned long i = 0; i < r->count;) {
		struct request some = { 0, pages, nodes, status, r->flags, 0, true };

		for (; i < r->count && some.count < AT_ONCE; i++) {
			if (r->status[i] != -EOPNOTSUPP)
				continue;
			pages[some.count] = r->pages[i];
			nodes[some.count] = r->nodes[i];
			at[some.count++] = i;
		}
		if (some.count && kernel_move(pid, &some)) {
			for (unsigned long k = 0; k < some.count; k++)
				status[k] = -EBUSY;
		}
		move_one_by_one(pid, &some);
		for (unsigned long k = 0; k < some.count; k++)
			r->status[at[k]] = status[k];
	}
}

static int open_session(int pid)
{
	struct hmk_attach attach = {
		.size = sizeof(attach), .flags = HMK_ATTACH_PID, .pidfd = pid ? pid : getpid(),
	};
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, HMK_IOC_ATTACH, &attach) < 0) {
		const int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

/* Node numbers and addresses that are not for the module's ranges. */
static int screen(struct request *r)
{
	for (unsigned long i = 0; i < r->count; i++) {
		if (r->nodes[i] < 0) {
			errno = ENODEV;
			return -1;
		}
	}
	for (unsigned long i = 0; i < r->count; i++)
		r->status[i] = page_of(r, i) < USER_END ? UNSET : -EOPNOTSUPP;
	return mark_repeated(r);
}

static long without_room(const struct request *r)
{
	long nr = 0;

	for (unsigned long i = 0; i < r->count; i++)
		nr += r->status[i] == -ENOMEM;
	return nr;
}

/* A call that fails before anything moved leaves the caller's statuses as they were. */
static void hand_out(const struct request *r, int *status)
{
	for (unsigned long i = 0; i < r->count && r->has_begun; i++) {
		if (r->status[i] != UNSET)
			status[i] = r->status[i];
	}
}

long move_memory_regions_by(int pid, unsigned long count, void **pages, const int *nodes,
			    int *status, int flags, unsigned int copy_threads)
{
	struct request r = { count, pages, nodes, status, flags, copy_threads, false };
	int fd, err, saved;
	long ret;

	if (copy_threads > HMK_MOVE_MAX_THREADS) {
		errno = EINVAL;
		return -1;
	}
	if (count > HMK_MOVE_MAX_PAGES) {
		errno = E2BIG;
		return -1;
	}
	if (!nodes || !count || flags & ~(MPOL_MF_MOVE | MPOL_MF_MOVE_ALL))
		return kernel_move(pid, &r);
	if (!pages || !status) {
		errno = EFAULT;
		return -1;
	}
	fd = open_session(pid);
	if (fd < 0)
		return kernel_move(pid, &r);	/* which knows the right errno, too */
	r.status = malloc(count * sizeof(*status));
	if (!r.status) {
		close(fd);
		errno = ENOMEM;
		return -1;
	}
	err = screen(&r);
	if (!err)
		err = move_ranges(fd, &r);
	saved = errno;
	close(fd);
	if (!err)
		move_leftovers(pid, &r);
	ret = err ? -1 : without_room(&r);
	hand_out(&r, status);
	free(r.status);
	if (err && (saved == EPERM || saved == EOPNOTSUPP)) {
		r.status = status;
		return kernel_move(pid, &r);
	}
	errno = saved;
	return ret;
}

long move_memory_regions(int pid, unsigned long count, void **pages, const int *nodes,
			 int *status, int flags)
{
	return move_memory_regions_by(pid, count, pages, nodes, status, flags, 0);
}

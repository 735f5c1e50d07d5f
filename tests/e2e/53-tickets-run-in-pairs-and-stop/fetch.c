// SPDX-License-Identifier: MIT
// A ticket whose results are being copied out, into memory that is not there yet, is nobody else's: it keeps its cookie and
// cannot be fetched beside; it is there still when that failed, once, and gone when it has worked.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE	4096ul
#define COOKIE	9
#define LIMIT_MS 60000

static int device, faults;
static char *page;

static void check(int holds, const char *what)
{
	printf("%s: %s%s%s\n", holds ? "ok" : "NOT OK", what, holds ? "" : ": ", holds ? "" : strerror(errno));
	fflush(stdout);
	if (!holds)
		exit(1);
}

static int queue(void)
{
	struct hmk_range range = { .start = (__u64)page, .length = PAGE, .node = 2 };
	struct hmk_move m = { .size = sizeof(m), .flags = HMK_MOVE_TICKET, .cookie = COOKIE, .ranges = (__u64)&range, .nr_ranges = 1 };

	return ioctl(device, HMK_IOC_MOVE, &m) ? errno : 0;
}

static int fetch(void *to)
{
	struct hmk_result r = { .size = sizeof(r), .cookie = COOKIE, .results = (__u64)to, .nr_ranges = 1 };

	return ioctl(device, HMK_IOC_RESULT, &r) ? errno : 0;
}

static void *fetches(void *to)
{
	return (void *)(long)fetch(to);
}

static void end(void)
{
	struct pollfd p = { .fd = device, .events = POLLIN };
	struct hmk_event ev;

	check(poll(&p, 1, LIMIT_MS) == 1 && read(device, &ev, sizeof(ev)) == sizeof(ev) && ev.kind == HMK_EVENT_TICKET, "a ticket ends");
}

/* Where the kernel writes it waits for us. */
static char *missing(void)
{
	char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register area = { .range = { (__u64)at, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING };

	check(at != MAP_FAILED && !ioctl(faults, UFFDIO_REGISTER, &area), "memory that is not there");
	return at;
}

/* Begin to fetch, look beside, and let it fail or go on. Return: what came of it. */
static int beside(int fails)
{
	struct pollfd p = { .fd = faults, .events = POLLIN };
	struct hmk_range_result other;
	char *at = missing();
	struct uffd_msg msg;
	pthread_t thread;
	void *answer;

	pthread_create(&thread, NULL, fetches, at);
	check(poll(&p, 1, LIMIT_MS) == 1 && read(faults, &msg, sizeof(msg)) == sizeof(msg), "its results are being copied out");
	check(fetch(&other) == EAGAIN, "nobody else fetches it");
	check(queue() == EBUSY, "its cookie is in use");
	if (fails)
		check(!munmap(at, PAGE) && !ioctl(faults, UFFDIO_WAKE, &(struct uffdio_range){ (__u64)at, PAGE }), "memory goes");
	else
		check(!ioctl(faults, UFFDIO_ZEROPAGE, &(struct uffdio_zeropage){ .range = { (__u64)at, PAGE } }), "memory comes");
	pthread_join(thread, &answer);
	check(fails || !((struct hmk_range_result *)at)->error, "the range came to its end");
	return (int)(long)answer;
}

int main(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid() };
	struct hmk_range_result result;

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	device = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	check(device >= 0 && !ioctl(device, HMK_IOC_ATTACH, &a), "a session");
	check(faults >= 0 && !ioctl(faults, UFFDIO_API, &(struct uffdio_api){ .api = UFFD_API }), "userfaultfd");
	check(!queue(), "a ticket");
	end();
	check(beside(1) == EFAULT, "it fails");
	check(queue() == EBUSY, "then the ticket is still there");
	check(!beside(0), "and can be fetched");
	check(fetch(&result) == ENOENT, "once");
	check(!queue(), "its cookie is free");
	end();
	check(!fetch(&result), "and tells of another");
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * Every call of the device with its 1st, 2nd, 3rd ... allocation or user copy failing, until none is left to fail
 * (/proc/PID/fail-nth): the call gives an errno of its table or does without, memory keeps its contents, and the same
 * call succeeds when it is made again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES	64
#define BYTES	(PAGES * 4096ul)
#define LIMIT_MS 60000

static char *memory;
static int node, failures;
static unsigned long injected, refused, in_clock;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void wrong(const char *what, unsigned int nth, const char *how)
{
	printf("NOT OK: %s, failure %u: %s: %s\n", what, nth, how, strerror(errno));
	failures++;
}

static void must(long ret, const char *what)
{
	if (ret < 0)
		fail(what);
}

/* ---- calls: 0 or above when they did what they are for -------------------- */

static long call_info(int fd)
{
	struct hmk_info info = { .size = sizeof(info) };

	return ioctl(fd, HMK_IOC_GET_INFO, &info);
}

static long call_attach(int fd)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid(),
				.params = { .mask = HMK_PARAM_INTERVAL, .interval_ns = 50000000 } };

	return ioctl(fd, HMK_IOC_ATTACH, &a);
}

static long call_set(int fd)
{
	struct hmk_set s = { .size = sizeof(s), .params = { .mask = HMK_PARAM_BUDGET, .budget_bp = 100 } };

	return ioctl(fd, HMK_IOC_SET, &s);
}

static long call_start(int fd) { return ioctl(fd, HMK_IOC_START, 0); }
static long call_stop(int fd) { return ioctl(fd, HMK_IOC_STOP, 0); }

static long move(int fd, __u32 flags)
{
	static struct hmk_range_result result;
	static __s32 status[PAGES];
	struct hmk_range r = { .start = (__u64)memory, .length = BYTES, .node = node,
			       .status = flags & HMK_MOVE_TICKET ? 0 : (__u64)status };
	struct hmk_move m = { .size = sizeof(m), .flags = flags, .cookie = 7, .ranges = (__u64)&r, .nr_ranges = 1,
			      .results = flags & HMK_MOVE_TICKET ? 0 : (__u64)&result };

	return ioctl(fd, HMK_IOC_MOVE, &m);
}

static long call_move(int fd) { return move(fd, 0); }
static long call_move_sync(int fd) { return move(fd, HMK_MOVE_SYNC_COPY); }
static long call_move_vma(int fd) { return move(fd, HMK_MOVE_FORCE_VMA); }
static long call_move_shared(int fd) { return move(fd, HMK_MOVE_SHARED); }
static long call_ticket(int fd) { return move(fd, HMK_MOVE_TICKET); }

static long call_result(int fd)
{
	struct hmk_range_result result = { 0 };
	struct hmk_result r = { .size = sizeof(r), .cookie = 7, .results = (__u64)&result, .nr_ranges = 1 };

	return ioctl(fd, HMK_IOC_RESULT, &r);
}

static long call_stats(int fd)
{
	struct hmk_stats s = { .size = sizeof(s) };

	return ioctl(fd, HMK_IOC_STATS, &s);
}

static long call_read(int fd)
{
	struct hmk_event ev;

	return read(fd, &ev, sizeof(ev)) == sizeof(ev) ? 0 : -1;
}

static long call_mmap(int fd)
{
	void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? -1 : munmap(at, 4096);
}

static long call_open(int fd)
{
	const int other = open(HMK_DEVICE_PATH, O_RDWR);

	(void)fd;
	return other < 0 ? -1 : close(other);
}

/* ---- what must have been before ------------------------------------------- */

static void fresh(int fd) { (void)fd; }
static void attached(int fd) { must(call_attach(fd), "ATTACH"); }

static void started(int fd)
{
	attached(fd);
	must(call_start(fd), "START");
}

static void ticketed(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	attached(fd);
	must(call_ticket(fd), "a ticket");
	if (poll(&p, 1, LIMIT_MS) != 1)
		fail("the ticket's end");
}

static const struct {
	const char *name;
	void (*before)(int fd);
	long (*call)(int fd);
} calls[] = {
	{ "open", fresh, call_open }, { "GET_INFO", fresh, call_info }, { "ATTACH", fresh, call_attach },
	{ "SET", attached, call_set }, { "START", attached, call_start }, { "STOP", started, call_stop },
	{ "MOVE", attached, call_move }, { "MOVE, never ahead", attached, call_move_sync },
	{ "MOVE by migrate_vma", attached, call_move_vma }, { "MOVE, shared", attached, call_move_shared },
	{ "MOVE, ticket", attached, call_ticket }, { "RESULT", ticketed, call_result }, { "STATS", attached, call_stats },
	{ "read", ticketed, call_read }, { "mmap", attached, call_mmap },
};

/* ---- failing -------------------------------------------------------------- */

static int fail_file(long thread)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/fail-nth", thread);
	fd = open(path, O_RDWR);
	if (fd < 0)
		fail(path);
	return fd;
}

/* To write and to read this file copies from and to user memory, too: it may be what fails. */
static void set_nth(int fd, unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	while (pwrite(fd, text, strlen(text), 0) < 0) {
		if (errno != EFAULT)
			fail("fail-nth");
	}
}

static unsigned int left(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) < 0) {
		if (errno != EFAULT)
			fail("fail-nth");
		return 1;	/* it was left for us */
	}
	return (unsigned int)strtoul(text, NULL, 10);
}

static void check_memory(const char *what, unsigned int nth)
{
	for (unsigned long i = 0; i < PAGES; i++) {
		if (*(unsigned long *)(memory + i * 4096) != i + 1)
			wrong(what, nth, "a page lost its contents");
	}
}

/* Return: whether there was something left to fail. */
static int once(int self, unsigned int i, unsigned int nth)
{
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	int got, was;
	long ret;

	must(fd, HMK_DEVICE_PATH);
	node = (node + 1) % 4;
	calls[i].before(fd);
	set_nth(self, nth);
	ret = calls[i].call(fd);
	got = errno;
	was = !left(self);
	set_nth(self, 0);
	errno = got;
	if (ret < 0 && (!was || (got != ENOMEM && got != EFAULT && got != EINTR && got != EAGAIN)))
		wrong(calls[i].name, nth, was ? "not an errno of its table" : "failed by itself");
	check_memory(calls[i].name, nth);
	injected += (unsigned long)was;
	refused += ret < 0;
	if (ret < 0 && calls[i].call(fd) < 0)
		wrong(calls[i].name, nth, "cannot be made again");
	check_memory(calls[i].name, nth);
	close(fd);
	return was;
}

static long find_thread(const char *name)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	long found = 0;

	while ((entry = readdir(proc)) && !found) {
		char path[300], comm[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%31s", comm) == 1 && !strcmp(comm, name))
			found = atol(entry->d_name);
		fclose(file);
	}
	closedir(proc);
	return found;
}

#define GROWTH	200u	/* new VMAs: the clock's thread must find room for them */
#define DEPTH	12u

/* The same to the thread of the interval clock while the target grows: its intervals go on. */
static void clock_thread(unsigned int nth)
{
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char name[16];
	int thread;

	started(fd);
	snprintf(name, sizeof(name), "hmk/%d", getpid());
	thread = fail_file(find_thread(name));
	set_nth(thread, nth);
	for (unsigned int i = 0; i < GROWTH; i++) {
		char *at = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		at[0] = 1;
		mprotect(at + 4096, 4096, PROT_NONE);	/* keeps the next one apart */
	}
	for (int i = 0; i < 4; i++) {
		if (poll(&p, 1, LIMIT_MS) != 1 || call_read(fd))
			wrong("interval clock", nth, "no interval came");
	}
	in_clock += !left(thread);
	set_nth(thread, 0);
	close(thread);
	must(call_stop(fd), "STOP");
	close(fd);
}

int main(void)
{
	const int self = fail_file(getpid());

	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned long i = 0; i < PAGES; i++)
		*(unsigned long *)(memory + i * 4096) = i + 1;
	for (unsigned int i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		unsigned int nth = 1;

		while (once(self, i, nth) && nth < 10000)
			nth++;
		printf("ok: %s: %u places to fail, none left\n", calls[i].name, nth - 1);
		fflush(stdout);
	}
	for (unsigned int nth = 1; nth <= DEPTH; nth++)
		clock_thread(nth);
	printf("ok: interval clock: %lu of %u failures met it\n", in_clock, DEPTH);
	injected += in_clock;
	printf("injected %lu refused %lu\n", injected, refused);
	return failures || !injected;
}

// SPDX-License-Identifier: MIT
/*
 * Every call of the device with its 1st, 2nd, 3rd ... allocation or user copy failing, until none is left to fail
 * (/proc/PID/fail-nth): the call gives an errno of its table or does without, memory keeps its contents, and the same
 * call succeeds when it is made again. Then the same to the workers that run tickets and to the clock of the intervals.
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

#include "../../support/ship.h"

#define PAGES	64
#define BYTES	(PAGES * 4096ul)
#define RANGES	4
#define MOST	10000u	/* places to fail of one call */
#define HUGE	(2ul << 20)
#define LIMIT_MS 60000

static char *memory;
static int node, failures;
static unsigned long injected, refused;

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
	static struct hmk_range_result results[RANGES];
	static __s32 status[PAGES];
	struct hmk_range r[RANGES];
	struct hmk_move m = { .size = sizeof(m), .flags = flags, .cookie = 7, .ranges = (__u64)r, .nr_ranges = RANGES,
			      .results = flags & HMK_MOVE_TICKET ? 0 : (__u64)results };

	for (unsigned long i = 0; i < RANGES; i++)
		r[i] = (struct hmk_range){ .start = (__u64)memory + i * BYTES / RANGES, .length = BYTES / RANGES,
					   .node = (node + (int)i) % 4,
					   .status = flags & HMK_MOVE_TICKET ? 0 : (__u64)(status + i * PAGES / RANGES) };
	return ioctl(fd, HMK_IOC_MOVE, &m);
}

static long call_move(int fd) { return move(fd, 0); }
static long call_move_sync(int fd) { return move(fd, HMK_MOVE_SYNC_COPY); }
static long call_move_vma(int fd) { return move(fd, HMK_MOVE_FORCE_VMA); }
static long call_move_shared(int fd) { return move(fd, HMK_MOVE_SHARED); }
static long call_ticket(int fd) { return move(fd, HMK_MOVE_TICKET); }
static long call_paired(int fd) { return move(fd, HMK_MOVE_TICKET | HMK_MOVE_PAIRED); }

static long call_move_threads(int fd)	/* all in one range: its chunk has pages for more than one */
{
	struct hmk_range r = { .start = (__u64)memory, .length = BYTES, .node = node };
	struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)&r, .nr_ranges = 1, .copy_threads = HMK_MAX_COPY_THREADS };

	return ioctl(fd, HMK_IOC_MOVE, &m);
}

static long call_result(int fd)
{
	struct hmk_range_result results[RANGES];
	struct hmk_result r = { .size = sizeof(r), .cookie = 7, .results = (__u64)results, .nr_ranges = RANGES };

	return ioctl(fd, HMK_IOC_RESULT, &r);
}

static long call_cancel(int fd)
{
	struct hmk_result r = { .size = sizeof(r), .flags = HMK_RESULT_CANCEL, .cookie = 7 };

	return ioctl(fd, HMK_IOC_RESULT, &r);
}

static long call_split(int fd)	/* and read every page, by two threads: nothing of this is in the other's way */
{
	struct hmk_set s = { .size = sizeof(s), .params = { .mask = HMK_PARAM_SWITCHES | HMK_PARAM_BUDGET,
							    .switches = HMK_SWITCH_SPLIT_HUGE | HMK_SWITCH_DENSE, .budget_bp = HMK_BUDGET_THREAD_BP + 1 } };

	return ioctl(fd, HMK_IOC_SET, &s);
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

static void paired(int fd)
{
	attached(fd);
	must(call_paired(fd), "a paired ticket");
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
	{ "MOVE, 16 copy threads", attached, call_move_threads },
	{ "MOVE, ticket", attached, call_ticket }, { "MOVE, paired ticket", attached, call_paired },
	{ "RESULT", ticketed, call_result }, { "CANCEL", paired, call_cancel }, { "SET, split huge pages, read every page", started, call_split },
	{ "STATS", attached, call_stats },
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
		if (errno == ESRCH)
			return;		/* an idle worker has ended */
		if (errno != EFAULT)
			fail("fail-nth");
	}
}

static unsigned int left(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) < 0) {
		if (errno != EFAULT && errno != ESRCH)
			fail("fail-nth");
		return 1;	/* it was left for us */
	}
	return (unsigned int)strtoul(text, NULL, 10);
}

static void check_memory(const char *what, unsigned int nth)
{
	for (unsigned long i = 0; i < PAGES; i++) {
		if (*(unsigned long *)(memory + i * 4096) != i + 1)
			wrong(what, nth, "LOST: a page has other contents");
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

/* ---- failing in threads of the kernel -------------------------------------- */

#define THREADS	64

/* The fail-nth files of the threads whose name begins so. Return: how many. */
static unsigned int find_threads(const char *name, int *files)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned int nr = 0;

	while ((entry = readdir(proc)) && nr < THREADS) {
		char path[300], comm[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/fail-nth", entry->d_name);
		if (fscanf(file, "%31s", comm) == 1 && !strncmp(comm, name, strlen(name))) {
			files[nr] = open(path, O_RDWR);
			nr += files[nr] >= 0;	/* it has ended meanwhile */
		}
		fclose(file);
	}
	closedir(proc);
	return nr;
}

/* End the injection. Return: in how many of them there was a failure. */
static unsigned int end_threads(int *files, unsigned int nr)
{
	unsigned int was = 0;

	for (unsigned int i = 0; i < nr; i++) {
		was += !left(files[i]);
		set_nth(files[i], 0);
		close(files[i]);
	}
	return was;
}

/* What a failure in a worker can come to: the nodes have room, so nothing else refuses for want of memory. */
static unsigned long seen_failures(const struct ship *s)
{
	return s->sum.refused[HMK_REFUSED_NO_ROOM] + (unsigned long)s->sum.error;
}

/*
 * The nth failure of every worker while a move is made through them. Return: whether there was one in any; whether the
 * move had it is counted in @seen.
 */
static int worker_threads(const char *name, enum ship_mode mode, __u32 flags, unsigned int nth, unsigned long *seen)
{
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	int files[THREADS], err;
	unsigned int nr, was;
	struct ship s;

	attached(fd);
	ship_begin(&s, fd, nth);
	node = (node + 1) % 4;
	nr = find_threads("kworker/u", files);
	for (unsigned int i = 0; i < nr; i++)
		set_nth(files[i], nth);
	err = ship_move(&s, mode, flags, 0, (__u64)memory, BYTES, node, (node + 1) % 4);
	was = end_threads(files, nr);
	errno = err;
	if (err)
		wrong(name, nth, "a ticket was not taken, told or fetched");
	if (seen_failures(&s) && !was)
		wrong(name, nth, "failed by itself");
	*seen += seen_failures(&s) > 0;
	check_memory(name, nth);
	ship_begin(&s, fd, nth);
	node = (node + 1) % 4;
	errno = ship_move(&s, SHIP_PAIRED, flags, 0, (__u64)memory, BYTES, node, node);
	if (errno || seen_failures(&s))
		wrong(name, nth, "cannot be made again");
	check_memory(name, nth);
	close(fd);
	return was > 0;
}

static void workers(const char *name, enum ship_mode mode, __u32 flags)
{
	unsigned long seen = 0;
	unsigned int nth = 1;

	while (nth < MOST && worker_threads(name, mode, flags, nth, &seen))
		nth++;
	printf("%s: workers, %s: %u places to fail, none left; %lu were the move's\n", seen ? "ok" : "NOT OK", name, nth - 1,
	       seen);
	fflush(stdout);
	failures += !seen;
	injected += nth - 1;
}

#define CLOCK_LEAST 8u	/* of its places to fail: regions, samples, a larger table, pieces of pages and their order */
#define GROWTH	200u	/* new VMAs: the clock's thread must find room for them */

/*
 * The same to the thread of the interval clock while the target grows and huge pages are to be split: its intervals go
 * on. The thread runs nothing but the module. Return: whether there was something left to fail.
 */
static int clock_thread(unsigned int nth)
{
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char name[16], *huge = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *grown = mmap(NULL, GROWTH * 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int files[THREADS];
	unsigned int nr, was;

	started(fd);
	must(call_split(fd), "SET, split huge pages");
	madvise(huge, 2 * HUGE, MADV_HUGEPAGE);
	huge[0] = huge[HUGE] = 1;
	snprintf(name, sizeof(name), "hmk/%d", getpid());
	nr = find_threads(name, files);
	if (nr != 1)
		fail("the thread of the interval clock");
	set_nth(files[0], nth);
	for (unsigned int i = 0; i < GROWTH; i++) {	/* every second page keeps them apart */
		mprotect(grown + i * 2 * 4096, 4096, PROT_READ | PROT_WRITE);
		grown[i * 2 * 4096] = 1;
	}
	for (int i = 0; i < 4; i++) {
		for (unsigned long at = 0; at < HUGE / 2; at += 4096)
			huge[HUGE + at]++;
		if (poll(&p, 1, LIMIT_MS) != 1 || call_read(fd))
			wrong("interval clock", nth, "no interval came");
	}
	was = end_threads(files, nr);
	must(call_stop(fd), "STOP");
	close(fd);
	munmap(grown, GROWTH * 2 * 4096);
	munmap(huge, 2 * HUGE);
	return was > 0;
}

int main(void)
{
	const int self = fail_file(getpid());
	unsigned long warm = 0;
	unsigned int nth = 1;

	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned long i = 0; i < PAGES; i++)
		*(unsigned long *)(memory + i * 4096) = i + 1;
	for (unsigned int i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		for (nth = 1; nth < MOST && once(self, i, nth);)
			nth++;
		printf("ok: %s: %u places to fail, none left\n", calls[i].name, nth - 1);
		fflush(stdout);
	}
	nth = 1;
	worker_threads("warm", SHIP_PAIRED, 0, 0, &warm);	/* as many workers as it takes */
	workers("paired tickets", SHIP_PAIRED, 0);
	workers("a ticket by migrate_vma", SHIP_TICKET, HMK_MOVE_FORCE_VMA);
	workers("stopped tickets, never ahead", SHIP_STOPPED, HMK_MOVE_SYNC_COPY);
	while (nth < MOST && clock_thread(nth))
		nth++;
	printf("%s: interval clock: %u places to fail, none left\n", nth > CLOCK_LEAST ? "ok" : "NOT OK", nth - 1);
	failures += nth <= CLOCK_LEAST;
	injected += nth - 1;
	printf("injected %lu refused %lu\n", injected, refused);
	return failures || !injected;
}

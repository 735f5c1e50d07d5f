// SPDX-License-Identifier: MIT
// Requests that must be refused, as a table: what, and the errno it gets.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLASSES(class, node)	(HMK_RANGE_CLASS(class) | HMK_RANGE_FROM(node))

#define MOVE_SIZE_BEFORE	40u	/* without copy_threads */

static int failures;

static void expect(const char *what, long ret, int want)
{
	const int got = ret < 0 ? errno : 0;

	printf("%s: %s: %s\n", got == want ? "ok" : "NOT OK", what, got ? strerror(got) : "accepted");
	failures += got != want;
}

static struct hmk_attach attach_to(pid_t pid)
{
	return (struct hmk_attach){ .size = sizeof(struct hmk_attach), .flags = HMK_ATTACH_PID, .pidfd = pid };
}

static int open_device(void)
{
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(HMK_DEVICE_PATH);
		exit(1);
	}
	return fd;
}

static void parameters(void)
{
	const struct {
		const char *what;
		struct hmk_params p;
		int want;
	} rows[] = {
		{ "budget 0", { .mask = HMK_PARAM_BUDGET, .budget_bp = 0 }, EINVAL },
		{ "budget above 800 %", { .mask = HMK_PARAM_BUDGET, .budget_bp = HMK_BUDGET_MAX_BP + 1 }, EINVAL },
		{ "budget 800 %", { .mask = HMK_PARAM_BUDGET, .budget_bp = HMK_BUDGET_MAX_BP }, 0 },
		{ "num_scans 0", { .mask = HMK_PARAM_NUM_SCANS, .num_scans = 0 }, EINVAL },
		{ "num_scans 17", { .mask = HMK_PARAM_NUM_SCANS, .num_scans = 17 }, EINVAL },
		{ "num_scans 16", { .mask = HMK_PARAM_NUM_SCANS, .num_scans = 16 }, 0 },
		{ "interval below 50 ms", { .mask = HMK_PARAM_INTERVAL, .interval_ns = 49999999 }, EINVAL },
		{ "interval 50 ms", { .mask = HMK_PARAM_INTERVAL, .interval_ns = 50000000 }, 0 },
		{ "interval 10 min", { .mask = HMK_PARAM_INTERVAL, .interval_ns = 600000000000 }, 0 },
		{ "interval above 10 min", { .mask = HMK_PARAM_INTERVAL, .interval_ns = 600000000001 }, EINVAL },
		{ "alpha 0", { .mask = HMK_PARAM_ALPHA, .alpha_q16 = 0 }, EINVAL },
		{ "alpha above 1", { .mask = HMK_PARAM_ALPHA, .alpha_q16 = 65537 }, EINVAL },
		{ "alpha 1", { .mask = HMK_PARAM_ALPHA, .alpha_q16 = 65536 }, 0 },
		{ "tau1 above 16 scans", { .mask = HMK_PARAM_TAU1, .tau1_q16 = (16 << 16) + 1 }, EINVAL },
		{ "tau1 of 16 scans", { .mask = HMK_PARAM_TAU1, .tau1_q16 = 16 << 16 }, 0 },
		{ "tau2 above 16 scans", { .mask = HMK_PARAM_TAU2, .tau2_q16 = (16 << 16) + 1 }, EINVAL },
		{ "tau2 of 16 scans", { .mask = HMK_PARAM_TAU2, .tau2_q16 = 16 << 16 }, 0 },
		{ "step of tau1 above 16 scans", { .mask = HMK_PARAM_TAU_STEP, .tau_step_q16 = (16 << 16) + 1 }, EINVAL },
		{ "step of tau1 of 16 scans", { .mask = HMK_PARAM_TAU_STEP, .tau_step_q16 = 16 << 16 }, 0 },
		{ "top_k 0", { .mask = HMK_PARAM_TOP_K, .top_k = 0 }, EINVAL },
		{ "top_k 65", { .mask = HMK_PARAM_TOP_K, .top_k = 65 }, EINVAL },
		{ "top_k 64", { .mask = HMK_PARAM_TOP_K, .top_k = 64 }, 0 },
		{ "scouts above 50 %", { .mask = HMK_PARAM_SCOUTS, .scout_bp = 5001 }, EINVAL },
		{ "scouts 50 %", { .mask = HMK_PARAM_SCOUTS, .scout_bp = 5000 }, 0 },
		{ "unknown kind of flush", { .mask = HMK_PARAM_FLUSH, .flush = HMK_FLUSH_ROUND + 1 }, EINVAL },
		{ "no flush", { .mask = HMK_PARAM_FLUSH, .flush = HMK_FLUSH_NONE }, 0 },
		{ "scan cost above 1 ms", { .mask = HMK_PARAM_SCAN_COST, .scan_cost_ns = 1000001 }, EINVAL },
		{ "scan cost 1 ms", { .mask = HMK_PARAM_SCAN_COST, .scan_cost_ns = 1000000 }, 0 },
		{ "region below 2 MiB", { .mask = HMK_PARAM_MAX_REGION, .max_region = (2 << 20) - 1 }, EINVAL },
		{ "region of 2 MiB", { .mask = HMK_PARAM_MAX_REGION, .max_region = 2 << 20 }, 0 },
		{ "region of 1 TiB", { .mask = HMK_PARAM_MAX_REGION, .max_region = 1ull << 40 }, 0 },
		{ "region above 1 TiB", { .mask = HMK_PARAM_MAX_REGION, .max_region = (1ull << 40) + 1 }, EINVAL },
		{ "weight 0", { .mask = HMK_PARAM_WEIGHT, .weight = 0 }, EINVAL },
		{ "weight 10000", { .mask = HMK_PARAM_WEIGHT, .weight = 10000 }, 0 },
		{ "weight above 10000", { .mask = HMK_PARAM_WEIGHT, .weight = 10001 }, EINVAL },
		{ "any seed", { .mask = HMK_PARAM_SEED, .seed = ~0ull }, 0 },
		{ "unknown parameter", { .mask = 1ull << 40 }, EINVAL },
		{ "equal windows", { .mask = HMK_PARAM_SWITCHES, .switches = HMK_SWITCH_EQUAL_WINDOWS }, 0 },
		{ "dense", { .mask = HMK_PARAM_SWITCHES, .switches = HMK_SWITCH_DENSE }, 0 },
		{ "unknown switch", { .mask = HMK_PARAM_SWITCHES, .switches = HMK_SWITCH_ALL + 1 }, EINVAL },
		{ "a bad value that is not named", { .budget_bp = 0, .num_scans = 99 }, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct hmk_attach a = attach_to(getpid());
		const int fd = open_device();

		a.params = rows[i].p;
		expect(rows[i].what, ioctl(fd, HMK_IOC_ATTACH, &a), rows[i].want);
		if (rows[i].want) {	/* a refused session can still be used */
			a = attach_to(getpid());
			expect("  then a good attach", ioctl(fd, HMK_IOC_ATTACH, &a), 0);
		}
		close(fd);
	}
}

static pid_t zombie(void)
{
	const pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	return pid;
}

static void targets(void)
{
	struct { struct hmk_attach a; char tail[8]; } wide = { .tail = { 1 } };
	struct hmk_attach a = attach_to(2);	/* kthreadd */
	const int fd = open_device();
	const pid_t dead = zombie();

	expect("kernel thread", ioctl(fd, HMK_IOC_ATTACH, &a), EINVAL);
	a = attach_to(dead);
	expect("zombie", ioctl(fd, HMK_IOC_ATTACH, &a), EINVAL);
	waitpid(dead, NULL, 0);
	a = attach_to(dead);
	expect("reaped process", ioctl(fd, HMK_IOC_ATTACH, &a), ESRCH);
	a = attach_to(-1);
	expect("pid -1", ioctl(fd, HMK_IOC_ATTACH, &a), ESRCH);
	a = attach_to(0);
	a.flags = 0;	/* descriptor 0 is no pidfd */
	expect("descriptor that is no pidfd", ioctl(fd, HMK_IOC_ATTACH, &a), EBADF);
	a.pidfd = 999;
	expect("descriptor that is not open", ioctl(fd, HMK_IOC_ATTACH, &a), EBADF);
	a = attach_to(getpid());
	a.flags |= 1u << 9;
	expect("unknown attach flag", ioctl(fd, HMK_IOC_ATTACH, &a), EINVAL);
	a = attach_to(getpid());
	a.size = 8;
	expect("struct too small", ioctl(fd, HMK_IOC_ATTACH, &a), EINVAL);
	wide.a = attach_to(getpid());
	wide.a.size = sizeof(wide);
	expect("struct from the future with a field we lack", ioctl(fd, HMK_IOC_ATTACH, &wide), E2BIG);
	memset(wide.tail, 0, sizeof(wide.tail));
	expect("struct from the future, its field zero", ioctl(fd, HMK_IOC_ATTACH, &wide), 0);
	a = attach_to(getpid());
	expect("second attach", ioctl(fd, HMK_IOC_ATTACH, &a), EBUSY);
	expect("bad pointer", ioctl(fd, HMK_IOC_ATTACH, 8), EFAULT);
	expect("unknown command", ioctl(fd, _IO(HMK_IOC_MAGIC, 0x7f)), ENOTTY);
	expect("another driver's command", ioctl(fd, _IO('T', 1)), ENOTTY);
	close(fd);

	a = attach_to(0);
	a.pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	a.flags = 0;
	const int by_pidfd = open_device();

	expect("a pidfd", ioctl(by_pidfd, HMK_IOC_ATTACH, &a), 0);
	close(by_pidfd);
}

static void order_of_calls(void)
{
	struct hmk_move m = { .size = sizeof(m), .nr_ranges = 1 };
	struct hmk_result r = { .size = sizeof(r), .cookie = 1, .nr_ranges = 1 };
	struct hmk_stats s = { .size = sizeof(s) };
	struct hmk_set set = { .size = sizeof(set) };
	struct hmk_attach a = attach_to(getpid());
	const int fd = open_device(), only_read = open(HMK_DEVICE_PATH, O_RDONLY);
	struct hmk_event event;

	expect("start before attach", ioctl(fd, HMK_IOC_START), ENOTCONN);
	expect("stop before attach", ioctl(fd, HMK_IOC_STOP), ENOTCONN);
	expect("set before attach", ioctl(fd, HMK_IOC_SET, &set), ENOTCONN);
	expect("stats before attach", ioctl(fd, HMK_IOC_STATS, &s), ENOTCONN);
	expect("move before attach", ioctl(fd, HMK_IOC_MOVE, &m), ENOTCONN);
	expect("table before attach", (long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0), ENOTCONN);
	expect("attach on a read-only descriptor", ioctl(only_read, HMK_IOC_ATTACH, &a), EBADF);
	expect("attach", ioctl(fd, HMK_IOC_ATTACH, &a), 0);
	expect("result of no ticket", ioctl(fd, HMK_IOC_RESULT, &r), ENOENT);
	expect("stop without start", ioctl(fd, HMK_IOC_STOP), 0);
	expect("start", ioctl(fd, HMK_IOC_START), 0);
	expect("second start", ioctl(fd, HMK_IOC_START), EBUSY);
	expect("stop", ioctl(fd, HMK_IOC_STOP), 0);
	expect("start again", ioctl(fd, HMK_IOC_START), 0);
	expect("writable table", (long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), EACCES);
	expect("table too large", (long)mmap(NULL, a.table_bytes + 4096, PROT_READ, MAP_SHARED, fd, 0), EINVAL);
	expect("table at an offset", (long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096), EINVAL);

	void *table = mmap(NULL, a.table_bytes, PROT_READ, MAP_SHARED, fd, 0);

	expect("table", table == MAP_FAILED ? -1 : 0, 0);
	expect("table made writable later", mprotect(table, 4096, PROT_READ | PROT_WRITE), EACCES);
	expect("event buffer too small", read(fd, &event, sizeof(event) - 1), EINVAL);
	close(only_read);
	close(fd);
}

static void moves(void)
{
	const size_t length = 16 * 4096;
	char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const __u64 at = (__u64)memory;
	const struct {
		const char *what;
		struct hmk_range range[2];
		__u32 nr, flags, chunk;
		int want;
	} rows[] = {
		{ "no range", { { 0 } }, 0, 0, 0, EINVAL },
		{ "too many ranges", { { at, length, 2, 0, 0 } }, HMK_MAX_RANGES + 1, 0, 0, E2BIG },
		{ "empty range", { { at, 0, 2, 0, 0 } }, 1, 0, 0, EINVAL },
		{ "unaligned start", { { at + 1, 4096, 2, 0, 0 } }, 1, 0, 0, EINVAL },
		{ "unaligned length", { { at, 4095, 2, 0, 0 } }, 1, 0, 0, EINVAL },
		{ "wrapped", { { ~0xfffull, 8192, 2, 0, 0 } }, 1, 0, 0, EINVAL },
		{ "kernel half", { { 0xffff888000000000ull, 4096, 2, 0, 0 } }, 1, 0, 0, EINVAL },
		{ "longer than 1 TiB", { { at, (1ull << 40) + 4096, 2, 0, 0 } }, 1, 0, 0, EINVAL },
		{ "unknown range flag", { { at, 4096, 2, CLASSES(0, 0) | 1u << 16, 0 } }, 1, 0, 0, EINVAL },
		{ "a class without a node to take it from", { { at, 4096, 2, HMK_RANGE_CLASS(0), 0 } }, 1, 0, 0, EINVAL },
		{ "a node to take from without a class", { { at, 4096, 2, HMK_RANGE_FROM(0), 0 } }, 1, 0, 0, EINVAL },
		{ "the highest class and node", { { at, 4096, 2, CLASSES(HMK_CLASSES - 1, HMK_MAX_NODES - 1), 0 } }, 1, 0, 0, 0 },
		{ "a class above the highest", { { at, 4096, 2, CLASSES(HMK_CLASSES, 0), 0 } }, 1, 0, 0, EINVAL },
		{ "a node to take from above the highest", { { at, 4096, 2, CLASSES(0, HMK_MAX_NODES), 0 } }, 1, 0, 0, EINVAL },
		{ "unknown move flag", { { at, 4096, 2, 0, 0 } }, 1, 1u << 20, 0, EINVAL },
		{ "chunk above 512 pages", { { at, 4096, 2, 0, 0 } }, 1, 0, 513, EINVAL },
		{ "node that does not exist", { { at, 4096, 63, 0, 0 } }, 1, 0, 0, ENODEV },
		{ "node beyond all nodes", { { at, 4096, 1 << 30, 0, 0 } }, 1, 0, 0, ENODEV },
		{ "negative node", { { at, 4096, -2, 0, 0 } }, 1, 0, 0, ENODEV },
		{ "query without status", { { at, 4096, -1, 0, 0 } }, 1, 0, 0, EINVAL },
		{ "good, then bad", { { at, 4096, 2, 0, 0 }, { at + 4096, 4096, 63, 0, 0 } }, 2, 0, 0, ENODEV },
		{ "overlapping", { { at, 8192, 2, 0, 0 }, { at + 4096, 4096, 2, 0, 0 } }, 2, 0, 0, EBUSY },
		{ "overlapping, all pages and a class", { { at, 8192, 2, 0, 0 }, { at + 4096, 4096, 2, CLASSES(0, 0), 0 } },
		  2, 0, 0, EBUSY },
		{ "overlapping, a class and all pages", { { at, 8192, 2, CLASSES(0, 0), 0 }, { at + 4096, 4096, 2, 0, 0 } },
		  2, 0, 0, EBUSY },
		{ "overlapping, one class of one node", { { at, 8192, 2, CLASSES(1, 0), 0 }, { at + 4096, 4096, 2, CLASSES(1, 0), 0 } },
		  2, 0, 0, EBUSY },
		{ "overlapping, one class of two nodes", { { at, 8192, 2, CLASSES(1, 0), 0 }, { at, 8192, 2, CLASSES(1, 1), 0 } }, 2, 0, 0, 0 },
		{ "overlapping, two classes of one node", { { at, 8192, 2, CLASSES(1, 0), 0 }, { at, 8192, 2, CLASSES(2, 0), 0 } }, 2, 0, 0, 0 },
		{ "a class beside all pages", { { at, 4096, 2, CLASSES(1, 0), 0 }, { at + 4096, 4096, 2, 0, 0 } }, 2, HMK_MOVE_DRY_RUN, 0, 0 },
		{ "status with a ticket", { { at, 4096, 2, 0, at } }, 1, HMK_MOVE_TICKET, 0, EINVAL },
		{ "unmapped range", { { 4096, 4096, 2, 0, 0 } }, 1, 0, 0, 0 },
		{ "dry run", { { at, length, 2, 0, 0 } }, 1, HMK_MOVE_DRY_RUN, 0, 0 },
	};
	struct hmk_attach a = attach_to(getpid());
	const int fd = open_device();
	int node[16];

	memset(memory, 1, length);
	expect("attach to move", ioctl(fd, HMK_IOC_ATTACH, &a), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct hmk_move m = { .size = sizeof(m), .flags = rows[i].flags, .nr_ranges = rows[i].nr,
				      .chunk_pages = rows[i].chunk, .ranges = (__u64)rows[i].range };

		expect(rows[i].what, ioctl(fd, HMK_IOC_MOVE, &m), rows[i].want);
	}
	struct hmk_range ask = { at, length, -1, 0, (__u64)node }, there = { at, length, 2, 0, 0 };
	struct hmk_move m = { .size = sizeof(m), .nr_ranges = 1, .ranges = (__u64)&there };

	m.copy_threads = HMK_MAX_COPY_THREADS + 1;
	expect("17 copy threads", ioctl(fd, HMK_IOC_MOVE, &m), EINVAL);
	m.copy_threads = (__u32)-1;
	expect("copy threads beyond all numbers", ioctl(fd, HMK_IOC_MOVE, &m), EINVAL);
	m.copy_threads = 2;
	m.reserved = 1;
	expect("copy threads and a reserved field", ioctl(fd, HMK_IOC_MOVE, &m), EINVAL);
	m.size = MOVE_SIZE_BEFORE - 1;
	expect("MOVE shorter than it ever was", ioctl(fd, HMK_IOC_MOVE, &m), EINVAL);
	m = (struct hmk_move){ .size = sizeof(m), .nr_ranges = 1, .ranges = (__u64)&ask };
	expect("query", ioctl(fd, HMK_IOC_MOVE, &m), 0);
	for (int i = 0; i < 16; i++)
		failures += node[i] != node[0] || node[i] == 2;
	expect("nothing has moved", failures ? -1 : 0, 0);
	/* What lies behind the struct of a program built before it had copy_threads is not ours to read. */
	m = (struct hmk_move){ .size = MOVE_SIZE_BEFORE, .nr_ranges = 1, .ranges = (__u64)&there, .copy_threads = 99, .reserved = 99 };
	expect("MOVE of before copy_threads", ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, HMK_IOC_MAGIC, 5, MOVE_SIZE_BEFORE), &m), 0);
	m = (struct hmk_move){ .size = sizeof(m), .nr_ranges = 1, .ranges = (__u64)&ask };
	expect("query", ioctl(fd, HMK_IOC_MOVE, &m), 0);
	for (int i = 0; i < 16; i++)
		failures += node[i] != 2;
	expect("its pages have moved", failures ? -1 : 0, 0);
	m.ranges = 8;
	expect("ranges at a bad pointer", ioctl(fd, HMK_IOC_MOVE, &m), EFAULT);
	close(fd);
}

/* Fields that are reserved, and structs that are longer than ours: what is in them is not zero. */
static void fields_from_the_future(void)
{
	const struct {
		const char *what;
		unsigned long call;
		__u32 size, reserved;	/* bytes; where a reserved field of 32 bits is, or 0 */
	} rows[] = {
		{ "SET", HMK_IOC_SET, sizeof(struct hmk_set), offsetof(struct hmk_set, reserved) },
		{ "STATS", HMK_IOC_STATS, sizeof(struct hmk_stats), offsetof(struct hmk_stats, reserved) },
		{ "RESULT", HMK_IOC_RESULT, sizeof(struct hmk_result), offsetof(struct hmk_result, reserved) },
		{ "MOVE", HMK_IOC_MOVE, sizeof(struct hmk_move), offsetof(struct hmk_move, reserved) },
	};
	struct hmk_attach a = attach_to(getpid());
	const int fd = open_device();
	char what[64];

	a.reserved = 1;
	expect("ATTACH, its reserved field not zero", ioctl(fd, HMK_IOC_ATTACH, &a), EINVAL);
	a = attach_to(getpid());
	a.table_bytes = 1;
	expect("ATTACH, its answer not zero", ioctl(fd, HMK_IOC_ATTACH, &a), EINVAL);
	a = attach_to(getpid());
	expect("  then a good attach", ioctl(fd, HMK_IOC_ATTACH, &a), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		_Alignas(8) char buffer[sizeof(struct hmk_stats) + 8] = { 0 };
		const __u32 longer = rows[i].size + 8;

		memcpy(buffer, &longer, sizeof(longer));
		buffer[rows[i].size] = 1;
		snprintf(what, sizeof(what), "%s from the future with a field we lack", rows[i].what);
		expect(what, ioctl(fd, rows[i].call, buffer), E2BIG);
		buffer[rows[i].size] = 0;
		if (!rows[i].reserved)
			continue;
		buffer[rows[i].reserved] = 1;
		snprintf(what, sizeof(what), "%s, its reserved field not zero", rows[i].what);
		expect(what, ioctl(fd, rows[i].call, buffer), EINVAL);
	}
	close(fd);
}

/* A ticket for a page of its own, which ends at once. Return: of ioctl(). */
static int queue(int fd, __u64 at, __u64 cookie)
{
	struct hmk_range r = { .start = at, .length = 4096, .node = 2 };
	struct hmk_move m = { .size = sizeof(m), .flags = HMK_MOVE_TICKET, .cookie = cookie, .ranges = (__u64)&r, .nr_ranges = 1 };

	return ioctl(fd, HMK_IOC_MOVE, &m);
}

static int fetch(int fd, __u64 cookie, __u32 nr, struct hmk_range_result *into)
{
	struct hmk_result r = { .size = sizeof(r), .cookie = cookie, .results = (__u64)into, .nr_ranges = nr };

	return ioctl(fd, HMK_IOC_RESULT, &r);
}

static void tickets(void)
{
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hmk_range range = { .start = (__u64)memory, .length = 4096, .node = 2 };
	struct hmk_range_result result[2];
	struct hmk_move m = { .size = sizeof(m), .flags = HMK_MOVE_TICKET, .ranges = (__u64)&range,
			      .results = (__u64)result, .nr_ranges = 1 };
	struct hmk_result r = { .size = sizeof(r), .flags = HMK_RESULT_CANCEL };
	struct hmk_attach a = attach_to(getpid());
	const int fd = open_device();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event ev;
	unsigned int queued = 0, ended = 0;

	memory[0] = 1;
	expect("attach for tickets", ioctl(fd, HMK_IOC_ATTACH, &a), 0);
	expect("a ticket with results", ioctl(fd, HMK_IOC_MOVE, &m), EINVAL);
	m.flags = HMK_MOVE_PAIRED;
	expect("pairs without a ticket", ioctl(fd, HMK_IOC_MOVE, &m), EINVAL);
	for (__u64 i = 0; i < HMK_MAX_TICKETS; i++)
		queued += queue(fd, (__u64)memory, i) == 0;
	expect("64 tickets", queued == HMK_MAX_TICKETS ? 0 : -1, 0);
	expect("ticket 65", queue(fd, (__u64)memory, HMK_MAX_TICKETS), EAGAIN);
	expect("a cookie in use", queue(fd, (__u64)memory, 7), EBUSY);
	while (ended < HMK_MAX_TICKETS && poll(&p, 1, 10000) == 1)
		ended += read(fd, &ev, sizeof(ev)) == sizeof(ev) && ev.kind == HMK_EVENT_TICKET;
	expect("all of them end", ended == HMK_MAX_TICKETS ? 0 : -1, 0);
	expect("ticket 65 while none was fetched", queue(fd, (__u64)memory, HMK_MAX_TICKETS), EAGAIN);
	expect("a result of too many ranges", fetch(fd, 7, 2, result), EINVAL);
	expect("a result of no range", fetch(fd, 7, 0, result), EINVAL);
	r.cookie = 7;
	r.results = (__u64)result;
	expect("CANCEL with results", ioctl(fd, HMK_IOC_RESULT, &r), EINVAL);
	r.results = 0;
	r.nr_ranges = 1;
	expect("CANCEL with a number of ranges", ioctl(fd, HMK_IOC_RESULT, &r), EINVAL);
	r.nr_ranges = 0;
	r.cookie = 99;
	expect("CANCEL of no ticket", ioctl(fd, HMK_IOC_RESULT, &r), ENOENT);
	r.cookie = 7;
	r.flags = HMK_RESULT_CANCEL | 1u << 9;
	expect("unknown flag of RESULT", ioctl(fd, HMK_IOC_RESULT, &r), EINVAL);
	expect("  the ticket is still there", fetch(fd, 7, 1, result), 0);
	expect("  and once only", fetch(fd, 7, 1, result), ENOENT);
	expect("a ticket in its place", queue(fd, (__u64)memory, HMK_MAX_TICKETS), 0);
	munmap(memory, 4096);
	close(fd);
}

/* A call that cannot hand back its answer has not happened. */
static void answers_nobody_gets(void)
{
	struct hmk_attach *a = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hmk_set *set = (struct hmk_set *)a, now = { .size = sizeof(now) };
	struct hmk_range r = { .start = (__u64)a, .length = 4096, .node = 2, .status = 8 };
	struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)&r, .nr_ranges = 1 };
	const int fd = open_device();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event ev[2] = { 0 };
	void *page = a, *volatile nowhere = (void *)8;
	int node = -1;

	*a = attach_to(getpid());
	a->params.mask = HMK_PARAM_INTERVAL;
	a->params.interval_ns = 50000000;
	mprotect(a, 4096, PROT_READ);
	expect("ATTACH whose struct is read-only", ioctl(fd, HMK_IOC_ATTACH, a), EFAULT);
	mprotect(a, 4096, PROT_READ | PROT_WRITE);
	expect("  left no session behind", ioctl(fd, HMK_IOC_ATTACH, a), 0);
	*set = (struct hmk_set){ .size = sizeof(*set), .params = { .mask = HMK_PARAM_BUDGET, .budget_bp = 77 } };
	mprotect(a, 4096, PROT_READ);
	expect("SET whose struct is read-only", ioctl(fd, HMK_IOC_SET, set), EFAULT);
	ioctl(fd, HMK_IOC_SET, &now);
	expect("  changed nothing", now.params.budget_bp == 500 ? 0 : -1, 0);
	mprotect(a, 4096, PROT_READ | PROT_WRITE);
	expect("MOVE whose statuses cannot be written", ioctl(fd, HMK_IOC_MOVE, &m), EFAULT);
	r.status = 0;
	m.results = 8;
	expect("MOVE whose results cannot be written", ioctl(fd, HMK_IOC_MOVE, &m), EFAULT);
	syscall(SYS_move_pages, 0, 1, &page, NULL, &node, 0);
	expect("  moved nothing", node >= 0 && node != 2 ? 0 : -1, 0);
	m.results = 0;
	m.flags = HMK_MOVE_TICKET;
	m.cookie = 5;
	expect("a ticket", ioctl(fd, HMK_IOC_MOVE, &m), 0);
	expect("  ends", poll(&p, 1, 10000) == 1 ? 0 : -1, 0);
	expect("  its event read to a bad pointer", read(fd, nowhere, sizeof(*ev)), EFAULT);
	expect("  is still there", read(fd, ev, sizeof(*ev)) == sizeof(*ev) && ev->kind == HMK_EVENT_TICKET ? 0 : -1, 0);
	ioctl(fd, HMK_IOC_START, 0);
	expect("an interval", poll(&p, 1, 10000) == 1 ? 0 : -1, 0);
	ioctl(fd, HMK_IOC_STOP, 0);
	expect("  read to a bad pointer", read(fd, nowhere, sizeof(*ev)), EFAULT);
	expect("  is still there", poll(&p, 1, 0) == 1 && read(fd, ev, sizeof(*ev)) == sizeof(*ev) ? 0 : -1, 0);
	munmap(a, 4096);
	close(fd);
}

/* As nobody, with a device that everybody may open: every target looks the same. */
static void strangers(void)
{
	const pid_t root = getpid();

	chmod(HMK_DEVICE_PATH, 0666);
	const pid_t child = fork();

	if (!child) {
		struct hmk_attach a = attach_to(root);
		struct hmk_attach thread = attach_to(2);
		int fd;

		failures = 0;
		if (setgid(65534) || setuid(65534))
			_exit(1);
		fd = open_device();
		expect("a stranger and a process of root", ioctl(fd, HMK_IOC_ATTACH, &a), EPERM);
		expect("a stranger and a kernel thread", ioctl(fd, HMK_IOC_ATTACH, &thread), EPERM);
		fflush(stdout);
		_exit(failures);
	}
	int status;

	waitpid(child, &status, 0);
	failures += WEXITSTATUS(status);
	chmod(HMK_DEVICE_PATH, 0600);
}

int main(void)
{
	parameters();
	targets();
	order_of_calls();
	moves();
	fields_from_the_future();
	tickets();
	answers_nobody_gets();
	fflush(stdout);
	strangers();
	return failures != 0;
}

// SPDX-License-Identifier: MIT
// Requests that must be refused, as a table: what, and the errno it gets.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
		{ "budget above 50 %", { .mask = HMK_PARAM_BUDGET, .budget_bp = 5001 }, EINVAL },
		{ "budget 50 %", { .mask = HMK_PARAM_BUDGET, .budget_bp = 5000 }, 0 },
		{ "num_scans 0", { .mask = HMK_PARAM_NUM_SCANS, .num_scans = 0 }, EINVAL },
		{ "num_scans 17", { .mask = HMK_PARAM_NUM_SCANS, .num_scans = 17 }, EINVAL },
		{ "num_scans 16", { .mask = HMK_PARAM_NUM_SCANS, .num_scans = 16 }, 0 },
		{ "interval below 50 ms", { .mask = HMK_PARAM_INTERVAL, .interval_ns = 49999999 }, EINVAL },
		{ "interval 50 ms", { .mask = HMK_PARAM_INTERVAL, .interval_ns = 50000000 }, 0 },
		{ "interval 10 min", { .mask = HMK_PARAM_INTERVAL, .interval_ns = 600000000000 }, 0 },
		{ "interval above 10 min", { .mask = HMK_PARAM_INTERVAL, .interval_ns = 600000000001 }, EINVAL },
		{ "alpha 0", { .mask = HMK_PARAM_ALPHA, .alpha_q16 = 0 }, EINVAL },
		{ "unknown parameter", { .mask = 1ull << 40 }, EINVAL },
		{ "equal windows", { .mask = HMK_PARAM_SWITCHES, .switches = HMK_SWITCH_EQUAL_WINDOWS }, 0 },
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
		{ "unknown range flag", { { at, 4096, 2, 1, 0 } }, 1, 0, 0, EINVAL },
		{ "unknown move flag", { { at, 4096, 2, 0, 0 } }, 1, 1u << 20, 0, EINVAL },
		{ "chunk above 512 pages", { { at, 4096, 2, 0, 0 } }, 1, 0, 513, EINVAL },
		{ "node that does not exist", { { at, 4096, 63, 0, 0 } }, 1, 0, 0, ENODEV },
		{ "node beyond all nodes", { { at, 4096, 1 << 30, 0, 0 } }, 1, 0, 0, ENODEV },
		{ "negative node", { { at, 4096, -2, 0, 0 } }, 1, 0, 0, ENODEV },
		{ "query without status", { { at, 4096, -1, 0, 0 } }, 1, 0, 0, EINVAL },
		{ "good, then bad", { { at, 4096, 2, 0, 0 }, { at + 4096, 4096, 63, 0, 0 } }, 2, 0, 0, ENODEV },
		{ "overlapping", { { at, 8192, 2, 0, 0 }, { at + 4096, 4096, 2, 0, 0 } }, 2, 0, 0, EBUSY },
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
	struct hmk_range ask = { at, length, -1, 0, (__u64)node };
	struct hmk_move m = { .size = sizeof(m), .nr_ranges = 1, .ranges = (__u64)&ask };

	expect("query", ioctl(fd, HMK_IOC_MOVE, &m), 0);
	for (int i = 0; i < 16; i++)
		failures += node[i] != node[0] || node[i] == 2;
	expect("nothing has moved", failures ? -1 : 0, 0);
	m.ranges = 8;
	expect("ranges at a bad pointer", ioctl(fd, HMK_IOC_MOVE, &m), EFAULT);
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
	answers_nobody_gets();
	fflush(stdout);
	strangers();
	return failures != 0;
}

// SPDX-License-Identifier: MIT
// Rights and cpuset are asked for again when a ticket begins: the queue is filled, then the target becomes another user, or
// its cpuset loses a node, and what has not begun by then is refused.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/hmk.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES	(4ul << 20)	/* as many tickets of this size as fit take a second at least */
#define NOBODY	65534

static char *memory;
static int failures;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	failures += !holds;
}

static void write_to(const char *folder, const char *file, const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

static void has_ptrace(int yes)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	const __u32 bit = 1u << CAP_SYS_PTRACE;

	syscall(SYS_capget, &head, data);
	data[0].effective = yes ? data[0].effective | bit : data[0].effective & ~bit;
	if (syscall(SYS_capset, &head, data))
		fail("capset");
}

struct target {
	pid_t pid;
	int tell, told;
};

/* Told to, it becomes nobody. */
static struct target start(void)
{
	int down[2], up[2];
	struct target t;
	char byte = 0;

	if (pipe(down) || pipe(up))
		fail("pipe");
	t.pid = fork();
	if (!t.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(memory, 1, BYTES);
		if (write(up[1], &byte, 1) != 1 || read(down[0], &byte, 1) != 1 || setresuid(NOBODY, NOBODY, NOBODY) ||
		    write(up[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	t.tell = down[1];
	t.told = up[0];
	if (read(t.told, &byte, 1) != 1)
		fail("a target");
	return t;
}

static void becomes_nobody(const struct target *t)
{
	char byte = 0;

	if (write(t->tell, &byte, 1) != 1 || read(t->told, &byte, 1) != 1)
		fail("becoming nobody");
}

/* All of its memory to node 1 by even cookies, to node 0 by odd ones. */
static int fill_queue(pid_t pid)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid };
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, HMK_IOC_ATTACH, &a))
		fail("ATTACH");
	for (__u64 i = 0; i < HMK_MAX_TICKETS; i++) {
		struct hmk_range r = { .start = (__u64)memory, .length = BYTES, .node = !(i & 1) };
		struct hmk_move m = { .size = sizeof(m), .flags = HMK_MOVE_TICKET, .cookie = i, .ranges = (__u64)&r,
				      .nr_ranges = 1 };

		if (ioctl(fd, HMK_IOC_MOVE, &m))
			fail("MOVE");
	}
	return fd;
}

static int error_of(int fd, __u64 cookie)
{
	struct hmk_range_result got = { 0 };
	struct hmk_result r = { .size = sizeof(r), .cookie = cookie, .results = (__u64)&got, .nr_ranges = 1 };
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct hmk_event ev;

	while (ioctl(fd, HMK_IOC_RESULT, &r)) {
		if (errno != EAGAIN || poll(&ready, 1, 120000) != 1 || read(fd, &ev, sizeof(ev)) != sizeof(ev))
			fail("RESULT");
	}
	return -got.error;
}

/* @last: what the last ticket of each node must say; the others that or nothing. */
static void collect(int fd, struct target *t, const char *what, int last_to_1, int last_to_0)
{
	int errors[HMK_MAX_TICKETS], as_expected = 1, refused = 0;

	for (int i = 0; i < (int)HMK_MAX_TICKETS; i++) {
		const int want = i & 1 ? last_to_0 : last_to_1;

		errors[i] = error_of(fd, (__u64)i);
		refused += errors[i] != 0;
		as_expected &= errors[i] == 0 || errors[i] == want;
	}
	printf("%s: %d of %u refused, the last two with %d and %d\n", what, refused, HMK_MAX_TICKETS,
	       errors[HMK_MAX_TICKETS - 2], errors[HMK_MAX_TICKETS - 1]);
	check(as_expected && errors[HMK_MAX_TICKETS - 2] == last_to_1 && errors[HMK_MAX_TICKETS - 1] == last_to_0, what);
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *group = argc > 1 ? argv[1] : "";
	struct target t;
	char pid[16];
	int fd;

	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, BYTES, MADV_NOHUGEPAGE);

	t = start();
	fd = fill_queue(t.pid);
	collect(fd, &t, "nothing changes: every ticket runs", 0, 0);

	t = start();
	has_ptrace(0);	/* root's may be traced, another user's not */
	fd = fill_queue(t.pid);
	becomes_nobody(&t);
	has_ptrace(1);	/* to fetch the answers: the tickets keep the rights they were queued with */
	collect(fd, &t, "the target becomes another user's: what has not begun is refused", EPERM, EPERM);

	t = start();
	snprintf(pid, sizeof(pid), "%d", t.pid);
	write_to(group, "cgroup.procs", pid);
	fd = fill_queue(t.pid);
	write_to(group, "cpuset.mems", "0");
	collect(fd, &t, "node 1 leaves the cpuset: what has not begun does not go there", EACCES, 0);
	return failures != 0;
}

// SPDX-License-Identifier: MIT
// What happens around a session when its target or its owner goes away.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
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

#define MIB (1ul << 20)
#define SIZE (16 * MIB)
#define LIMIT_MS 10000

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

struct target {
	pid_t pid;
	int said, told;	/* pipes: its word to us, ours to it */
	char *memory;
};

/* A child that fills its memory, says so, waits for a word, checks all, and obeys. */
static void child(int said, int told)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char word;

	for (size_t i = 0; i < SIZE; i += sizeof(long))
		*(long *)(memory + i) = (long)i;
	if (write(said, &memory, sizeof(memory)) != sizeof(memory))
		_exit(3);
	while (read(told, &word, 1) == 1) {
		if (word == 'x')
			execl("/bin/sleep", "sleep", "1000", NULL);
		for (size_t i = 0; i < SIZE; i += sizeof(long)) {
			if (*(long *)(memory + i) != (long)i)
				_exit(4);
		}
		if (write(said, &word, 1) != 1)
			_exit(3);
	}
	_exit(0);
}

static struct target spawn(void)
{
	int up[2], down[2];
	struct target t;

	if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC))
		exit(1);
	t.pid = fork();
	if (!t.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(up[0]);
		close(down[1]);
		child(up[1], down[0]);
	}
	close(up[1]);
	close(down[0]);
	t.said = up[0];
	t.told = down[1];
	check(read(t.said, &t.memory, sizeof(t.memory)) == sizeof(t.memory), "target is ready");
	return t;
}

static void reap(struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	close(t->said);
	close(t->told);
}

static int attach(pid_t pid)
{
	struct hmk_attach a = {
		.size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid,
		.params = { .mask = HMK_PARAM_INTERVAL, .interval_ns = 50000000 },
	};
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	check(fd >= 0 && ioctl(fd, HMK_IOC_ATTACH, &a) == 0, "attach");
	check(ioctl(fd, HMK_IOC_START) == 0, "start");
	return fd;
}

static long move(int fd, char *memory, int node, unsigned int flags, __u64 cookie)
{
	struct hmk_range range = { .start = (__u64)memory, .length = SIZE, .node = node };
	struct hmk_move m = { .size = sizeof(m), .flags = flags, .cookie = cookie,
			      .ranges = (__u64)&range, .nr_ranges = 1 };

	return ioctl(fd, HMK_IOC_MOVE, &m);
}

/* Read events until one of the kind comes. Return: its value. */
static __u64 await(int fd, __u32 kind, const char *what)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event event = { 0 };

	for (int i = 0; i < 400 && event.kind != kind; i++) {
		if (poll(&p, 1, LIMIT_MS) != 1 || read(fd, &event, sizeof(event)) != sizeof(event))
			break;
	}
	check(event.kind == kind, what);
	return event.value;
}

static void intervals_come_and_history_grows(void)
{
	struct hmk_stats s = { .size = sizeof(s) };
	struct target t = spawn();
	const int fd = attach(t.pid);

	check(await(fd, HMK_EVENT_INTERVAL, "an interval ends") == 1, "the first is number 1");
	check(await(fd, HMK_EVENT_INTERVAL, "another interval ends") >= 2, "numbers rise");
	check(!ioctl(fd, HMK_IOC_STATS, &s) && s.regions >= SIZE / (2 * MIB), "regions cover the memory");
	/* Beside other guests 50 ms of the host may leave no time for a window: not in each interval. */
	for (int i = 0; i < 50 && !s.scans; i++) {
		await(fd, HMK_EVENT_INTERVAL, "intervals go on until one has time to watch");
		check(!ioctl(fd, HMK_IOC_STATS, &s), "statistics");
	}
	check(s.scans > 0 && s.profile_ns > 0 && s.state_bytes > 0, "scans are counted");
	close(fd);
	reap(&t);
}

static void tickets_report(void)
{
	struct hmk_range_result result;
	struct hmk_result r = { .size = sizeof(r), .cookie = 7, .results = (__u64)&result, .nr_ranges = 1 };
	struct target t = spawn();
	const int fd = attach(t.pid);
	char word = 'c';

	check(!move(fd, t.memory, 2, HMK_MOVE_TICKET, 7), "ticket queued");
	check(move(fd, t.memory, 2, HMK_MOVE_TICKET, 7) < 0 && errno == EBUSY, "its cookie is taken");
	check(await(fd, HMK_EVENT_TICKET, "the ticket is done") == 7, "its cookie is told");
	r.results = 8;
	check(ioctl(fd, HMK_IOC_RESULT, &r) < 0 && errno == EFAULT, "a bad address does not lose it");
	r.results = (__u64)&result;
	check(!ioctl(fd, HMK_IOC_RESULT, &r), "its result is there");
	check(!result.error && result.pages_clean + result.pages_recopied + result.pages_sync == SIZE / 4096,
	      "every page has moved");
	check(ioctl(fd, HMK_IOC_RESULT, &r) < 0 && errno == ENOENT, "it is forgotten");
	check(write(t.told, &word, 1) == 1 && read(t.said, &word, 1) == 1, "the memory is intact");
	close(fd);
	reap(&t);
}

static void target_goes(const char *how)
{
	struct target t = spawn();
	const int fd = attach(t.pid);
	char word = 'x';

	check(!move(fd, t.memory, 3, HMK_MOVE_TICKET, 1), how);
	if (!strcmp(how, "exec"))
		check(write(t.told, &word, 1) == 1, "told to exec");
	else if (!strcmp(how, "exit"))
		close(t.told), t.told = -1;
	else
		kill(t.pid, SIGKILL);
	await(fd, HMK_EVENT_GONE, "the session says that its target has gone");
	check(move(fd, t.memory, 2, 0, 0) < 0 && errno == ESRCH, "a move says so, too");
	close(fd);
	reap(&t);
}

/* SIGKILL the mover in the middle of a move; the target's memory must be whole. */
static void mover_killed(long after_moves)
{
	volatile long *moves = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct target t = spawn();
	const pid_t mover = fork();
	char word = 'c';

	if (!mover) {
		const int fd = attach(t.pid);

		for (int node = 0;; node = (node + 1) % 4) {
			move(fd, t.memory, node, node & 1 ? HMK_MOVE_TICKET : 0, (__u64)node);
			++*moves;
		}
	}
	while (*moves < after_moves)
		sched_yield();
	kill(mover, SIGKILL);
	waitpid(mover, NULL, 0);
	check(write(t.told, &word, 1) == 1 && read(t.said, &word, 1) == 1, "memory is whole, mover killed");
	reap(&t);
	munmap((void *)moves, 4096);
}

static void *start_and_stop(void *fd)
{
	for (int i = 0; i < 200; i++) {
		ioctl(*(int *)fd, HMK_IOC_STOP);
		ioctl(*(int *)fd, HMK_IOC_START);
	}
	return NULL;
}

/* Two clocks on one session would share its regions. */
static void clock_runs_once(void)
{
	struct target t = spawn();
	int fd = attach(t.pid);
	pthread_t other;

	pthread_create(&other, NULL, start_and_stop, &fd);
	start_and_stop(&fd);
	pthread_join(other, NULL);
	check(ioctl(fd, HMK_IOC_START) < 0 && errno == EBUSY, "the clock runs");
	await(fd, HMK_EVENT_INTERVAL, "after 400 stops and starts by two threads intervals still end");
	close(fd);
	reap(&t);
}

static void unload_is_refused(void)
{
	struct target t = spawn();
	const int fd = attach(t.pid);

	check(syscall(SYS_delete_module, "hmk", O_NONBLOCK) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK),
	      "no unload while a session is open");
	close(fd);
	reap(&t);
}

int main(int argc, char **argv)
{
	intervals_come_and_history_grows();
	tickets_report();
	if (argc > 1 && !strcmp(argv[1], "warm-up"))
		return 0;
	for (int i = 0; i < 10; i++) {
		target_goes("exit");
		target_goes("exec");
		target_goes("kill");
		mover_killed(i);
	}
	clock_runs_once();
	unload_is_refused();
	return 0;
}

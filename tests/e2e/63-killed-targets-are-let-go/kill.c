// SPDX-License-Identifier: MIT
/*
 * Programs that are killed at a random moment while their memory is moved and profiled: within a second nothing holds
 * their address space any more, and the session says so when its clock looks next.
 *
 *	kill SECONDS SEED LATE	of a hundred so many may be let go later than that
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../support/ship.h"

#define BYTES	(4ul << 20)
#define A_MOVE	20000	/* microseconds of the target's move, at least */
#define MEASURED 12	/* calls, of each mode and path some */
#define STILL	4	/* calls that end after the target: the one under way, those beside a look of the clock, the refusal */
#define LONGER	60.0	/* seconds, until somebody was killed in every way of asking, and pages had moved in every way */
#define FREED	1.0	/* seconds */
#define SLOWER	5.0	/* a kernel with KASAN and lockdep */
#define TOLD	30.0	/* the clock looks once an interval, and stolen time makes an interval long: see hmk_charge_begin() */

struct mover {
	int fd;
	unsigned int first;	/* where it begins in the order of paths and nodes */
	enum ship_mode only;	/* the way of asking, SHIP_MODES: all in turn */
	atomic_ulong calls;
	int last;	/* errno that ended it */
	struct ship ship;
};

static char *memory;
static useconds_t a_move = A_MOVE;
static double freed_within = FREED;
static __u32 switches;	/* of the sessions: every page is read, huge pages are split where the module can */
static unsigned long late, killed_in[SHIP_MODES];
static struct ship_count moved[SHIP_MODES];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int holds, const char *what, unsigned long round)
{
	if (holds)
		return;
	printf("NOT OK: round %lu: %s: %s\n", round, what, strerror(errno));
	exit(1);
}

static pid_t spawn(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		exit(1);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(memory, 1, BYTES);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (unsigned long i = 0;; i += 4096)
			memory[i % BYTES]++;
	}
	check(read(ready[0], &byte, 1) == 1, "a target starts", 0);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* Once, the n-th time: node after node on every path, as hmkd does and otherwise. */
static int move(struct ship *s, enum ship_mode mode, unsigned long n)
{
	static const __u32 how[] = { 0, HMK_MOVE_SYNC_COPY, HMK_MOVE_FORCE_VMA, HMK_MOVE_SHARED };

	return ship_move(s, mode, how[n % 4], 0, (__u64)memory, BYTES, (int)(n / 4 % 4), (int)(n / 5 % 4));
}

/* Until the target has gone. */
static void *moves(void *arg)
{
	struct mover *m = arg;
	enum ship_mode mode;

	do {
		const unsigned long n = m->first + m->calls;

		mode = m->only == SHIP_MODES ? ship_mode_of(n) : m->only;
		m->last = move(&m->ship, mode, n);
		m->calls++;
	} while (!m->last);
	killed_in[mode]++;
	for (unsigned int i = 0; i < SHIP_MODES; i++)
		moved[i].pages += m->ship.count[i].pages;
	return NULL;
}

static void wait_for_end(struct ship *s, unsigned long round)
{
	const double end = now() + TOLD;

	while (!s->gone && now() < end)
		check(ship_event(s, 1000) >= 0, "events and tickets can be read after its end", round);
	check(s->gone, "the session tells that its target has gone", round);
}

/* Mover and target mostly on one CPU: on two the mover waits most of its time for TLB flushes. */
static void choose_cpus(unsigned long round)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(round % 2, &cpus);
	if (round % 4 == 3)
		CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void begin(int fd, pid_t pid, unsigned long round)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid,
				.params = { .mask = HMK_PARAM_INTERVAL | HMK_PARAM_SWITCHES | HMK_PARAM_BUDGET, .interval_ns = 50000000,
					    .switches = switches, .budget_bp = round % 2 ? 500 : HMK_BUDGET_THREAD_BP + 1 } };

	check(!ioctl(fd, HMK_IOC_ATTACH, &a) && !ioctl(fd, HMK_IOC_START, 0), "attach and start", round);
}

/*
 * How long the longest move takes on this kernel: who is always killed before the first has begun is killed in no move,
 * and who is always killed before it ends has moved nothing that way.
 */
static void measure(void)
{
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	const pid_t pid = spawn();
	double longest = 0;
	struct ship ship;

	ship_begin(&ship, fd, 1);
	begin(fd, pid, 0);
	for (unsigned long n = 0; n < MEASURED; n++) {
		const double start = now();

		check(!move(&ship, ship_mode_of(n), n), "what lives can be moved", 0);
		if (now() - start > longest)
			longest = now() - start;
	}
	if (1.5e6 * longest > A_MOVE)
		a_move = (useconds_t)(1.5e6 * longest);
	printf("a move takes %.1f ms at most\n", 1e3 * longest);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
}

static unsigned long one(unsigned long round, enum ship_mode only)
{
	struct mover m = { .fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC), .only = only,
			   .first = (unsigned int)rand() % 16 };
	pthread_t thread;
	unsigned long calls;
	double end;
	pid_t pid;

	ship_begin(&m.ship, m.fd, (uint64_t)rand());
	choose_cpus(round);
	pid = spawn();
	begin(m.fd, pid, round);
	pthread_create(&thread, NULL, moves, &m);
	while (m.calls < (unsigned long)rand() % 3)
		sched_yield();
	usleep((useconds_t)rand() % a_move);
	kill(pid, SIGKILL);
	end = now() + freed_within;
	waitpid(pid, NULL, 0);
	calls = m.calls;
	pthread_join(thread, NULL);
	if (now() >= end) {
		printf("round %lu: let go %.1f s late, %lu calls after it was reaped\n", round, now() - end, m.calls - calls);
		late++;
	}
	errno = m.last;

	check(m.last == ESRCH && m.calls - calls <= STILL, "once it has been reaped its memory cannot be moved", round);
	wait_for_end(&m.ship, round);
	ioctl(m.fd, HMK_IOC_STOP, 0);
	check(ioctl(m.fd, HMK_IOC_START, 0) < 0 && errno == ESRCH, "nobody uses its address space", round);
	close(m.fd);
	return m.calls;
}

static __u32 known_switches(void)
{
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	struct hmk_info info = { .size = sizeof(info) };

	check(!ioctl(fd, HMK_IOC_GET_INFO, &info), "what this kernel can do", 0);
	close(fd);
	return HMK_SWITCH_DENSE | (info.features >> HMK_FEAT_SPLIT_HUGE & 1 ? HMK_SWITCH_SPLIT_HUGE : 0);
}

/* A way of asking in which nobody was killed yet or nothing had moved; SHIP_MODES: none, all are asked in turn. */
static enum ship_mode lacking(void)
{
	unsigned int mode = 0;

	while (mode < SHIP_MODES && killed_in[mode] && moved[mode].pages)
		mode++;
	return mode;
}

int main(int argc, char **argv)
{
	const unsigned long may_be_late = strtoul(argv[3], NULL, 0);
	unsigned long kills = 0, calls = 0;
	double end;

	(void)argc;
	srand((unsigned int)strtoul(argv[2], NULL, 0));
	if (access("/sys/kernel/debug/kmemleak", F_OK) == 0)
		freed_within *= SLOWER;
	switches = known_switches();
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, BYTES / 2, MADV_HUGEPAGE);
	measure();
	end = now() + atof(argv[1]);
	while (now() < end || (lacking() != SHIP_MODES && now() < end + LONGER))
		calls += one(kills++, lacking());
	printf("kills %lu, moves of the whole target %lu, not let go in time %lu\n", kills, calls, late);
	for (unsigned int i = 0; i < SHIP_MODES; i++)
		printf("asked %s: %lu kills, %lu pages\n", ship_names[i], killed_in[i], moved[i].pages);
	check(late <= may_be_late * (1 + kills / 100), "within a second its memory cannot be moved", kills);
	return 0;
}

// SPDX-License-Identifier: MIT
// A storm of regions, and what the intervals say of it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <hmk/table_reader.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define AREAS 30000ul
#define TAU_BASE_Q16 26214u		/* 0.4 of a step of the ladder */
#define TAU_CAP_Q16 52428u		/* tau2, 0.8: raised to this first */
#define TAU_STEP_Q16 (1u << 16)		/* so that the top of the ladder is not far */
#define INTERVAL_NS 400000000ul
#define BUDGET_BP 1000u
#define SCAN_COST_NS 20000u	/* said to be so much, so that there are few samples */
#define FIRST 3			/* interval from which on the module knows what its work costs */
#define LIMIT 100		/* intervals until what must come has come */

static void check(int holds, const char *what)
{
	if (holds)
		return;
	printf("NOT OK: %s\n", what);
	exit(1);
}

/* Every second page may not be written: one VMA a page. */
static void target(char *at, int told)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(at, 1, AREAS * PAGE);
	for (size_t i = 1; i < AREAS; i += 2)
		check(!mprotect(at + i * PAGE, PAGE, PROT_READ), "an area of one page");
	kill(getppid(), SIGCONT);
	check(read(told, &byte, 1) == 1, "the end of the storm is told");
	munmap(at, AREAS * PAGE);
	for (;;)
		pause();
}

static struct hmk_interval iv;
static struct hmk_record records[AREAS + 1000];
static size_t nr;
static const void *table;
static size_t table_bytes;

static void map_table(int fd)
{
	struct hmk_stats stats = { .size = sizeof(stats) };

	if (table)
		munmap((void *)table, table_bytes);
	check(!ioctl(fd, HMK_IOC_STATS, &stats), "statistics");
	table_bytes = stats.table_bytes;
	table = mmap(NULL, table_bytes, PROT_READ, MAP_SHARED, fd, 0);
	check(table != MAP_FAILED, "the table");
}

/* What holds of every interval: samples are those of the records, no more than are paid for, and who waits is told. */
static void next_interval(int fd)
{
	struct hmk_event event = { 0 };
	size_t samples = 0, waiting = 0;
	int err;

	check(read(fd, &event, sizeof(event)) == sizeof(event) && event.kind == HMK_EVENT_INTERVAL, "an interval ends");
	while ((err = hmk_table_read(table, table_bytes, &iv, records, sizeof(records) / sizeof(*records), &nr)) == -ESTALE)
		map_table(fd);
	check(!err, "the table can be read");
	for (size_t i = 0; i < nr; i++) {
		samples += records[i].samples;
		waiting += !!(records[i].flags & HMK_RECORD_STALE);
	}
	printf("%3llu: %5.1f s, %6zu regions, %6zu not visited, %5u of %5u samples, tau1 %.2f, used %3.0f %%%s\n",
	       (unsigned long long)iv.seq, (double)(iv.end_ns - iv.start_ns) / 1e9, nr, waiting, iv.nr_samples, iv.num_ps,
	       iv.tau1_q16 / 65536.0, 100.0 * (double)iv.profile_ns / (double)iv.budget_ns,
	       iv.flags & HMK_INTERVAL_DEGRADED ? ", degraded" : "");
	fflush(stdout);
	check(samples == iv.nr_samples, "the quotas add up to the samples");
	check(iv.nr_samples <= iv.num_ps, "there are no more samples than are paid for");
	check(!waiting || iv.flags & HMK_INTERVAL_DEGRADED, "where regions wait, the interval says so");
	check(!(iv.flags & HMK_INTERVAL_TRUNCATED), "the table holds them all");
	check(iv.seq < FIRST || iv.profile_ns <= iv.budget_ns, "the budget is kept, by a longer interval if need be");
	check((iv.end_ns - iv.start_ns) / 100 * 99 * BUDGET_BP / 10000 <= iv.budget_ns, "and it is that of the interval");
	check(iv.tau1_q16 >= TAU_BASE_Q16 && iv.tau1_q16 <= iv.hotness_max << 16, "tau1 is between base and limit");
}

/* The storm: how many intervals until each area has been visited since the first of them. */
static unsigned int visit_all(int fd, const char *at)
{
	static char visited[AREAS];
	size_t left = AREAS;
	unsigned int turns = 0;

	while (left) {
		const __u32 before = iv.tau1_q16;

		next_interval(fd);
		turns++;
		check(iv.flags & HMK_INTERVAL_DEGRADED, "the storm is told");
		check(iv.nr_samples >= iv.num_ps / 4, "samples are given out");
		check(iv.tau1_q16 == before || iv.tau1_q16 == before + TAU_STEP_Q16 || iv.tau1_q16 == TAU_CAP_Q16 ||
		      iv.tau1_q16 == iv.hotness_max << 16, "tau1 rises step by step");
		for (size_t i = 0; i < nr; i++) {
			const size_t area = (records[i].start - (__u64)at) / PAGE;

			if (records[i].start < (__u64)at || area >= AREAS || !records[i].samples)
				continue;
			left -= !visited[area];
			visited[area] = 1;
		}
		check(turns < LIMIT, "each area gets its turn");
	}
	return turns;
}

int main(void)
{
	char *at = mmap(NULL, AREAS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	sigset_t ready;
	int tell[2], sig, turns;

	sigemptyset(&ready);
	sigaddset(&ready, SIGCONT);
	sigprocmask(SIG_BLOCK, &ready, NULL);
	check(!pipe(tell), "pipe");
	madvise(at, AREAS * PAGE, MADV_NOHUGEPAGE);

	const pid_t pid = fork();

	if (!pid)
		target(at, tell[0]);
	sigwait(&ready, &sig);

	struct hmk_attach a = {
		.size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid,
		.params = {
			.mask = HMK_PARAM_INTERVAL | HMK_PARAM_BUDGET | HMK_PARAM_SCAN_COST | HMK_PARAM_TAU_STEP,
			.tau_step_q16 = TAU_STEP_Q16,
			.interval_ns = INTERVAL_NS, .budget_bp = BUDGET_BP, .scan_cost_ns = SCAN_COST_NS,
		},
	};
	check(!ioctl(fd, HMK_IOC_ATTACH, &a), "attach");
	map_table(fd);
	check(!ioctl(fd, HMK_IOC_START), "start");
	do
		next_interval(fd);
	while (nr < AREAS && iv.seq < LIMIT);
	check(nr >= AREAS, "every area has a region");
	turns = visit_all(fd, at);
	printf("all %lu areas visited in %d intervals, of %u samples each\n", AREAS, turns, iv.num_ps);
	while (iv.tau1_q16 < iv.hotness_max << 16 && iv.seq < 2 * LIMIT)
		next_interval(fd);
	check(iv.tau1_q16 == iv.hotness_max << 16, "tau1 reaches its limit");

	check(write(tell[1], "e", 1) == 1, "the storm ends");
	for (int i = 0; i < LIMIT && (iv.tau1_q16 > TAU_BASE_Q16 || iv.flags & HMK_INTERVAL_DEGRADED); i++)
		next_interval(fd);
	check(iv.tau1_q16 == TAU_BASE_Q16 && !(iv.flags & HMK_INTERVAL_DEGRADED), "all is as before");
	check(nr < 1000, "no region of the storm is left");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

// SPDX-License-Identifier: MIT
// A target that accesses each leaf of some areas so often a second, and what the table says of them.
#define _GNU_SOURCE
#include <fcntl.h>
#include <hmk/table_reader.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1ul << 20)
#define HUGE (2 * MIB)
#define AREAS 19
#define RATES 3			/* the first areas: one rate each */
#define HOT_EVERY 4		/* of the others, one in so many is hot */
#define INTERVALS 6		/* until the rates are right */
#define MOST_INTERVALS 12	/* until every hot area is above every other: by then chance decides it no longer */
#define MAX_RECORDS 4096
#define TICK_NS 97000		/* a burst: shorter than the windows that tell 1000 a second, and out of step with them */
#define FACTOR_Q8 512		/* log2 of 4 */

static const unsigned int rates[RATES] = { 1, 30, 1000 };

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

static unsigned long draw(unsigned long below)
{
	static unsigned long x = 88172645463325252ul;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x % below;
}

static int is_hot(int area)
{
	return area >= RATES && area % HOT_EVERY == 0;
}

/* Accesses a second to each leaf of an area. */
static double rate_of(int area, int huge)
{
	if (area < RATES)
		return rates[area];
	return (is_hot(area) ? 100 : 4) * (huge ? 50 : 1);
}

/* Each tick as many accesses as are due, to places by chance. */
static void target(volatile char *at, size_t bytes, int huge, volatile int *ready)
{
	double due[AREAS] = { 0 };
	struct timespec next;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset((void *)at, 1, AREAS * bytes);
	*ready = 1;
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		for (int area = 0; area < AREAS; area++) {
			due[area] += rate_of(area, huge) * (double)(bytes / (huge ? HUGE : 4096)) * TICK_NS / 1e9;
			for (; due[area] >= 1; due[area]--)
				at[(unsigned long)area * bytes + draw(bytes)]++;
		}
		next.tv_nsec += TICK_NS;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

static struct hmk_record records[MAX_RECORDS];
static size_t nr;

/* Of the regions in an area, by bytes: log2 with 8 fraction bits. */
static int told_q8(const char *at, size_t bytes)
{
	const __u64 start = (__u64)at, end = start + bytes;
	__s64 sum = 0, all = 0;

	for (size_t i = 0; i < nr; i++) {
		const __u64 from = records[i].start > start ? records[i].start : start;
		const __u64 to = records[i].start + records[i].length < end ? records[i].start + records[i].length : end;

		if (from >= to)
			continue;
		sum += (__s64)(to - from) * records[i].rate_q8;
		all += (__s64)(to - from);
	}
	if (all != (__s64)bytes)
		check(0, "each area has regions");
	return (int)(sum / all);
}

/* By how much the coldest of the hot areas is told above the hottest of the others. */
static int gap_q8(const char *at, size_t bytes)
{
	int coldest_hot = 1 << 30, hottest_cold = -(1 << 30);

	for (int area = RATES; area < AREAS; area++) {
		const int told = told_q8(at + (size_t)area * bytes, bytes);

		if (is_hot(area) && told < coldest_hot)
			coldest_hot = told;
		if (!is_hot(area) && told > hottest_cold)
			hottest_cold = told;
	}
	return coldest_hot - hottest_cold;
}

/* log2 with 8 fraction bits, of what is above 0. */
static int log2_q8(double value)
{
	int whole = 0;

	for (; value >= 2; value /= 2)
		whole += 256;
	for (int bit = 128; bit; bit /= 2) {
		value *= value;
		if (value >= 2) {
			value /= 2;
			whole += bit;
		}
	}
	return whole;
}

static void next_interval(int fd, const void *table, size_t bytes)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event event;
	struct hmk_interval iv;
	struct hmk_stats stats = { .size = sizeof(stats) };

	check(poll(&p, 1, 60000) == 1 && read(fd, &event, sizeof(event)) == sizeof(event) && event.kind == HMK_EVENT_INTERVAL,
	      "an interval ends");
	check(!hmk_table_read(table, bytes, &iv, records, MAX_RECORDS, &nr), "the table can be read");
	check(!ioctl(fd, HMK_IOC_STATS, &stats), "statistics");
	printf("%llu: %u regions, %u samples, %.0f %% of the budget, a scan %u ns, so far %llu groups, %llu of them late\n",
	       (unsigned long long)iv.seq, iv.nr_regions, iv.nr_samples, 100.0 * (double)iv.profile_ns / (double)iv.budget_ns,
	       iv.scan_cost_ns, (unsigned long long)stats.groups, (unsigned long long)stats.late_groups);
}

int main(int argc, char **argv)
{
	const int huge = argc > 1 && !strcmp(argv[1], "huge");
	const size_t bytes = huge ? 4 * HUGE : HUGE, size = AREAS * bytes;
	volatile int *ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *hole = mmap(NULL, size + HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *at = (char *)(((unsigned long)hole + HUGE - 1) & ~(HUGE - 1));
	int intervals = 0;

	munmap(hole, size + HUGE);
	mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	madvise(at, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	const pid_t pid = fork();

	if (!pid)
		target(at, bytes, huge, ready);
	while (!*ready)
		sched_yield();

	struct hmk_attach a = {
		.size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid,
		.params = { .mask = HMK_PARAM_INTERVAL, .interval_ns = 1000000000 },
	};
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	check(!ioctl(fd, HMK_IOC_ATTACH, &a) && !ioctl(fd, HMK_IOC_START), "attach and start");
	const void *table = mmap(NULL, a.table_bytes, PROT_READ, MAP_SHARED, fd, 0);

	check(table != MAP_FAILED, "table");
	for (; intervals < INTERVALS; intervals++)
		next_interval(fd, table, a.table_bytes);
	for (int area = 0; area < AREAS; area++) {
		const int told = told_q8(at + (size_t)area * bytes, bytes), truth = log2_q8(rate_of(area, huge));

		printf("area %2d: %5.0f a second and leaf, told 2^%+.2f of that\n", area, rate_of(area, huge),
		       (told - truth) / 256.0);
		if (area < RATES)
			check(abs(told - truth) <= FACTOR_Q8, "its rate is told within a factor of 4");
	}
	for (; gap_q8(at, bytes) <= 0 && intervals < MOST_INTERVALS; intervals++)
		next_interval(fd, table, a.table_bytes);
	printf("after %d intervals what is hot is told 2^%.2f above the rest\n", intervals, gap_q8(at, bytes) / 256.0);
	check(gap_q8(at, bytes) > 0, "what is hot is told from cold memory that is accessed all the time, too");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

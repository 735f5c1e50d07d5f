// SPDX-License-Identifier: MIT
// A target with a known hot part, and what the table says of it.
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
#include <unistd.h>

#define MIB (1ul << 20)
#define REGION (2 * MIB)
#define SIZE (64 * MIB)
#define HOT_FROM (16 * MIB)	/* 8 MiB written, then 8 MiB read, all the time */
#define HOT_TO (32 * MIB)
#define INTERVALS 8
#define MAX_RECORDS 4096
#define HOT_Q8 1024	/* 16 accesses a second to a leaf: what is not hot has none */

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

struct shared { volatile int ready, unmap, unmapped; };

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void target(char *at, struct shared *sh)
{
	volatile long sink;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(0);
	memset(at, 1, SIZE);
	sh->ready = 1;
	for (;;) {
		for (size_t i = HOT_FROM; i < HOT_TO; i += 4096) {
			if (i < (HOT_FROM + HOT_TO) / 2)
				at[i + 64]++;
			else
				sink = at[i + 64];
		}
		if (sh->unmap && !sh->unmapped) {
			munmap(at + SIZE / 2, SIZE / 4);
			mmap(at + SIZE, SIZE / 4, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
			sh->unmapped = 1;
		}
	}
	(void)sink;
}

static struct hmk_interval iv;
static struct hmk_record records[MAX_RECORDS];
static size_t nr;

static void next_interval(int fd, const void *table, size_t bytes)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event event;

	check(poll(&p, 1, 20000) == 1 && read(fd, &event, sizeof(event)) == sizeof(event), "an interval ends");
	check(event.kind == HMK_EVENT_INTERVAL, "it is told");
	check(!hmk_table_read(table, bytes, &iv, records, MAX_RECORDS, &nr), "the table can be read");
	check(iv.seq >= event.value && nr == iv.nr_regions, "it holds that interval");
	/* At the cost it has measured; what a busy host adds to it, no count can promise. */
	check((__u64)iv.nr_samples * 2 * iv.scan_cost_ns <= iv.budget_ns,	/* cleared, and read once at least */
	      "it planned within its budget");
	printf("profiling used %.0f %% of its budget, %u samples\n",
	       100.0 * (double)iv.profile_ns / (double)iv.budget_ns, iv.nr_samples);
}

static const struct hmk_record *covering(const char *at)
{
	for (size_t i = 0; i < nr; i++) {
		if (records[i].start <= (__u64)at && (__u64)at < records[i].start + records[i].length)
			return &records[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const int huge = argc > 1 && !strcmp(argv[1], "huge");
	struct shared *sh = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *hole = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *at = (char *)(((unsigned long)hole + REGION - 1) & ~(REGION - 1));
	unsigned int found = 0, reported = 0;

	munmap(hole, 2 * SIZE);
	mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	madvise(at, SIZE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	pin(1);
	const pid_t pid = fork();

	if (!pid)
		target(at, sh);
	while (!sh->ready)
		sched_yield();

	struct hmk_attach a = {
		.size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid,
		.params = { .mask = HMK_PARAM_INTERVAL, .interval_ns = 500000000 },
	};
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	check(!ioctl(fd, HMK_IOC_ATTACH, &a) && !ioctl(fd, HMK_IOC_START), "attach and start");
	const void *table = mmap(NULL, a.table_bytes, PROT_READ, MAP_SHARED, fd, 0);

	check(table != MAP_FAILED, "table");
	for (int i = 0; i < INTERVALS; i++)
		next_interval(fd, table, a.table_bytes);
	for (char *r = at; r < at + SIZE; r += REGION) {
		const int hot = r >= at + HOT_FROM && r < at + HOT_TO;
		const struct hmk_record *rec = covering(r);

		check(rec != NULL, "each 2 MiB have a region");
		check(rec->resident_pages == rec->length / 4096 && rec->node == 0 && !rec->away_pages,
		      "it is resident where it was touched");
		check(rec->leaf_shift == (huge ? 21 : 12), "its leaf size is seen");
		found += hot && rec->rate_q8 >= HOT_Q8;
		reported += rec->rate_q8 >= HOT_Q8;
	}
	check(nr < SIZE / REGION, "neighbours that are alike have merged");
	printf("hot %lu, reported %u, of them right %u\n", (HOT_TO - HOT_FROM) / REGION, reported, found);
	check(found == (HOT_TO - HOT_FROM) / REGION, "all hot regions are found");
	check(reported == found, "no other is");

	sh->unmap = 1;
	while (!sh->unmapped)
		sched_yield();
	next_interval(fd, table, a.table_bytes);
	next_interval(fd, table, a.table_bytes);
	check(!covering(at + SIZE / 2 + MIB), "what was unmapped has left the table");
	check(!!covering(at + SIZE + MIB), "what was mapped has entered it");

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * A few pages in each 2 MiB, so that a guess ("wholly there") differs from a count. Pages of the lower half are moved up
 * and down all the time, in more scattered ranges than HMK_TOUCHED_MAX in each interval; the upper half lies still.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <hmk/table_reader.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul
#define REGION (2ul << 20)
#define REGIONS 1024u
#define THERE 32u	/* pages of each */
#define RANGES 512u	/* of a request, each in a region of its own */
#define NOTED 256u	/* HMK_TOUCHED_MAX */
#define INTERVALS 40	/* in each of which more moved than is noted */
#define MOST_INTERVALS 400
#define MAX_RECORDS 8192

static char *base;
static int fd;
static atomic_ulong ranges_moved;
static atomic_int over;

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

static void *moves(void *unused)
{
	static struct hmk_range r[RANGES];

	for (int node = 2; !over; node = 2 - node) {
		struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)r, .nr_ranges = RANGES };

		for (unsigned int i = 0; i < RANGES; i++)
			r[i] = (struct hmk_range){ .start = (__u64)base + i * REGION + 4 * PAGE, .length = PAGE, .node = node };
		if (ioctl(fd, HMK_IOC_MOVE, &m))
			return "refused";
		ranges_moved += RANGES;
	}
	return unused;
}

int main(void)
{
	static struct hmk_record records[MAX_RECORDS];
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid(),
				.params = { .mask = HMK_PARAM_INTERVAL | HMK_PARAM_SWITCHES, .interval_ns = 400000000,
					    .switches = HMK_SWITCH_FIXED_REGIONS } };
	char *hole = mmap(NULL, (REGIONS + 1) * REGION, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long before, now, present = 0, regions = 0;
	int full = 0;	/* such intervals */
	struct hmk_stats s = { .size = sizeof(s) };
	struct hmk_interval iv;
	struct hmk_event event = {};
	pthread_t mover;
	size_t nr = 0;
	void *why;

	base = (char *)(((unsigned long)hole + REGION - 1) & ~(REGION - 1));
	madvise(base, REGIONS * REGION, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < REGIONS * THERE; i++)
		base[i / THERE * REGION + i % THERE * PAGE] = 1;
	fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	check(!ioctl(fd, HMK_IOC_ATTACH, &a), "attach");
	pthread_create(&mover, NULL, moves, NULL);
	while (!ranges_moved)
		usleep(1000);
	before = ranges_moved;
	check(!ioctl(fd, HMK_IOC_START), "start");
	struct pollfd p = { .fd = fd, .events = POLLIN };

	/* How many fit into an interval is the host's business, and so is how many intervals an event stands for. */
	for (__u64 seen = 0; seen < MOST_INTERVALS && full < INTERVALS; seen = event.value, before = now) {
		if (poll(&p, 1, 30000) != 1 || read(fd, &event, sizeof(event)) != sizeof(event))
			check(0, "an interval ends");
		now = ranges_moved;
		full += now - before >= 2 * NOTED * (event.value - seen);
	}
	printf("%d of %llu intervals with %u ranges moved or more\n", full, event.value, 2 * NOTED);
	check(full == INTERVALS, "twice as many ranges as are noted move in each");
	over = 1;
	pthread_join(mover, &why);
	check(!why, "all moves were taken");
	check(!ioctl(fd, HMK_IOC_STATS, &s), "counters");	/* the table has grown */
	const void *table = mmap(NULL, s.table_bytes, PROT_READ, MAP_SHARED, fd, 0);

	check(!hmk_table_read(table, s.table_bytes, &iv, records, MAX_RECORDS, &nr), "the table can be read");
	for (size_t i = 0; i < nr; i++) {
		if (records[i].start < (__u64)base + REGIONS / 2 * REGION || records[i].start >= (__u64)base + REGIONS * REGION)
			continue;
		regions++;
		present += records[i].resident_pages;
	}
	printf("%lu regions that lay still, %lu of %u pages present as the table says\n", regions, present, REGIONS / 2 * THERE);
	check(present == REGIONS / 2 * THERE, "what lay still is counted");
	check(!ioctl(fd, HMK_IOC_STOP), "it stops");
	close(fd);
	return 0;
}

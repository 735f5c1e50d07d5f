// SPDX-License-Identifier: MIT
// Memory on nodes below and beyond HMK_MAX_NODES, what the table and the counters say of it, and moves there and back.
#define _GNU_SOURCE
#include <fcntl.h>
#include <hmk/table_reader.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul
#define REGION (2ul << 20)
#define PAGES ((unsigned int)(REGION / PAGE))
#define AWAY 200u	/* pages of an area that are on its second node */
#define INTERVALS 4
#define MAX_RECORDS 4096

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

/* What is mostly on one node, and a part of it on another. */
static const struct area { int node, other; } areas[] = { { 3, 63 }, { 63, 70 }, { 64, 5 }, { 70, 79 }, { 79, 79 } };
#define AREAS (sizeof(areas) / sizeof(areas[0]))

static int known(int node)
{
	return node < (int)HMK_MAX_NODES ? node : -1;
}

static void put(char *at, size_t bytes, int node)
{
	unsigned long mask[2] = { 0 };

	mask[node / 64] = 1ul << node % 64;
	check(!syscall(SYS_mbind, at, bytes, MPOL_BIND, mask, 128ul, 0), "memory is bound");
	memset(at, node, bytes);
}

static struct hmk_interval iv;
static struct hmk_record records[MAX_RECORDS];

static const struct hmk_record *record_of(const void *table, size_t bytes, const char *at)
{
	size_t nr;

	check(!hmk_table_read(table, bytes, &iv, records, MAX_RECORDS, &nr), "the table can be read");
	for (size_t i = 0; i < nr; i++) {
		if (records[i].start <= (__u64)at && (__u64)at < records[i].start + records[i].length)
			return &records[i];
	}
	return NULL;
}

static void intervals(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event event;

	for (int i = 0; i < INTERVALS; i++)
		check(poll(&p, 1, 60000) == 1 && read(fd, &event, sizeof(event)) == sizeof(event), "an interval ends");
}

static void move(int fd, char *at, int node)
{
	static __s32 status[PAGES];
	struct hmk_range r = { .start = (__u64)at, .length = REGION, .node = node, .status = (__u64)status };
	struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)&r, .nr_ranges = 1 };
	unsigned int there = 0;

	check(!ioctl(fd, HMK_IOC_MOVE, &m), "a move is taken");
	for (unsigned int i = 0; i < PAGES; i++)
		there += status[i] == node;
	printf("%u of %u pages on node %d\n", there, PAGES, node);
	check(there == PAGES, "all pages are there");
}

int main(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid(),
				.params = { .mask = HMK_PARAM_INTERVAL | HMK_PARAM_BUDGET, .interval_ns = 100000000,
					    .budget_bp = 2000 } };
	struct hmk_stats s = { .size = sizeof(s) };
	__u64 moved = 0, resident = 0;
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	char *hole = mmap(NULL, (AREAS + 1) * REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *base = (char *)(((unsigned long)hole + REGION - 1) & ~(REGION - 1));

	madvise(base, AREAS * REGION, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < AREAS; i++) {
		put(base + i * REGION, AWAY * PAGE, areas[i].other);
		put(base + i * REGION + AWAY * PAGE, REGION - AWAY * PAGE, areas[i].node);
	}
	check(!ioctl(fd, HMK_IOC_ATTACH, &a) && !ioctl(fd, HMK_IOC_START), "attach and start");
	const void *table = mmap(NULL, a.table_bytes, PROT_READ, MAP_SHARED, fd, 0);

	check(table != MAP_FAILED, "table");
	intervals(fd);
	check(!ioctl(fd, HMK_IOC_STATS, &s), "counters");
	for (unsigned int i = 0; i < HMK_MAX_NODES; i++) {
		moved += s.moved_pages[i];
		resident += s.resident_pages[i];
	}
	check(!moved && !s.moved.pages_clean && !s.moved.paths, "nothing was moved, and no counter says so");
	check(s.resident_pages[3] >= PAGES - AWAY && s.resident_pages[63] >= PAGES, "what is known is in the counters");
	check(resident <= 8 * PAGES, "and nothing besides");
	/* The areas are one VMA per policy, so each part is a region of its own, or two of one node joined. */
	for (size_t i = 0; i < AREAS; i++) {
		const struct hmk_record *first = record_of(table, a.table_bytes, base + i * REGION);

		check(first && first->node == known(areas[i].other), "the first part is told on its node, or as unknown");
		first = record_of(table, a.table_bytes, base + (i + 1) * REGION - PAGE);
		check(first && first->node == known(areas[i].node), "and so is the second");
		check(first->resident_pages == first->length / PAGE && !first->away_pages, "all of it is counted");
	}
	/* One VMA, so that one region can lie on two nodes. */
	syscall(SYS_mbind, base, AREAS * REGION, MPOL_DEFAULT, NULL, 0ul, 0);
	move(fd, base, 70);
	move(fd, base + REGION, 79);
	move(fd, base + 2 * REGION, 3);
	move(fd, base + 3 * REGION, 3);
	{
		struct hmk_range r = { .start = (__u64)base + 3 * REGION, .length = AWAY * PAGE, .node = 70 };
		struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)&r, .nr_ranges = 1 };

		check(!ioctl(fd, HMK_IOC_MOVE, &m), "a part moves");
	}
	intervals(fd);
	check(record_of(table, a.table_bytes, base)->node == -1, "what has moved beyond is unknown");
	check(record_of(table, a.table_bytes, base + 2 * REGION)->node == 3, "what has come from there is known");
	for (size_t i = 0; i < AREAS; i++) {
		const char *at = base + i * REGION;
		const int kept = at[0] == areas[i].other && at[AWAY * PAGE] == areas[i].node && at[REGION - 1] == areas[i].node;

		if (!kept)
			printf("LOST: area %zu holds %d, %d and %d\n", i, at[0], at[AWAY * PAGE], at[REGION - 1]);
		check(kept, "contents are kept");
	}
	memset(&s, 0, sizeof(s));
	s.size = sizeof(s);
	check(!ioctl(fd, HMK_IOC_STATS, &s), "counters");
	for (unsigned int i = moved = 0; i < HMK_MAX_NODES; i++)
		moved += s.moved_pages[i];
	check(moved == s.moved_pages[3] && moved >= 2 * PAGES - AWAY, "moved pages are counted for the nodes below 64");
	check(!ioctl(fd, HMK_IOC_STOP), "it stops");
	close(fd);
	return 0;
}

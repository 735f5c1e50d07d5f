// SPDX-License-Identifier: MIT
// Address spaces at their limits: nearly all of the 128 TiB mapped and almost none of it there; 100,000 VMAs; one VMA of as
// many page tables as a hold of the mmap lock may not look at. Intervals end, the memory that is there is found and moves,
// everything stops when it is asked to.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096ul
#define TIB	(1ul << 40)
#define LIMIT_MS 60000
#define INTERVALS 4
#define ISLANDS	64	/* pages that are there in the sparse space */
#define VMAS	100000u
#define TABLES	16384u	/* of the wide VMA, a page in each */
#define TABLE	(2ul << 20)

static void check(int holds, const char *what)
{
	printf("%s: %s%s%s\n", holds ? "ok" : "NOT OK", what, holds ? "" : ": ", holds ? "" : strerror(errno));
	fflush(stdout);
	if (!holds)
		exit(1);
}

static int begin(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid(),
				.params = { .mask = HMK_PARAM_INTERVAL | HMK_PARAM_BUDGET, .interval_ns = 50000000,
					    .budget_bp = 2000 } };
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	check(!ioctl(fd, HMK_IOC_ATTACH, &a) && !ioctl(fd, HMK_IOC_START, 0), "attach and start");
	return fd;
}

static void intervals(int fd, const char *what)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_stats s = { .size = sizeof(s) };
	struct hmk_event ev = { 0 };
	int n;

	for (n = 0; n < INTERVALS && poll(&p, 1, LIMIT_MS) == 1; n++) {
		if (read(fd, &ev, sizeof(ev)) != sizeof(ev))
			break;
	}
	check(n == INTERVALS, what);
	check(!ioctl(fd, HMK_IOC_STATS, &s) && s.regions > 0, "regions are found");
	printf("regions %llu, state %llu bytes, intervals %llu of which late %llu\n", s.regions, s.state_bytes, s.intervals,
	       s.late_intervals);
	check(!ioctl(fd, HMK_IOC_STOP, 0), "it stops");
}

/* Move every page there is by itself: as many ranges as pages. Return: how many moved. */
static unsigned int move_some(int fd, char *const *page, unsigned int nr, unsigned int first)
{
	struct hmk_range *ranges = calloc(nr, sizeof(*ranges));
	__s32 *status = calloc(nr, sizeof(*status));
	struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)ranges, .nr_ranges = nr };
	unsigned int moved = 0, kept = 0;

	for (unsigned int i = 0; i < nr; i++)
		ranges[i] = (struct hmk_range){ .start = (__u64)page[i], .length = PAGE, .node = 2, .status = (__u64)&status[i] };
	check(!ioctl(fd, HMK_IOC_MOVE, &m), "a request is taken");
	for (unsigned int i = 0; i < nr; i++) {
		moved += status[i] == 2;
		kept += *(unsigned int *)page[i] == first + i + 1;
	}
	if (kept != nr)
		printf("LOST: %u of %u pages hold something else\n", nr - kept, nr);
	check(kept == nr, "contents are kept");
	free(ranges);
	free(status);
	return moved;
}

static void move_all(int fd, char *const *page, unsigned int nr, const char *what)
{
	unsigned int moved = 0, now;

	for (unsigned int i = 0; i < nr; i += now) {
		now = nr - i < HMK_MAX_RANGES ? nr - i : HMK_MAX_RANGES;
		moved += move_some(fd, &page[i], now, i);
	}
	printf("%u of %u moved\n", moved, nr);
	check(moved >= nr - nr / 8, what);
}

static void sparse(void)
{
	char *page[ISLANDS];
	unsigned long mapped = 0;
	int fd;

	for (char *at; (at = mmap(NULL, TIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) !=
			MAP_FAILED; mapped++) {
		if (mapped < ISLANDS) {
			page[mapped] = at + mapped * (TIB / ISLANDS) / PAGE * PAGE;
			madvise(page[mapped], PAGE, MADV_NOHUGEPAGE);
			*(unsigned int *)page[mapped] = (unsigned int)mapped + 1;
		}
	}
	printf("%lu TiB mapped\n", mapped);
	check(mapped > 100, "nearly all of user space is mapped");
	fd = begin();
	intervals(fd, "intervals of a sparse space end");
	move_all(fd, page, ISLANDS, "its pages move");
	close(fd);
	_exit(0);
}

static void many(void)
{
	static char *page[VMAS];
	unsigned int nr = 0;
	int fd;
	char *at = mmap(NULL, VMAS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned int i = 0; i < VMAS; i++, at += PAGE) {
		*(unsigned int *)at = i + 1;
		page[nr] = at;
		if (mprotect(at, PAGE, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE))
			break;
		nr++;
	}
	printf("%u VMAs of one page\n", nr);
	check(nr == VMAS, "as many VMAs as were asked for");
	fd = begin();
	intervals(fd, "intervals of so many VMAs end");
	move_all(fd, page, nr, "each page moves by a range of its own");
	close(fd);
}

static void wide(void)
{
	static char *page[TABLES];
	char *at = mmap(NULL, TABLES * TABLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd;

	check(at != MAP_FAILED && !madvise(at, TABLES * TABLE, MADV_NOHUGEPAGE), "one VMA of many tables");
	for (unsigned int i = 0; i < TABLES; i++) {
		page[i] = at + i * TABLE + i % 512 * PAGE;
		*(unsigned int *)page[i] = i + 1;
	}
	fd = begin();
	intervals(fd, "intervals of a VMA of many tables end");
	move_all(fd, page, TABLES, "its pages move");
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "sparse"))
		sparse();
	if (argc > 1 && !strcmp(argv[1], "wide"))
		wide();
	else
		many();
	return 0;
}

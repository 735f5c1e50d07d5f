// SPDX-License-Identifier: MIT
// Address spaces at their limits: nearly all of the 128 TiB mapped and almost none of it there; as many VMAs as a process
// may have. Intervals end, the memory that is there is found and moves, everything stops when it is asked to.
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

/* Move every page there is by itself: as many ranges as pages. */
static void move_all(int fd, char *const *page, unsigned int nr, const char *what)
{
	struct hmk_range *ranges = calloc(nr, sizeof(*ranges));
	__s32 *status = calloc(nr, sizeof(*status));
	struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)ranges, .nr_ranges = nr };
	unsigned int moved = 0, kept = 0;

	for (unsigned int i = 0; i < nr; i++)
		ranges[i] = (struct hmk_range){ .start = (__u64)page[i], .length = PAGE, .node = 2, .status = (__u64)&status[i] };
	check(!ioctl(fd, HMK_IOC_MOVE, &m), what);
	for (unsigned int i = 0; i < nr; i++) {
		moved += status[i] == 2;
		kept += *(unsigned int *)page[i] == i + 1;
	}
	printf("%u of %u moved\n", moved, nr);
	check(moved >= nr - nr / 8 && kept == nr, "and kept their contents");
	free(ranges);
	free(status);
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
	static char *page[65000];
	char *at;
	int limit = 65530, fd;
	unsigned int nr = 0;
	FILE *file = fopen("/proc/sys/vm/max_map_count", "r");

	check(file && fscanf(file, "%d", &limit) == 1, "the limit of VMAs is known");
	fclose(file);
	at = mmap(NULL, 2ul * (unsigned long)limit * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned int i = 0; i < 65000; i++, at += PAGE) {
		*(unsigned int *)at = i + 1;
		page[nr] = at;
		if (mprotect(at, PAGE, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE))
			break;
		nr++;
	}
	printf("%u VMAs of one page\n", nr);
	check(nr > 60000, "as many VMAs as a process may have");
	fd = begin();
	intervals(fd, "intervals of so many VMAs end");
	move_all(fd, page, nr, "each page moves by a range of its own");
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "sparse"))
		sparse();
	many();
	return 0;
}

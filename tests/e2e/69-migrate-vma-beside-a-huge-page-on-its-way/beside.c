// SPDX-License-Identifier: MIT
/*
 * Base pages right below a huge page, in one VMA. One thread moves the huge page, which sleeps while it is unmapped;
 * the other, on the same CPU, moves the base pages by migrate_vma in one chunk that reaches into the huge page.
 *
 *	beside SECONDS	at least
 */
#include <hmk/lib/move.c>

#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE		4096ul
#define HUGE		(512 * PAGE)
#define BASE_PAGES	16ul
#define MAX_PAUSE_NS	400000
#define LONGER		40	/* seconds, until both were under way at a time */

static char *border;		/* base pages below, a huge page from here on */
static atomic_ulong turn;	/* odd while the huge page is on its way */
static atomic_bool stop;
static unsigned long huge_moved, base_moved;
static atomic_ulong met;

static struct hmk_range_result move(int fd, char *start, unsigned long bytes, int node, __u32 flags)
{
	struct hmk_range range = { .start = (uint64_t)start, .length = bytes, .node = node };
	struct hmk_range_result result = { 0 };
	/* Chunks end at multiples of their size: one that is no part of 512 is not cut at the border. */
	struct hmk_move m = { .size = sizeof(m), .flags = flags, .ranges = (uint64_t)&range, .nr_ranges = 1,
			      .results = (uint64_t)&result, .chunk_pages = flags & HMK_MOVE_FORCE_VMA ? 509 : 0 };

	if (ioctl(fd, HMK_IOC_MOVE, &m))
		err(1, "move");
	return result;
}

static void check(const char *page, unsigned long pages, char value)
{
	for (unsigned long i = 0; i < pages * PAGE; i += PAGE) {
		if (page[i] != value)
			errx(1, "LOST: %p holds %d, not %d", (void *)(page + i), page[i], value);
	}
}

static void *move_base_pages(void *arg)
{
	const int fd = open_session(0);
	unsigned int seed = 1;

	(void)arg;
	if (fd < 0)
		err(1, "attach");
	for (int node = 2; !stop; node = 5 - node) {
		const struct timespec pause = { .tv_nsec = rand_r(&seed) % MAX_PAUSE_NS };
		struct hmk_range_result result;
		unsigned long before;

		nanosleep(&pause, NULL);
		before = turn;
		result = move(fd, border - BASE_PAGES * PAGE, 2 * BASE_PAGES * PAGE, node, HMK_MOVE_FORCE_VMA);
		base_moved += result.pages_clean + result.pages_recopied + result.pages_sync;
		met += before % 2 && before == turn && result.pages_absent;
		check(border - BASE_PAGES * PAGE, BASE_PAGES, 1);
	}
	close(fd);
	return NULL;
}

static void move_huge_page(int fd)
{
	struct hmk_range_result result;

	madvise(border, HUGE, MADV_DONTNEED);
	memset(border, 2, HUGE);
	turn++;
	result = move(fd, border, HUGE, 1, HMK_MOVE_SYNC_COPY);
	turn++;
	huge_moved += result.pages_sync / 512;
	check(border, 512, 2);
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + (argc == 2 ? atoi(argv[1]) : 0);
	cpu_set_t one;
	pthread_t other;
	char *memory;
	int fd;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		err(1, "sched_setaffinity");
	memory = mmap(NULL, 3 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	border = (char *)(((uint64_t)memory + 2 * HUGE - 1) & ~(HUGE - 1));
	memset(border - BASE_PAGES * PAGE, 1, BASE_PAGES * PAGE);
	if (madvise(memory, 3 * HUGE, MADV_HUGEPAGE))
		err(1, "MADV_HUGEPAGE");
	fd = open_session(0);
	if (fd < 0)
		err(1, "attach");
	pthread_create(&other, NULL, move_base_pages, NULL);
	while (time(NULL) < end || (!met && time(NULL) < end + LONGER))
		move_huge_page(fd);
	stop = true;
	pthread_join(other, NULL);
	close(fd);
	printf("huge %lu base %lu met %lu\n", huge_moved, base_moved, met);
	return 0;
}

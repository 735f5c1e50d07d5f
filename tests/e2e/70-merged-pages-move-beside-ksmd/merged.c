// SPDX-License-Identifier: MIT
/*
 * Moves pages that KSM has merged back and forth while it scans them, and writes some of them so that it merges them
 * anew: again and again there are entries whose page KSM does not know to be mapped there.
 *
 *	merged SECONDS own|vma	so long at least
 */
#include <hmk/lib/move.c>

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE		4096ul
#define PAGES		2048ul
#define CONTENTS	64ul	/* that differ: neighbours never share a page */
#define LONGER		20	/* seconds, until KSM has merged */
#define FIRST_NODE	1
#define SECOND_NODE	2

static char *memory;

static void fill(unsigned long page)
{
	memset(memory + page * PAGE, (int)(page % CONTENTS) + 1, PAGE);
}

static void check(void)
{
	for (unsigned long i = 0; i < PAGES * PAGE; i++) {
		if (memory[i] != (char)(i / PAGE % CONTENTS + 1))
			errx(1, "LOST: byte %lu holds %d", i, memory[i]);
	}
}

/* Return: pages that moved. */
static unsigned long move(int fd, int node, __u32 flags)
{
	struct hmk_range range = { .start = (uint64_t)memory, .length = PAGES * PAGE, .node = node };
	struct hmk_range_result result = { 0 };
	struct hmk_move m = { .size = sizeof(m), .flags = flags | HMK_MOVE_SHARED, .ranges = (uint64_t)&range,
			      .nr_ranges = 1, .results = (uint64_t)&result };

	if (ioctl(fd, HMK_IOC_MOVE, &m))
		err(1, "move");
	return result.pages_clean + result.pages_recopied + result.pages_sync;
}

static long merged_pages(void)
{
	FILE *file = fopen("/proc/self/ksm_merging_pages", "r");
	long pages;

	if (!file || fscanf(file, "%ld", &pages) != 1)
		err(1, "ksm_merging_pages");
	fclose(file);
	return pages;
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + (argc == 3 ? atoi(argv[1]) : 0);
	const __u32 flags = argc == 3 && !strcmp(argv[2], "vma") ? HMK_MOVE_FORCE_VMA : 0;
	unsigned long moved = 0, merged = 0, rounds = 0;
	const int fd = open_session(0);

	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE))
		err(1, "mmap");
	for (unsigned long i = 0; i < PAGES; i++)
		fill(i);
	if (madvise(memory, PAGES * PAGE, MADV_MERGEABLE))
		err(1, "MADV_MERGEABLE");
	for (; time(NULL) < end || (merged <= rounds && time(NULL) < end + LONGER); rounds++) {
		moved += move(fd, rounds % 2 ? FIRST_NODE : SECOND_NODE, flags);
		merged += (unsigned long)merged_pages();
		for (unsigned long i = rounds % 16; i < PAGES; i += 16)
			fill(i);
		check();
	}
	printf("moved %lu merged %lu rounds %lu\n", moved, merged, rounds);
	return 0;
}

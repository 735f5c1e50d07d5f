// SPDX-License-Identifier: MIT
// race base|huge COUNT: a thread moves 2 MiB from node to node while another takes COUNT of its pages
// offline (MADV_SOFT_OFFLINE; it tries on where none could be), while COUNT of them are poisoned
// (MADV_HWPOISON), then while it maps, writes and unmaps the place COUNT times, as LTP's move_pages12
// does. Prints how often each happened; exit code 1 when a page lost its content that was not poisoned.
#include <hmk/lib/move.c>

#include <err.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif
#define PAGE	4096ul
#define PAGES	512u
#define NODES	4
#define LATEST	50ul

static char *at;
static int advice;
static volatile bool is_over;
static unsigned long nr_moved;
static char *poisoned;	/* page that may be gone */
static sigjmp_buf is_gone;

/* What a move may say of memory that changes meanwhile. */
static bool is_allowed(int status)
{
	return status >= 0 || status == -EBUSY || status == -ENOMEM || status == -EFAULT || status == -ENOENT ||
	       status == -EIO || status == -EHWPOISON;
}

static void *move(void *unused)
{
	static void *pages[PAGES];
	static int nodes[PAGES], status[PAGES];

	(void)unused;
	for (unsigned int i = 0; i < PAGES; i++)
		pages[i] = at + i * PAGE;
	for (int node = 0; !is_over; node = (node + 1) % NODES) {
		for (unsigned int i = 0; i < PAGES; i++)
			nodes[i] = node;
		if (move_memory_regions(0, PAGES, pages, nodes, status, MPOL_MF_MOVE) < 0)
			err(1, "move_memory_regions");
		for (unsigned int i = 0; i < PAGES; i++) {
			if (!is_allowed(status[i]))
				errx(1, "page %u has status %d", i, status[i]);
			__atomic_add_fetch(&nr_moved, status[i] == node, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

static void map(void)
{
	if (mmap(at, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		err(3, "mmap");
	madvise(at, PAGES * PAGE, advice);
}

static void check(unsigned int page, uint64_t value)
{
	const uint64_t *words = (uint64_t *)(at + page * PAGE);

	if (words[0] != value || words[PAGE / 8 - 1] != value)
		errx(1, "LOST: page %u holds %#lx and %#lx, not %#lx", page, words[0], words[PAGE / 8 - 1], value);
}

static void fill(uint64_t value)
{
	for (unsigned int i = 0; i < PAGES; i++) {
		uint64_t *words = (uint64_t *)(at + i * PAGE);

		words[0] = words[PAGE / 8 - 1] = value + i;
	}
}

/* A page on its way cannot be taken: COUNT tries, and on to the first that could be, at most LATEST times as many. */
static unsigned long take_offline(unsigned long count)
{
	unsigned long nr = 0;

	fill(1000);
	for (unsigned long i = 0; i < count || (!nr && i < LATEST * count); i++) {
		const unsigned int page = (unsigned int)(i * 997 % PAGES);

		nr += !madvise(at + page * PAGE, PAGE, MADV_SOFT_OFFLINE);
		check(page, 1000 + page);
	}
	for (unsigned int i = 0; i < PAGES; i++)
		check(i, 1000 + i);
	return nr;
}

static void on_sigbus(int number, siginfo_t *info, void *unused)
{
	(void)number;
	(void)unused;
	if ((char *)((unsigned long)info->si_addr & -PAGE) == poisoned)
		siglongjmp(is_gone, 1);
	fprintf(stderr, "%p is gone, and %p was poisoned\n", info->si_addr, (void *)poisoned);
	_exit(1);
}

/* What is gone is mapped anew. A page that has been moved away in time is still there. */
static unsigned long poison(unsigned long count)
{
	volatile unsigned long nr = 0;

	fill(2000);
	for (volatile unsigned long i = 0; i < count; i++) {
		const unsigned int page = (unsigned int)(i * 997 % PAGES);
		uint64_t *words = (uint64_t *)(at + page * PAGE);

		poisoned = (char *)words;
		if (!sigsetjmp(is_gone, 1)) {
			madvise(poisoned, PAGE, MADV_HWPOISON);
			check(page, 2000 + page);
			continue;
		}
		if (mmap(words, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != words)
			err(3, "mmap");
		words[0] = words[PAGE / 8 - 1] = 2000 + page;
		nr++;
	}
	poisoned = NULL;
	for (unsigned int i = 0; i < PAGES; i++)
		check(i, 2000 + i);
	return nr;
}

static void remap(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		munmap(at, PAGES * PAGE);
		map();
		fill(i << 20);
		for (unsigned int k = 0; k < PAGES; k++)
			check(k, (i << 20) + k);
	}
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	unsigned long count, offline, gone, place;
	pthread_t mover;

	if (argc != 3)
		errx(2, "usage: race base|huge COUNT");
	advice = strcmp(argv[1], "huge") ? MADV_NOHUGEPAGE : MADV_HUGEPAGE;
	count = strtoul(argv[2], NULL, 10);
	place = (unsigned long)mmap(NULL, 2 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	at = (char *)((place + PAGES * PAGE - 1) & ~(PAGES * PAGE - 1));
	map();
	fill(0);
	sigaction(SIGBUS, &action, NULL);
	pthread_create(&mover, NULL, move, NULL);
	offline = take_offline(count);
	gone = poison(count);
	remap(count);
	is_over = true;
	pthread_join(mover, NULL);
	printf("{\"offline\": %lu, \"poisoned\": %lu, \"moved\": %lu}\n", offline, gone, nr_moved);
	return 0;
}

// SPDX-License-Identifier: MIT
// One area of huge pages on node 1, every page of which is written and checked over and over: first the lower half of each
// huge page only. Prints its PID, where the area is and how long; answers each letter on stdin with a line:
//   e  from now on all of it is     w  how many words were wrong, how often the area was passed, how many pages are on node 0
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE	4096ul
#define HUGE	(2ul << 20)
#define LENGTH	(4 * HUGE)
#define PAGES	(LENGTH / PAGE)
#define WORDS	8	/* of each page, spread over it */

static char *area;
static uint64_t written[PAGES];	/* passes that wrote each page: what it must hold */
static atomic_ulong used = HUGE / 2;	/* of each huge page */
static atomic_ulong wrong, passes;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t *word(unsigned long page, unsigned int n)
{
	return (uint64_t *)(area + page * PAGE + n * (PAGE / WORDS));
}

static uint64_t value(unsigned long page, unsigned int n)
{
	return (written[page] << 32) ^ (page * WORDS + n) * 0x9e3779b97f4a7c15ul;
}

static void check(unsigned long page)
{
	for (unsigned int n = 0; n < WORDS; n++)
		wrong += *word(page, n) != value(page, n);
}

static void write_page(unsigned long page)
{
	written[page]++;
	for (unsigned int n = 0; n < WORDS; n++)
		*word(page, n) = value(page, n);
}

static void *use(void *arg)
{
	for (;;) {
		for (unsigned long page = 0; page < PAGES; page++)
			if (page * PAGE % HUGE < used) {
				check(page);
				write_page(page);
			}
		passes++;
		usleep(10000);
	}
	return arg;
}

static unsigned long on_fast_node(void)
{
	static void *pages[PAGES];
	static int nodes[PAGES];
	unsigned long n = 0;

	for (unsigned long page = 0; page < PAGES; page++)
		pages[page] = area + page * PAGE;
	if (syscall(SYS_move_pages, 0, PAGES, pages, NULL, nodes, 0))
		fail("move_pages");
	for (unsigned long page = 0; page < PAGES; page++)
		n += nodes[page] == 0;
	return n;
}

int main(void)
{
	unsigned long slow = 1ul << 1;
	char *hole = mmap(NULL, LENGTH + 2 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t user;
	char line[16];

	area = (char *)(((uintptr_t)hole + HUGE) & ~(HUGE - 1));
	if (hole == MAP_FAILED || mprotect(area, LENGTH, PROT_READ | PROT_WRITE) || madvise(area, LENGTH, MADV_HUGEPAGE))
		fail("map");
	if (syscall(SYS_set_mempolicy, MPOL_BIND, &slow, 8 * sizeof(slow)))
		fail("set_mempolicy");
	for (unsigned long page = 0; page < PAGES; page++)
		write_page(page);
	if (syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0))
		fail("set_mempolicy");
	pthread_create(&user, NULL, use, NULL);
	printf("%d %lu %lu\n", getpid(), (unsigned long)area, LENGTH);
	while (fflush(stdout), fgets(line, sizeof(line), stdin)) {
		if (line[0] == 'e')
			used = HUGE;
		printf("%lu %lu %lu\n", wrong, passes, on_fast_node());
	}
	return wrong != 0;
}

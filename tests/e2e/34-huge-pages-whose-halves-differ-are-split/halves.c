// SPDX-License-Identifier: MIT
// Two areas of huge pages, every word of them written, then read over and over: of the first the lower
// half of each huge page, of the second all. Prints where they are; answers each letter on stdin with a line:
//   f  fork a child that shares them     r  end it     c  how many words are wrong, after reading all
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	4096ul
#define HUGE	(2ul << 20)
#define LENGTH	(4 * HUGE)

struct areas {
	uint64_t *half, *whole;
};

/* Aligned, with a hole on both sides. */
static uint64_t *map(void)
{
	char *hole = mmap(NULL, LENGTH + 2 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = (char *)(((uintptr_t)hole + HUGE) & ~(HUGE - 1));

	if (hole == MAP_FAILED || mprotect(at, LENGTH, PROT_READ | PROT_WRITE) || madvise(at, LENGTH, MADV_HUGEPAGE)) {
		perror("map");
		exit(1);
	}
	return (uint64_t *)at;
}

static void fill(uint64_t *area)
{
	for (uint64_t *at = area; at < area + LENGTH / 8; at++)
		*at = (uintptr_t)at * 0x9e3779b97f4a7c15ul;
}

static unsigned long wrong(const uint64_t *area)
{
	unsigned long n = 0;

	for (const uint64_t *at = area; at < area + LENGTH / 8; at++)
		n += *at != (uintptr_t)at * 0x9e3779b97f4a7c15ul;
	return n;
}

static void read_pages(const volatile char *from, unsigned long length)
{
	for (unsigned long at = 0; at < length; at += PAGE)
		(void)from[at];
}

static void *use(void *arg)
{
	struct areas *a = arg;

	for (;;) {
		for (unsigned long at = 0; at < LENGTH; at += HUGE)
			read_pages((char *)a->half + at, HUGE / 2);
		read_pages((char *)a->whole, LENGTH);
		usleep(10000);
	}
	return NULL;
}

static pid_t fork_child(void)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

int main(void)
{
	struct areas a;
	pthread_t user;
	pid_t child = 0;
	char line[16];

	a.half = map();
	a.whole = map();	/* below it: its pages are examined first */
	fill(a.half);
	fill(a.whole);
	pthread_create(&user, NULL, use, &a);
	printf("%lu %lu %lu\n", (unsigned long)a.half, (unsigned long)a.whole, LENGTH);
	while (fflush(stdout), fgets(line, sizeof(line), stdin)) {
		if (line[0] == 'f') {
			child = fork_child();
			printf("%d\n", child);
		} else if (line[0] == 'r') {
			kill(child, SIGKILL);
			printf("%d\n", waitpid(child, NULL, 0) == child);
		} else {
			printf("%lu\n", wrong(a.half) + wrong(a.whole));
		}
	}
	return 0;
}

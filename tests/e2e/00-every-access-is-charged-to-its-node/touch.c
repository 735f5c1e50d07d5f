// SPDX-License-Identifier: MIT
/*
 * touch NODE [TO]: bind a buffer to NODE and, between mark 0 and marks 14, 14, 3, 4,
 * read every line of it (14), write every line (14 again), let the kernel fill it (3),
 * read every line in an order that no prefetcher and no TLB follows (4).
 * Prints the buffer's first page.
 * With TO the buffer is first used on NODE and then moved to TO.
 * With TOUCH_HUGE in the environment its pages are of 2 MiB.
 * With TOUCH_WITHOUT_MARKS in the environment it ends before the first mark.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mark.h"

#define SIZE (48ul << 20)
#define LINE 64
#define HUGE_SIZE (2ul << 20)

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static long bind_to(void *buffer, int node)
{
	unsigned long mask = 1ul << node;

	return syscall(SYS_mbind, buffer, SIZE, MPOL_BIND, &mask, 64, MPOL_MF_MOVE | MPOL_MF_STRICT);
}

static void read_lines(volatile char *buffer)
{
	unsigned long i;

	for (i = 0; i < SIZE; i += LINE)
		(void)buffer[i];
}

static void write_lines(volatile char *buffer)
{
	unsigned long i;

	for (i = 0; i < SIZE; i += LINE)
		buffer[i] = 1;
}

/* Neighbours in time are 0.38 of the buffer apart, and those of 1536 accesses at least 8 pages. */
static void read_scattered(volatile char *buffer)
{
	const unsigned long lines = SIZE / LINE, stride = 300391; /* no factor in common with lines */
	unsigned long i;

	for (i = 0; i < lines; i++)
		(void)buffer[i * stride % lines * LINE];
}

int main(int argc, char **argv)
{
	int zero = open("/dev/zero", O_RDONLY);
	char *buffer = mmap(NULL, SIZE + HUGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc < 2 || zero < 0 || buffer == MAP_FAILED)
		return fail("touch");
	buffer += -(unsigned long)buffer % HUGE_SIZE;
	if (madvise(buffer, SIZE, getenv("TOUCH_HUGE") ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		return fail("madvise");
	if (bind_to(buffer, atoi(argv[1])))
		return fail("mbind");
	memset(buffer, 1, SIZE);
	if (argc > 2) {
		read_lines(buffer);
		if (bind_to(buffer, atoi(argv[2])))
			return fail("mbind to the second node");
	}
	if (getenv("TOUCH_WITHOUT_MARKS"))
		return 0;
	printf("%lu\n", (unsigned long)buffer >> 12);
	HMK_MARK(0);
	read_lines(buffer);
	HMK_MARK(14);
	HMK_MARK(0);
	write_lines(buffer);
	HMK_MARK(14);
	HMK_MARK(0);
	if (read(zero, buffer, SIZE) != SIZE)
		return fail("read");
	HMK_MARK(3);
	HMK_MARK(0);
	read_scattered(buffer);
	HMK_MARK(4);
	return 0;
}

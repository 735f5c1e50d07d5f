// SPDX-License-Identifier: MIT
// where: 16 pages asked to node 0, where they are, and to node 1, which does not exist: by the library as by move_pages(2).
#include <hmk/lib/move.c>

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PAGES	16

struct answer {
	long value;
	int error, status[PAGES];
};

static struct answer ask(long (*move)(int, unsigned long, void **, const int *, int *, int), char *at, int node)
{
	struct answer answer = { .value = 0 };
	void *pages[PAGES];
	int nodes[PAGES];

	for (int i = 0; i < PAGES; i++) {
		pages[i] = at + i * 4096;
		nodes[i] = node;
		answer.status[i] = -1000;
	}
	errno = 0;
	answer.value = move(0, PAGES, pages, nodes, answer.status, MPOL_MF_MOVE);
	answer.error = errno;
	return answer;
}

static long by_kernel(int pid, unsigned long count, void **pages, const int *nodes, int *status, int flags)
{
	return syscall(SYS_move_pages, pid, count, pages, nodes, status, flags);
}

int main(void)
{
	char *at = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	for (int node = 0; node < 2; node++) {
		const struct answer ours = ask(move_memory_regions, at, node), theirs = ask(by_kernel, at, node);

		if (memcmp(&ours, &theirs, sizeof(ours)))
			errx(1, "node %d: %ld, errno %d, status %d; move_pages(2): %ld, errno %d, status %d", node, ours.value,
			     ours.error, ours.status[0], theirs.value, theirs.error, theirs.status[0]);
		printf("ok: node %d: %ld, errno %d, status %d\n", node, ours.value, ours.error, ours.status[0]);
	}
	return 0;
}

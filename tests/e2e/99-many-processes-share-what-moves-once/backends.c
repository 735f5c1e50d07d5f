// SPDX-License-Identifier: MIT
/*
 * backends PROCESSES POOL_MIB HOT_MIB RATE: processes that count in one pool of shared memory, as those of a database do
 * in its buffers. The last HOT_MIB of it have nine of ten accesses, RATE a second in all. Prints "pool ADDRESS" once all
 * run; at the end of its input it sums up what each has counted where: "lost N".
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096ul
#define MIB	(1ul << 20)
#define MOST	256u	/* processes: a page has a counter for each */

struct common {
	volatile int ends;
	uint64_t counted[MOST];
};

static uint64_t drawn = 1;

static uint64_t draw(uint64_t below)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 7;
	drawn ^= drawn << 17;
	return drawn % below;
}

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

static uint64_t *counter(char *pool, uint64_t page, unsigned int process)
{
	return (uint64_t *)(pool + page * PAGE) + process;
}

/* In bursts of a hundredth of a second: a look of hmk.ko sees many of them. */
static void serve(struct common *common, char *pool, unsigned int self, uint64_t pages, uint64_t hot, uint64_t rate)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	drawn = self + 1;
	prctl(PR_SET_PDEATHSIG, 9);
	while (!common->ends) {
		for (uint64_t i = 0; i < (rate + 99) / 100; i++) {
			const uint64_t page = draw(10) ? pages - hot + draw(hot) : draw(pages);

			++*counter(pool, page, self);
			++common->counted[self];
		}
		nanosleep(&pause, NULL);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	const unsigned int nr = (unsigned int)atoi(argv[1]);
	const uint64_t pages = (uint64_t)atoi(argv[2]) * MIB / PAGE, hot = (uint64_t)atoi(argv[3]) * MIB / PAGE;
	struct common *common = map(sizeof(*common));
	char *pool = map(pages * PAGE);
	uint64_t lost = 0;

	if (nr > MOST || hot > pages)
		return 2;
	for (uint64_t page = 0; page < pages; page++)
		*counter(pool, page, 0) = 0;
	for (unsigned int self = 0; self < nr; self++) {
		if (!fork())
			serve(common, pool, self, pages, hot, (uint64_t)atoi(argv[4]) / nr);
	}
	printf("pool %lu\n", (uint64_t)pool);
	fflush(stdout);
	while (getchar() != EOF)
		continue;
	common->ends = 1;
	while (wait(NULL) > 0)
		continue;
	for (unsigned int self = 0; self < nr; self++) {
		uint64_t sum = 0;

		for (uint64_t page = 0; page < pages; page++)
			sum += *counter(pool, page, self);
		lost += common->counted[self] - sum;
	}
	printf("lost %lu\n", lost);
	return 0;
}

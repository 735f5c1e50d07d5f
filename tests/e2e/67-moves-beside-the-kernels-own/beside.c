// SPDX-License-Identifier: MIT
/*
 * Moves its own memory from node to node while its threads write and check every page, whatever else goes on.
 *
 *	beside	says when it is ready; until SIGTERM, and until pages have moved; prints how many. An errno of a node that is
 *		not allowed now is no failure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES	4096ul
#define BYTES	(PAGES * 4096)
#define WRITERS	2

static char *memory;
static atomic_int over;
static volatile sig_atomic_t told;

static void on_term(int number)
{
	told = number;
}

/* Writer n owns every WRITERSth page: it knows what it wrote there last. */
static void *writes(void *arg)
{
	const unsigned long n = (unsigned long)arg;
	unsigned long *last = calloc(PAGES, sizeof(*last)), round = 0, wrong = 0;

	while (!over) {
		round++;
		for (unsigned long i = n; i < PAGES; i += WRITERS) {
			volatile unsigned long *at = (unsigned long *)(memory + i * 4096 + round * 8 % 512);
			volatile unsigned long *tag = (unsigned long *)(memory + i * 4096 + 4088);

			wrong += *tag != last[i];
			if (i % 3) {
				*at = round;
				*tag = last[i] = round * PAGES + i;
			}
		}
	}
	free(last);
	return (void *)wrong;
}

int main(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid(),
				.params = { .mask = HMK_PARAM_INTERVAL, .interval_ns = 50000000 } };
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	unsigned long moved = 0, refused = 0, wrong = 0;
	pthread_t writer[WRITERS];

	signal(SIGTERM, on_term);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, BYTES / 2, MADV_HUGEPAGE);
	memset(memory, 0, BYTES);
	if (ioctl(fd, HMK_IOC_ATTACH, &a) || ioctl(fd, HMK_IOC_START, 0)) {
		perror("attach");
		return 1;
	}
	for (unsigned long i = 0; i < WRITERS; i++)
		pthread_create(&writer[i], NULL, writes, (void *)i);
	puts("ready");
	fflush(stdout);
	for (int node = 0; !told || !moved; node = (node + 1) % 4) {
		struct hmk_range_result result = { 0 };
		struct hmk_range r = { .start = (__u64)memory, .length = BYTES, .node = node };
		struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)&r, .nr_ranges = 1, .results = (__u64)&result };

		if (!ioctl(fd, HMK_IOC_MOVE, &m)) {
			moved += result.pages_clean + result.pages_recopied + result.pages_sync;
		} else if (errno == EACCES || errno == ENODEV) {
			refused++;
		} else {
			perror("HMK_IOC_MOVE");
			return 1;
		}
	}
	over = 1;
	for (int i = 0; i < WRITERS; i++) {
		void *seen;

		pthread_join(writer[i], &seen);
		wrong += (unsigned long)seen;
	}
	printf("moved %lu refused %lu wrong %lu\n", moved, refused, wrong);
	return wrong != 0;
}

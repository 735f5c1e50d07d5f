// SPDX-License-Identifier: MIT
/*
 * threads COPY_THREADS [paired]: 8 MiB of this program go to node 1 and back, by a call each or as a paired ticket of
 * two ranges. Prints the chunks that were copied ahead; exit code 1 when not all of it moved, or not whole.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES	(8ul << 20)
#define HUGE	(2ul << 20)

static char *memory;
static int fd;

static void fill(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid() };
	char *area = mmap(NULL, BYTES + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || madvise(area, BYTES + HUGE, MADV_NOHUGEPAGE))
		err(1, "memory");
	memory = (char *)(((unsigned long)area + HUGE - 1) & ~(HUGE - 1));	/* chunks begin there */
	for (unsigned long at = 0; at < BYTES; at += sizeof(long))
		*(unsigned long *)(memory + at) = at;
	fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, HMK_IOC_ATTACH, &a))
		err(1, "a session");
}

static void fetch(struct hmk_range_result *results)
{
	struct hmk_result r = { .size = sizeof(r), .cookie = 1, .results = (unsigned long)results, .nr_ranges = 2 };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event event;

	if (poll(&p, 1, 60000) != 1 || read(fd, &event, sizeof(event)) != sizeof(event) || ioctl(fd, HMK_IOC_RESULT, &r))
		err(1, "the ticket's end");
}

/* Return: chunks that were copied ahead. */
static unsigned int move_to(int node, __u32 copy_threads, int is_paired)
{
	struct hmk_range ranges[2] = {
		{ .start = (unsigned long)memory, .length = BYTES / 2, .node = node },
		{ .start = (unsigned long)memory + BYTES / 2, .length = BYTES / 2, .node = node },
	};
	struct hmk_range_result results[2] = { { 0 } };
	struct hmk_move m = { .size = sizeof(m), .cookie = 1, .ranges = (unsigned long)ranges, .nr_ranges = 2, .copy_threads = copy_threads };

	if (is_paired)
		m.flags = HMK_MOVE_TICKET | HMK_MOVE_PAIRED;
	else
		m.results = (unsigned long)results;
	if (ioctl(fd, HMK_IOC_MOVE, &m))
		err(1, "MOVE by %u threads", copy_threads);
	if (is_paired)
		fetch(results);
	if (results[0].pages_clean + results[1].pages_clean != BYTES / HMK_PAGE_SIZE)
		errx(1, "%llu and %llu pages were copied ahead", results[0].pages_clean, results[1].pages_clean);
	return results[0].chunks + results[1].chunks;
}

int main(int argc, char **argv)
{
	const __u32 copy_threads = (__u32)atoi(argv[1]);
	unsigned int chunks;

	fill();
	chunks = move_to(1, copy_threads, argc > 2);
	chunks += move_to(0, copy_threads, argc > 2);
	for (unsigned long at = 0; at < BYTES; at += sizeof(long)) {
		if (*(unsigned long *)(memory + at) != at)
			errx(1, "LOST: other contents at %lu", at);
	}
	printf("%u\n", chunks);
	return 0;
}

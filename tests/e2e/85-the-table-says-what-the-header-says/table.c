// SPDX-License-Identifier: MIT
// A private file mapping of which a few pages were written, shared memory, and a given cost of a scan.
#define _GNU_SOURCE
#include <fcntl.h>
#include <hmk/table_reader.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define SIZE (16ul << 20)
#define PAGES ((unsigned int)(SIZE / PAGE))
#define WRITTEN 5u
#define COST 7777u
#define MAX_RECORDS 4096
#define MOST_INTERVALS 20

static struct hmk_record records[MAX_RECORDS];
static struct hmk_interval iv;
static size_t nr;
static volatile char sink;

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

/* All pages are read all the time. */
static void next_interval(int fd, const void *table, size_t bytes, const char *file)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event event;

	while (!poll(&p, 1, 0))
		for (size_t i = 0; i < SIZE; i += PAGE)
			sink = file[i];
	check(read(fd, &event, sizeof(event)) == sizeof(event) && event.kind == HMK_EVENT_INTERVAL, "an interval ends");
	check(!hmk_table_read(table, bytes, &iv, records, MAX_RECORDS, &nr), "the table can be read");
}

static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000 + (__u64)t.tv_nsec;
}

/* Pages that the table has of an area; all of one kind. */
static unsigned int pages_of(const char *at, unsigned int kind, unsigned int *samples)
{
	unsigned int pages = 0;

	for (size_t i = 0; i < nr; i++) {
		if (records[i].start < (__u64)at || records[i].start >= (__u64)at + SIZE)
			continue;
		check(records[i].kind == kind, "its kind is told");
		pages += records[i].resident_pages;
		*samples += records[i].samples;
	}
	return pages;
}

int main(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid(),
				.params = { .mask = HMK_PARAM_INTERVAL | HMK_PARAM_BUDGET, .interval_ns = 300000000, .budget_bp = 2000 } };
	struct hmk_set set = { .size = sizeof(set), .params = { .mask = HMK_PARAM_SCAN_COST, .scan_cost_ns = COST } };
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC), backing = open("/run/private", O_RDWR | O_CREAT, 0600);
	char *file, *shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int samples = 0, pages;
	__u64 given;

	check(!ftruncate(backing, SIZE), "a file");
	file = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, backing, 0);
	memset(file, 1, SIZE);
	munmap(file, SIZE);
	file = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, backing, 0);
	for (unsigned int i = 0; i < WRITTEN; i++)
		file[i * (SIZE / WRITTEN) / PAGE * PAGE] = 2;
	memset(shared, 1, SIZE);
	check(!ioctl(fd, HMK_IOC_ATTACH, &a) && !ioctl(fd, HMK_IOC_START), "attach and start");
	const void *table = mmap(NULL, a.table_bytes, PROT_READ, MAP_SHARED, fd, 0);

	for (int i = 0; i < 6; i++)
		next_interval(fd, table, a.table_bytes, file);
	pages = pages_of(file, HMK_KIND_ANON, &samples);
	printf("private file: %u pages, %u samples\n", pages, samples);
	check(pages == WRITTEN && samples <= WRITTEN, "only what was written counts");
	/* On a busy machine an interval may have no time for it: nobody accesses it, so its turn comes last. */
	samples = 0;
	for (int i = 0; i < MOST_INTERVALS && !samples; i++) {
		next_interval(fd, table, a.table_bytes, file);
		pages = pages_of(shared, HMK_KIND_SHMEM, &samples);
		printf("shared memory: %u pages, %u samples\n", pages, samples);
		check(pages == PAGES, "of shared memory all counts");
	}
	check(samples > 0, "and it is looked at");

	check(!ioctl(fd, HMK_IOC_SET, &set), "a cost of a scan is given");
	given = now_ns();
	do
		next_interval(fd, table, a.table_bytes, file);
	while (iv.start_ns <= given);	/* under way by then, however long that took us to say */
	for (int i = 0; i < 3; i++, next_interval(fd, table, a.table_bytes, file)) {
		check(iv.scan_cost_ns == COST, "it is in force, and no measurement changes it");
	}
	check(!ioctl(fd, HMK_IOC_STOP), "it stops");
	unlink("/run/private");
	return 0;
}

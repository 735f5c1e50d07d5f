// SPDX-License-Identifier: MIT
// Memory beyond 128 TiB, half of it written all the time: found hot there, and moved with its contents; by the library, too.
#include <hmk/lib/move.c>

#include <hmk/table_reader.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define PAGE 4096ul
#define REGION (2ul << 20)
#define SIZE (16 * REGION)
#define PAGES ((unsigned int)(SIZE / PAGE))
#define HIGH (1ul << 52)
#define INTERVALS 40	/* at most: beside others a guest gets few samples in eight */
#define MAX_RECORDS 4096
#define HOT_Q8 1024	/* 16 accesses a second to a leaf: what is not hot has none */

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

static void target(char *at, volatile int *ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned int i = 0; i < PAGES; i++)
		*(unsigned int *)(at + i * PAGE) = i;
	*ready = 1;
	for (;;) {
		for (unsigned int i = 0; i < PAGES / 2; i++)
			at[i * PAGE + 64]++;
	}
}

/* Pages found in the last interval; hot ones where it is hot, and where it is not. */
struct found { unsigned int pages, hot, wrong; };

static struct found found_in(const void *table, size_t table_bytes, const char *at)
{
	static struct hmk_record records[MAX_RECORDS];
	const __u64 start = (__u64)at, half = start + SIZE / 2, end = start + SIZE;
	struct found found = { 0 };
	struct hmk_interval iv;
	size_t nr = 0;

	if (hmk_table_read(table, table_bytes, &iv, records, MAX_RECORDS, &nr))
		check(0, "the table can be read");
	for (size_t i = 0; i < nr; i++) {
		const unsigned int pages = records[i].resident_pages, hot = records[i].rate_q8 >= HOT_Q8 ? pages : 0;

		if (records[i].start < start || records[i].start >= end)
			continue;
		found.pages += pages;
		*(records[i].start < half ? &found.hot : &found.wrong) += hot;
	}
	return found;
}

static int is_profiled(struct found found)
{
	return found.pages == PAGES && found.hot >= PAGES / 2 / 10 * 9 && found.wrong <= PAGES / 20;
}

/* What the module's ranges do not reach by the library's own limit the kernel is asked for. */
static void by_library(char *at)
{
	void *pages[] = { at, at + PAGE };
	const int nodes[] = { 2, 2 };
	int there[] = { -1, -1 };

	at[0] = 7;	/* the second is not there */
	check(!move_memory_regions(0, 2, pages, nodes, there, MPOL_MF_MOVE), "the library takes it");
	printf("statuses %d and %d\n", there[0], there[1]);
	check(there[0] == 2 && (there[1] == -ENOENT || there[1] == -EFAULT) && at[0] == 7, "and says what became of each page");
}

int main(void)
{
	static __s32 status[PAGES];
	volatile int *ready = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *at = mmap((void *)HIGH, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID,
				.params = { .mask = HMK_PARAM_INTERVAL, .interval_ns = 500000000 } };
	struct hmk_range r = { .start = (__u64)at, .length = SIZE, .node = 2, .status = (__u64)status };
	struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)&r, .nr_ranges = 1 };
	struct pollfd p = { .fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC), .events = POLLIN };
	unsigned int there = 0;
	int intervals = 0;
	struct found found;
	struct hmk_event event;

	check((unsigned long)at >= 1ul << 47, "memory beyond 128 TiB");
	madvise(at, SIZE, MADV_NOHUGEPAGE);
	a.pidfd = fork();
	if (!a.pidfd)
		target(at, ready);
	while (!*ready)
		sched_yield();
	check(!ioctl(p.fd, HMK_IOC_ATTACH, &a) && !ioctl(p.fd, HMK_IOC_START), "attach and start");
	const void *table = mmap(NULL, a.table_bytes, PROT_READ, MAP_SHARED, p.fd, 0);

	do {
		if (poll(&p, 1, 60000) != 1 || read(p.fd, &event, sizeof(event)) != sizeof(event))
			check(0, "an interval ends");
		found = found_in(table, a.table_bytes, at);
	} while (++intervals < INTERVALS && !is_profiled(found));
	printf("after %d intervals %u pages found, %u hot, %u wrongly so\n", intervals, found.pages, found.hot, found.wrong);
	check(is_profiled(found), "it is profiled");
	check(!ioctl(p.fd, HMK_IOC_MOVE, &m), "it is moved");
	for (unsigned int i = 0; i < PAGES; i++)
		there += status[i] == 2;
	printf("%u of %u pages moved\n", there, PAGES);
	check(there >= PAGES - PAGES / 8, "and is there");
	check(!ioctl(p.fd, HMK_IOC_STOP), "it stops");
	by_library(at);
	kill(a.pidfd, SIGKILL);
	waitpid(a.pidfd, NULL, 0);
	return 0;
}

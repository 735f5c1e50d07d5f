// SPDX-License-Identifier: MIT
// odd freed|poisoned|locked|partial|halved|full|unreadable|counted|busy-base|busy-huge: pages in states that a move must respect.
// Exit code 0, 1 when something is not as it must be, 3 when it could not be tested.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <linux/kernel-page-flags.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096ul
#define PAGES	512u
#define AREA	(PAGES * PAGE)
#define HALVED	96u

static int device;
static char *area;

static void must(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		exit(3);
	}
}

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

static void attach(pid_t pid)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid };

	device = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	must(device >= 0 && !ioctl(device, HMK_IOC_ATTACH, &a), "attach");
}

static struct hmk_range_result move_to(int node, uint32_t flags)
{
	struct hmk_range_result result = { 0 };
	struct hmk_range range = { .start = (uintptr_t)area, .length = AREA, .node = node };
	struct hmk_move move = { .size = sizeof(move), .flags = flags, .ranges = (uintptr_t)&range,
				 .results = (uintptr_t)&result, .nr_ranges = 1 };

	must(!ioctl(device, HMK_IOC_MOVE, &move), "MOVE");
	return result;
}

static uint64_t moved(const struct hmk_range_result *r)
{
	return r->pages_clean + r->pages_recopied + r->pages_sync;
}

static void map(int fd, int is_huge)
{
	char *at = mmap(NULL, 2 * AREA, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	must(at != MAP_FAILED, "mmap");
	area = fd < 0 ? at + (-(uintptr_t)at & (AREA - 1)) : at;
	must(fd >= 0 || !madvise(area, AREA, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE), "madvise");
	for (unsigned i = 0; i < PAGES; i++)
		*(uint64_t *)(area + i * PAGE) = i + 1;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static volatile int is_over;
static volatile uint64_t nr_moved;

static void *keep_moving(void *unused)
{
	(void)unused;
	for (int node = 0; !is_over; node = (node + 1) % 4) {
		struct hmk_range_result r = move_to(node, 0);

		nr_moved += moved(&r);
	}
	return NULL;
}

/* MADV_FREE after a write, while the page is copied ahead: it holds what was written, or nothing. */
static void freed(void)
{
	static uint64_t last[PAGES];
	uint64_t stale = 0, value = 1000;
	pthread_t mover;
	unsigned seed = 3;

	map(-1, 0);
	for (unsigned i = 0; i < PAGES; i++)
		last[i] = i + 1;
	attach(getpid());
	pin(1);
	must(!pthread_create(&mover, NULL, keep_moving, NULL), "pthread_create");
	pin(0);
	while (value < 8000 || nr_moved < 20 * PAGES) {
		unsigned i = (unsigned)rand_r(&seed) % PAGES;
		volatile uint64_t *word = (uint64_t *)(area + i * PAGE);

		stale += *word != last[i] && *word;
		*word = last[i] = ++value;
		madvise((void *)word, PAGE, MADV_FREE);
	}
	is_over = 1;
	pthread_join(mover, NULL);
	printf("%lu writes, %lu pages moved, %lu stale\n", value - 1000, nr_moved, stale);
	check(!stale, "a page freed lazily holds its last value or zero");
}

/* From 6.12 on the page's user learns of it at once; the call that poisons goes on after that. */
static void on_sigbus(int number)
{
	(void)number;
}

/* A huge page that could not be split when a part of it was poisoned stays mapped, and must not be copied. */
static void poisoned(void)
{
	struct hmk_range_result r;
	char byte;
	int ends[2];

	signal(SIGBUS, on_sigbus);
	map(-1, 1);
	attach(getpid());
	must(!pipe(ends), "pipe");
	must(vmsplice(ends[1], &(struct iovec){ area, 1 }, 1, 0) == 1, "vmsplice");	/* holds the huge page */
	madvise(area + 100 * PAGE, PAGE, MADV_HWPOISON);
	must(read(ends[0], &byte, 1) == 1, "read");
	r = move_to(2, 0);
	printf("moved %lu, refused as poisoned %llu\n", moved(&r), r.refused[HMK_REFUSED_POISONED]);
	check(!moved(&r) && r.refused[HMK_REFUSED_POISONED] == PAGES, "a huge page with a poisoned part is left alone");
	check(*(uint64_t *)(area + 99 * PAGE) == 100, "what was not poisoned is there");
}

static long locked_kb(void)
{
	char line[200];
	FILE *file;
	long kb = -1;

	must(!system("echo 1 > /proc/sys/vm/stat_refresh"), "stat_refresh");
	file = fopen("/proc/meminfo", "r");
	must(file != NULL, "/proc/meminfo");
	while (fgets(line, sizeof(line), file))
		sscanf(line, "Mlocked: %ld", &kb);
	fclose(file);
	return kb;
}

/* Two processes have locked the same memory: when one unlocks it, it stays locked. */
static void locked(void)
{
	int fd = memfd_create("locked", MFD_CLOEXEC), to_child[2], to_parent[2];
	struct hmk_range_result r;
	char byte = 0;
	long before;

	must(fd >= 0 && !ftruncate(fd, 2 * AREA) && !pipe(to_child) && !pipe(to_parent), "memfd");
	map(fd, 0);
	must(!mlock(area, AREA), "mlock");
	if (!fork()) {
		must(!mlock(area, AREA) && write(to_parent[1], &byte, 1) == 1, "mlock");
		must(read(to_child[0], &byte, 1) == 1 && !munlock(area, AREA), "munlock");
		must(write(to_parent[1], &byte, 1) == 1, "write");
		must(read(to_child[0], &byte, 1) == 1, "read");
		_exit(0);
	}
	must(read(to_parent[0], &byte, 1) == 1, "read");
	attach(getpid());
	r = move_to(2, HMK_MOVE_SHARED);
	check(moved(&r) == PAGES, "locked memory moves");
	before = locked_kb();
	must(write(to_child[1], &byte, 1) == 1 && read(to_parent[0], &byte, 1) == 1, "child");
	printf("locked: %ld kB with both, %ld kB with one\n", before, locked_kb());
	check(locked_kb() >= (long)(AREA / 1024), "what one still locks is locked");
	must(write(to_child[1], &byte, 1) == 1 && wait(NULL) > 0, "child");
}

/* The unmapped part of a huge page would be copied and never be freed. */
static void partial(void)
{
	struct hmk_range_result r;

	map(-1, 1);
	attach(getpid());
	must(!madvise(area + AREA / 2, AREA / 2, MADV_DONTNEED), "MADV_DONTNEED");
	r = move_to(2, 0);
	printf("moved %lu, refused by kind %llu, absent %llu\n", moved(&r), r.refused[HMK_REFUSED_KIND], r.pages_absent);
	check(!moved(&r) && r.refused[HMK_REFUSED_KIND] == PAGES / 2, "a huge page of which a part is unmapped is not moved whole");
	check(*(uint64_t *)(area + 7 * PAGE) == 8, "its other part is there");
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Whether it still belongs to a huge page, however it is mapped. */
static int is_of_huge(const char *at)
{
	const int map_of = open("/proc/self/pagemap", O_RDONLY), flags_of = open("/proc/kpageflags", O_RDONLY);
	uint64_t entry, flags;

	must(pread(map_of, &entry, 8, (off_t)((uintptr_t)at / PAGE * 8)) == 8, "pagemap");
	must(pread(flags_of, &flags, 8, (off_t)((entry & ((1ull << 55) - 1)) * 8)) == 8, "kpageflags");
	close(map_of);
	close(flags_of);
	return flags >> KPF_THP & 1;
}

/*
 * A half of each huge page is unmapped at some moment of its moves. Who moves it as a whole then moves it again: the
 * kernel knows no longer that a part is unmapped, and that part is never freed.
 */
static void halved(void)
{
	uint64_t took, wholes = 0;
	unsigned seed = 5;
	pthread_t mover;

	map(-1, 1);
	attach(getpid());
	move_to(1, 0);
	took = now_us();
	move_to(2, 0);
	took = now_us() - took;		/* a move of one */
	for (unsigned i = 0; i < HALVED; i++) {
		map(-1, 1);
		is_over = 0;
		nr_moved = 0;
		pin(1);
		must(!pthread_create(&mover, NULL, keep_moving, NULL), "pthread_create");
		pin(0);
		while (!nr_moved)	/* it moves as a whole */
			;
		for (uint64_t until = now_us() + (uint64_t)rand_r(&seed) % (4 * took); now_us() < until;)
			;
		must(!madvise(area + AREA / 2, AREA / 2, MADV_DONTNEED), "MADV_DONTNEED");
		is_over = 1;
		pthread_join(mover, NULL);
		for (int node = 0; node < 2; node++) {
			struct hmk_range_result r = move_to(node, 0);

			wholes += moved(&r) == PAGES / 2 && is_of_huge(area);
		}
		must(*(uint64_t *)(area + 7 * PAGE) == 8, "the other half is there");
	}
	printf("of %u huge pages that lost half while they moved, a move took %lu us, %lu moved as a whole\n", HALVED, took, wholes);
	check(!wholes, "a huge page that lost a part is not moved as a whole");
}

static uint64_t vmstat(const char *name)
{
	FILE *file = fopen("/proc/vmstat", "r");
	uint64_t value = 0, found = 0;
	char key[64];

	must(file != NULL, "/proc/vmstat");
	while (!found && fscanf(file, "%63s %lu", key, &value) == 2)
		found = !strcmp(key, name);
	fclose(file);
	must(found, name);
	return value;
}

/* Told of each step, the test looks how often the LRU's batches were emptied meanwhile. */
static void step(const char *what)
{
	char byte;

	printf("%s\n", what);
	fflush(stdout);
	must(read(0, &byte, 1) == 1, "go on");
}

/* What moves is counted as any migration is; the batches of all CPUs are emptied only for a page that sits in one. */
static void counted(void)
{
	static int32_t status[PAGES];
	struct hmk_range range = { .length = AREA, .node = -1, .status = (uintptr_t)status };
	struct hmk_move ask = { .size = sizeof(ask), .ranges = (uintptr_t)&range, .nr_ranges = 1 };
	struct hmk_range_result r;
	uint64_t before;

	pin(0);
	map(-1, 0);
	attach(getpid());
	range.start = (uintptr_t)area;
	before = vmstat("pgmigrate_success");
	r = move_to(2, 0);
	check(moved(&r) == PAGES && vmstat("pgmigrate_success") >= before + PAGES, "what moves is counted by the kernel");
	must(!system("echo 1 > /proc/sys/vm/drop_caches"), "drop_caches");	/* which empties them, too */
	step("settled");
	must(!ioctl(device, HMK_IOC_MOVE, &ask), "MOVE");
	step("asked");
	r = move_to(1, 0);
	check(moved(&r) == PAGES, "all of it moves");
	step("moved");
	must(!madvise(area, PAGE, MADV_DONTNEED), "MADV_DONTNEED");
	*(volatile uint64_t *)area = 1;	/* new, and in this CPU's batch */
	r = move_to(2, 0);
	check(moved(&r) == PAGES, "with one in a batch, too");
	step("from a batch");
}

/* Somebody else has filled the node nearly to its watermark: of six areas some find room. */
static void full(int node)
{
	const unsigned long other = node ? 1 : 2;
	uint64_t nr = 0, no_room = 0, parts = 0;

	/* No area begins where it is to go. */
	must(!syscall(SYS_set_mempolicy, MPOL_PREFERRED, &other, 64), "set_mempolicy");
	attach(getpid());
	for (unsigned round = 0; round < 12; round++) {
		struct hmk_range_result r;

		map(-1, 0);
		r = move_to(node, 0);
		nr += moved(&r);
		no_room += r.refused[HMK_REFUSED_NO_ROOM];
		parts += moved(&r) && r.refused[HMK_REFUSED_NO_ROOM];
		for (unsigned i = 0; i < PAGES; i++) {
			if (*(uint64_t *)(area + i * PAGE) != i + 1)
				check(0, "LOST: every page has its content");
		}
	}
	printf("{\"moved\": %lu, \"no_room\": %lu, \"parts\": %lu}\n", nr, no_room, parts);
}

/* A module with test switches takes every second 2 MiB of memory for unreadable. */
static void unreadable(uint32_t more)
{
	uint64_t refused = 0, nr = 0;

	attach(getpid());
	for (unsigned round = 0; round < 40; round++) {
		struct hmk_range_result r;

		if (round % 5 == 0)	/* one area may lie in such memory as a whole; it is kept, so the next lies elsewhere */
			map(-1, 0);
		r = move_to((int)round % 4, HMK_MOVE_TEST_POISON | more);

		refused += r.refused[HMK_REFUSED_POISONED];
		nr += moved(&r);
		for (unsigned i = 0; i < PAGES; i++) {
			if (*(uint64_t *)(area + i * PAGE) != i + 1)
				check(0, "LOST: every page has its content");
		}
	}
	printf("moved %lu, refused as poisoned %lu\n", nr, refused);
	check(nr && refused, "what cannot be read stays, the rest moves");
}

static void *keep_reading(void *cpu)
{
	pin((int)(intptr_t)cpu);
	for (volatile uint64_t sum = 0;;)
		sum += *(volatile uint64_t *)(area + (sum % PAGES) * PAGE);
	return NULL;
}

/* Another process uses the memory on both CPUs all the time, while it is moved. */
static void busy(int is_huge)
{
	struct hmk_range_result r;
	pid_t child;

	map(-1, is_huge);
	child = fork();
	if (!child) {
		pthread_t other;

		if (is_huge)
			madvise(area, AREA, MADV_DONTNEED);
		for (unsigned i = 0; i < PAGES; i++)
			*(uint64_t *)(area + i * PAGE) = i + 1;	/* its own copies */
		must(!pthread_create(&other, NULL, keep_reading, (void *)1), "pthread_create");
		keep_reading((void *)0);
	}
	pin(1);
	attach(child);
	for (r = move_to(3, 0); moved(&r) != PAGES; r = move_to(3, 0))
		move_to(2, 0);
	must(!system("echo > /sys/kernel/tracing/trace; echo 1 > /sys/kernel/tracing/events/tlb/tlb_flush/enable"), "trace");
	r = move_to(2, 0);
	must(!system("echo 0 > /sys/kernel/tracing/events/tlb/tlb_flush/enable"), "trace");
	printf("{\"pid\": %d, \"clean\": %llu, \"moved\": %lu}\n", getpid(), r.pages_clean, moved(&r));
	kill(child, SIGKILL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "freed"))
		freed();
	else if (!strcmp(what, "poisoned"))
		poisoned();
	else if (!strcmp(what, "locked"))
		locked();
	else if (!strcmp(what, "partial"))
		partial();
	else if (!strcmp(what, "halved"))
		halved();
	else if (!strcmp(what, "full"))
		full(argc > 2 ? atoi(argv[2]) : 0);
	else if (!strcmp(what, "counted"))
		counted();
	else if (!strcmp(what, "unreadable"))
		unreadable(argc > 2 ? HMK_MOVE_FORCE_VMA : 0);
	else if (!strcmp(what, "busy-base") || !strcmp(what, "busy-huge"))
		busy(!strcmp(what, "busy-huge"));
	else
		return 2;
	return 0;
}

// SPDX-License-Identifier: MIT
// One page in eight of an area is hot, wherever chance puts it, and later other ones are: what the
// table says of that, and what moves when its hot or its cold classes are asked for.
#define _GNU_SOURCE
#include <fcntl.h>
#include <hmk/table_reader.h>
#include <linux/kernel-page-flags.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1ul << 20)
#define PAGE 4096ul
#define SIZE (64 * MIB)
#define PAGES (SIZE / PAGE)
#define FILED (8 * MIB)		/* of a file in huge pages, mapped privately; one page of it is written */
#define INTERVALS 16		/* at most, until all is told right and has moved */
#define UNREAD_PAGES 32
#define FOLIO 16	/* pages of a folio where pages are neither small nor huge */
#define TURNS 4			/* as many times that many where pieces take turns */
#define MAX_RECORDS 4096
#define MAX_RANGES 512
#define HOT_Q8 512		/* 4 accesses a second; hot pages have 50, all others none */
#define SLOW 1
#define FAST 0

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

static unsigned long unit = 1;	/* pages that move as one, of which one is hot or none */

/* Of one unit in eight: a hash of its number (Steele, Vigna). @set: which of two hot sets. */
static int lies_hot(unsigned long page, int set)
{
	unsigned long z = (page / unit + 1 + (unsigned long)set * PAGES) * 0x9e3779b97f4a7c15ul;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
	return ((z ^ (z >> 31)) & 7) == 0;
}

static int is_hot(unsigned long page, int set)
{
	return page % unit == unit / 2 && lies_hot(page, set);
}

struct shared { volatile int ready, set, wrong; };

static volatile unsigned long *filed;

static int turns;	/* the budget pays for some of the pieces in an interval: what was not read yet waits */

/* Counts in each hot page, 50 times a second, and keeps the same counts elsewhere. */
static void target(volatile unsigned long *at, struct shared *sh)
{
	const struct timespec tick = { 0, 20000000 };
	static unsigned int counts[PAGES];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned long page = 0; page < PAGES; page++)
		at[page * PAGE / 8] = page << 32;
	filed[0]++;	/* what lies beside it in its table are the file's pages then */
	for (unsigned long byte = 0; byte < FILED; byte += PAGE)
		(void)filed[byte / 8];
	for (;;) {
		filed[0]++;
		for (unsigned long page = 0; page < PAGES; page++) {
			volatile unsigned long *word = &at[page * PAGE / 8];

			if (!is_hot(page, sh->set))
				continue;
			sh->wrong |= *word != (page << 32 | counts[page]);
			*word = page << 32 | ++counts[page];
		}
		sh->ready = 1;
		nanosleep(&tick, NULL);
	}
}

static struct hmk_interval iv;
static struct hmk_record records[MAX_RECORDS];
static size_t nr;

static const void *map_table(int fd, size_t *bytes)
{
	struct hmk_stats stats = { .size = sizeof(stats) };

	check(!ioctl(fd, HMK_IOC_STATS, &stats), "STATS");
	*bytes = stats.table_bytes;
	return mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, 0);
}

/* Its records, of the newest interval. */
static void next_interval(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event event;
	const void *table;
	size_t bytes;
	int err;

	check(poll(&p, 1, 20000) == 1 && read(fd, &event, sizeof(event)) == sizeof(event) &&
	      event.kind == HMK_EVENT_INTERVAL, "an interval ends");
	do {
		table = map_table(fd, &bytes);
		err = hmk_table_read(table, bytes, &iv, records, MAX_RECORDS, &nr);
		munmap((void *)table, bytes);
	} while (err == -ESTALE);
	check(!err, "its table can be read");
}

static unsigned int class_of(const struct hmk_record *r)
{
	return (r->flags & HMK_RECORD_CLASS_MASK) >> HMK_RECORD_CLASS_SHIFT;
}

/* Where pieces take turns: told by its samples alone. (Page by page what is alike is small.) */
static int is_unread(const struct hmk_record *r)
{
	return turns && !class_of(r) && r->resident_pages > UNREAD_PAGES;
}

/* How many pages of an area are told as hot, and as cold. Return: whether any by their class. */
static int count_in(const volatile void *at, unsigned long size, unsigned long *hot, unsigned long *cold)
{
	int classes = 0;

	*hot = *cold = 0;
	for (size_t i = 0; i < nr; i++) {
		if (records[i].start < (__u64)at || records[i].start >= (__u64)at + size || is_unread(&records[i]))
			continue;
		classes |= class_of(&records[i]) != 0;
		*(records[i].rate_q8 >= HOT_Q8 ? hot : cold) += records[i].resident_pages;
	}
	return classes;
}

static int count(const char *at, unsigned long *hot, unsigned long *cold)
{
	return count_in(at, SIZE, hot, cold);
}

/* What is hot and on the slow node to the fast one, or what is not the other way. */
static unsigned long move(int fd, const char *at, int hot, __u32 flags)
{
	static struct hmk_range ranges[MAX_RANGES];
	static struct hmk_range_result results[MAX_RANGES];
	struct hmk_move m = { .size = sizeof(m), .flags = flags, .ranges = (__u64)ranges, .results = (__u64)results };
	const int from = hot ? SLOW : FAST;
	unsigned long moved = 0;

	for (size_t i = 0; i < nr && m.nr_ranges < MAX_RANGES; i++) {
		const struct hmk_record *r = &records[i];

		if (r->start < (__u64)at || r->start >= (__u64)at + SIZE ||
		    (r->rate_q8 >= HOT_Q8) != hot || r->node != from || is_unread(r))
			continue;
		ranges[m.nr_ranges++] = (struct hmk_range){
			.start = r->start, .length = r->length, .node = hot ? FAST : SLOW,
			.flags = class_of(r) ? HMK_RANGE_CLASS(class_of(r) - 1) | HMK_RANGE_FROM(from) : 0,
		};
	}
	if (!m.nr_ranges)
		return 0;
	check(!ioctl(fd, HMK_IOC_MOVE, &m), "move");
	for (__u32 i = 0; i < m.nr_ranges; i++) {
		moved += results[i].pages_clean + results[i].pages_recopied + results[i].pages_sync;
		if (ranges[i].flags && results[i].pages_already)
			check(0, "only pages of the other node are taken");
	}
	return moved;
}

/* Of the pages of hot and of cold units: how many are on the fast node. */
static void count_fast(pid_t pid, char *at, int set, unsigned long *hot, unsigned long *cold)
{
	static void *pages[PAGES];
	static int status[PAGES];

	for (unsigned long i = 0; i < PAGES; i++)
		pages[i] = at + i * PAGE;
	if (syscall(SYS_move_pages, pid, PAGES, pages, NULL, status, 0))
		check(0, "where the pages are");
	*hot = *cold = 0;
	for (unsigned long i = 0; i < PAGES; i++)
		*(lies_hot(i, set) ? hot : cold) += status[i] == FAST;
}

/* How many units of the area are folios of their own. */
static unsigned long count_folios(pid_t pid, const char *at)
{
	static uint64_t frames[PAGES];
	const int flags = open("/proc/kpageflags", O_RDONLY);
	unsigned long nr = 0;
	char path[64];
	int map;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	map = open(path, O_RDONLY);
	check(flags >= 0 && pread(map, frames, sizeof(frames), (off_t)((unsigned long)at / PAGE * 8)) == sizeof(frames), "the frames of the area");
	for (unsigned long i = 0, whole; i < PAGES; i += unit, nr += whole) {
		const uint64_t first = frames[i] & ((1ull << 55) - 1);

		whole = 1;
		for (unsigned long k = 0; k < unit; k++) {
			uint64_t of = 0;

			if (pread(flags, &of, sizeof(of), (off_t)((first + k) * 8)) != sizeof(of))
				check(0, "the flags of a frame");
			whole &= (frames[i + k] & ((1ull << 55) - 1)) == first + k && of & 1ull << (k ? KPF_COMPOUND_TAIL : KPF_COMPOUND_HEAD);
		}
	}
	close(map);
	close(flags);
	return nr;
}

/* Move until what is hot, and nothing else, is on the fast node; @moved: in how many moves at most. */
static void follow(int fd, pid_t pid, char *at, struct shared *sh, unsigned long most, __u32 flags)
{
	unsigned long hot = 0, told_hot = 0, told_cold = 0, fast_hot = 0, fast_cold = 0, moved = 0;

	for (unsigned long i = 0; i < PAGES; i++)
		hot += is_hot(i, sh->set);
	for (int i = 0; i < (turns ? TURNS : 1) * INTERVALS && (told_hot != hot || told_cold != PAGES - hot || fast_hot != hot * unit || fast_cold); i++) {
		next_interval(fd);
		if (!count(at, &told_hot, &told_cold))
			continue;	/* what a page costs is not known yet: samples, of regions that are alike */
		moved += move(fd, at, 1, flags);
		moved += move(fd, at, 0, flags);
		count_fast(pid, at, sh->set, &fast_hot, &fast_cold);
		printf("interval %llu: %lu of %lu hot pages told, %lu cold; fast: %lu hot, %lu cold; profiled for %llu us of %llu, flags %u\n",
		       iv.seq, told_hot, hot, told_cold, fast_hot, fast_cold, iv.profile_ns / 1000, iv.budget_ns / 1000, iv.flags);
	}
	check(told_hot == hot && told_cold == PAGES - hot, "each hot page is told as hot, and no other");
	check(fast_hot == hot * unit && !fast_cold, "each hot page is on the fast node, and none but what moves with it");
	count_in(filed, FILED, &told_hot, &told_cold);
	printf("of a private file mapping: %lu hot pages told, %lu cold\n", told_hot, told_cold);
	check(told_hot + told_cold == 1, "of a private file mapping only what was written is told, huge pages or not");
	printf("%lu moves, %lu at most\n", moved, most);
	check(moved <= most, "few moves were in vain");
	check(unit == 1 || count_folios(pid, at) * unit == PAGES, "each folio has moved as one");
}

/* Somebody else moves them: says where they are, a line each time somebody asks. */
static void watch(pid_t pid, char *at, struct shared *sh)
{
	unsigned long hot = 0, fast_hot, fast_cold;
	char line[16];

	for (unsigned long i = 0; i < PAGES; i++)
		hot += is_hot(i, 0);
	printf("%d\n", pid);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		count_fast(pid, at, 0, &fast_hot, &fast_cold);
		printf("%lu %lu %lu %lu %d\n", hot, fast_hot, PAGES - hot, fast_cold, sh->wrong);
		fflush(stdout);
	}
}

/* Room for an area that begins where a huge page can. */
static char *room_for(unsigned long size)
{
	char *hole = mmap(NULL, size + 2 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	munmap(hole, size + 2 * MIB);
	return (char *)(((unsigned long)hole + 2 * MIB - 1) & ~(2 * MIB - 1));
}

static void map_file(void)
{
	const int fd = memfd_create("filed", MFD_CLOEXEC);
	char *all;

	if (ftruncate(fd, FILED))
		check(0, "a file");
	all = mmap(NULL, FILED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memset(all, 1, FILED);
	munmap(all, FILED);
	filed = mmap(room_for(FILED), FILED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	close(fd);
}

/* Of @pid, in KiB. */
static unsigned long file_mapped_huge(pid_t pid)
{
	char line[128], path[64];
	unsigned long kib = 0;
	FILE *smaps;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	smaps = fopen(path, "r");
	while (smaps && fgets(line, sizeof(line), smaps))
		sscanf(line, "ShmemPmdMapped: %lu kB", &kib);
	if (smaps)
		fclose(smaps);
	return kib;
}

static void prefer(int node)
{
	const unsigned long mask = 1ul << node;

	if (syscall(SYS_set_mempolicy, 1 /* MPOL_PREFERRED */, &mask, 64))
		check(0, "memory from one node");
}

int main(int argc, char **argv)
{
	const __u32 flags = argc > 1 && !strcmp(argv[1], "vma") ? HMK_MOVE_FORCE_VMA : 0;

	const __u32 budget_bp = argc > 2 ? (__u32)atoi(argv[2]) : argc > 1 && !strcmp(argv[1], "turns") ? 150 : 2000;

	turns = argc > 1 && !strcmp(argv[1], "turns");
	unit = argc > 1 && !strcmp(argv[1], "folios") ? FOLIO : 1;
	struct shared *sh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *at = room_for(SIZE);

	mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	madvise(at, SIZE, unit > 1 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	map_file();
	const pid_t pid = fork();

	if (!pid) {
		prefer(SLOW);
		target((volatile unsigned long *)at, sh);
	}
	while (!sh->ready)
		sched_yield();
	if (argc > 1 && !strcmp(argv[1], "watch")) {
		watch(pid, at, sh);
		return kill(pid, SIGKILL);
	}
	check(file_mapped_huge(pid) << 10 >= FILED - 2 * MIB, "the file is mapped by huge entries");

	struct hmk_attach a = {
		.size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid,
		.params = { .mask = HMK_PARAM_INTERVAL | HMK_PARAM_SWITCHES | HMK_PARAM_BUDGET,
			    .interval_ns = 2000000000, .switches = HMK_SWITCH_DENSE, .budget_bp = budget_bp },
	};
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	check(!ioctl(fd, HMK_IOC_ATTACH, &a) && !ioctl(fd, HMK_IOC_START), "attach and start");
	follow(fd, pid, at, sh, PAGES / 7, flags);	/* an eighth is hot */
	sh->set = 1;	/* in the middle of an interval: what it says is of both */
	follow(fd, pid, at, sh, PAGES / 2, flags);
	check(!sh->wrong, "the target reads what it wrote");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

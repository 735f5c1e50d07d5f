// SPDX-License-Identifier: MIT
// kinds NAME how [all]: makes 2 MiB of one kind of page, moves it, prints one JSON line about it, and
// after a line on its standard input changes it, checks it again and ends. how: "own" and "vma" name the path
// of the module, "library" is move_memory_regions(). "all" also takes what others have mapped. Exit code 0,
// 1 when something was lost, 3 when the kind cannot be made here.
#include <hmk/lib/move.c>

#include <err.h>
#include <inttypes.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define SIZE	4096ul
#define HUGE	(2ul << 20)
#define PAGES	512u
#define HOME	0
#define TARGET	2
#define CANNOT	3
#define PINNED	16u		/* what a pipe holds */
#define FILE_PATH	"/mnt/kinds"	/* ext4, mounted by the test */

struct area {
	char *at;
	unsigned int pages;
	int fd, pipe[2];
	pid_t child;
	int to_child;
};

struct outcome {
	int status[2 * PAGES], before[2 * PAGES], after[2 * PAGES];
	struct hmk_range_result result;
};

static int session = -1;

/* ---- contents ---------------------------------------------------------------- */

static unsigned int generation = 1;

static uint64_t word(unsigned int page, unsigned int at)
{
	return (uint64_t)generation << 48 | (uint64_t)page << 16 | at;
}

static void fill(struct area *a)
{
	for (unsigned int i = 0; i < a->pages; i++) {
		for (unsigned int k = 0; k < SIZE / 8; k++)
			((uint64_t *)(a->at + i * SIZE))[k] = word(i, k);
	}
}

static bool filled(const char *at, unsigned int pages)
{
	for (unsigned int i = 0; i < pages; i++) {
		for (unsigned int k = 0; k < SIZE / 8; k++) {
			if (((const uint64_t *)(at + i * SIZE))[k] != word(i, k))
				return false;
		}
	}
	return true;
}

static bool intact(struct area *a)
{
	return filled(a->at, a->pages);
}

/* ---- small helpers ----------------------------------------------------------- */

static void *map(size_t bytes, int prot, int flags, int fd)
{
	char *at = mmap(NULL, bytes + HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	at = (char *)(((uintptr_t)at + HUGE - 1) & ~(HUGE - 1));
	at = mmap(at, bytes, prot, flags | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	if (at == MAP_FAILED)
		err(CANNOT, "mmap");
	return at;
}

static void map_area(struct area *a, int flags, int fd)
{
	a->fd = fd;
	a->pages = PAGES;
	a->at = map(PAGES * SIZE, PROT_READ | PROT_WRITE, flags, fd);
	madvise(a->at, PAGES * SIZE, MADV_NOHUGEPAGE);
}

static void need(bool holds, const char *what)
{
	if (!holds)
		err(CANNOT, "%s", what);
}

/* Bits of the page's entry in /proc/self/pagemap. */
static uint64_t entry(const struct area *a, unsigned int page)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t bits = 0;

	need(pread(fd, &bits, 8, (long)((uintptr_t)a->at / SIZE + page) * 8) == 8, "pagemap");
	close(fd);
	return bits;
}

static unsigned int count_entries(const struct area *a, unsigned int bit)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < a->pages; i++)
		nr += entry(a, i) >> bit & 1;
	return nr;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long number_in(const char *path)
{
	FILE *file = fopen(path, "r");
	long value = -1;

	need(file && fscanf(file, "%ld", &value) == 1, path);
	fclose(file);
	return value;
}

static long vmstat(const char *name)
{
	FILE *file = fopen("/proc/vmstat", "r");
	char field[64];
	long value;

	need(file, "/proc/vmstat");
	while (fscanf(file, "%63s %ld", field, &value) == 2 && strcmp(field, name))
		;
	fclose(file);
	return value;
}

/* kB of a field of smaps, summed over the area's mappings. */
static long smaps_kb(const struct area *a, const char *field)
{
	const uintptr_t from = (uintptr_t)a->at, to = from + a->pages * SIZE;
	FILE *file = fopen("/proc/self/smaps", "r");
	uintptr_t start, end;
	bool inside = false;
	char line[512];
	long kb, sum = 0;

	need(file, "/proc/self/smaps");
	while (fgets(line, sizeof(line), file)) {
		const size_t length = strlen(field);

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2)
			inside = start >= from && end <= to;
		else if (inside && !strncmp(line, field, length) && sscanf(line + length, ": %ld", &kb) == 1)
			sum += kb;
	}
	fclose(file);
	return sum;
}

/* ---- anonymous memory -------------------------------------------------------- */

static void anon(struct area *a)
{
	map_area(a, MAP_PRIVATE, -1);
	fill(a);
}

static void read_only(struct area *a)
{
	anon(a);
	mprotect(a->at, PAGES * SIZE, PROT_READ);
}

static void no_access(struct area *a)
{
	anon(a);
	mprotect(a->at, PAGES * SIZE, PROT_NONE);
}

static void open_up(struct area *a)
{
	mprotect(a->at, PAGES * SIZE, PROT_READ | PROT_WRITE);
	if (!intact(a))
		errx(1, "LOST: what was written before the protection changed is gone");
}

static void locked(struct area *a)
{
	anon(a);
	need(!mlock(a->at, PAGES * SIZE), "mlock");
}

static void lazily_freed(struct area *a)
{
	anon(a);
	need(!madvise(a->at, PAGES * SIZE, MADV_FREE), "MADV_FREE");
}

static void huge(struct area *a)
{
	map_area(a, MAP_PRIVATE, -1);
	madvise(a->at, HUGE, MADV_HUGEPAGE);
	fill(a);
	need(smaps_kb(a, "AnonHugePages") == 2048, "a huge page");
}

/* Still one folio, but mapped by 512 entries. */
static void huge_by_entries(struct area *a)
{
	huge(a);
	mprotect(a->at + 5 * SIZE, SIZE, PROT_READ);
	mprotect(a->at + 5 * SIZE, SIZE, PROT_READ | PROT_WRITE);
	need(!smaps_kb(a, "AnonHugePages"), "a split entry");
}

static void zero(struct area *a)
{
	map_area(a, MAP_PRIVATE, -1);
	for (unsigned int i = 0; i < PAGES; i++)
		(void)*(volatile char *)(a->at + i * SIZE);
}

static void huge_zero(struct area *a)
{
	map_area(a, MAP_PRIVATE, -1);
	madvise(a->at, HUGE, MADV_HUGEPAGE);
	(void)*(volatile char *)a->at;
}

static void hole(struct area *a)
{
	map_area(a, MAP_PRIVATE, -1);
}

static bool all_zero(struct area *a)
{
	for (unsigned int i = 0; i < a->pages * SIZE; i++) {
		if (a->at[i])
			return false;
	}
	return true;
}

/* ---- what the kernel keeps account of in the entries --------------------------- */

static void write_protected_by_uffd(struct area *a)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect wp = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };

	anon(a);
	reg.range = wp.range = (struct uffdio_range){ (uintptr_t)a->at, PAGES * SIZE };
	a->fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	need(a->fd >= 0 && !ioctl(a->fd, UFFDIO_API, &api) && !ioctl(a->fd, UFFDIO_REGISTER, &reg) &&
	     !ioctl(a->fd, UFFDIO_WRITEPROTECT, &wp), "userfaultfd");
	need(count_entries(a, 57) == PAGES, "write-protected entries");
}

static bool still_protected_by_uffd(struct area *a)
{
	return intact(a) && count_entries(a, 57) == PAGES;
}

static void uffd_release(struct area *a)
{
	struct uffdio_writeprotect wp = { .range = { (uintptr_t)a->at, PAGES * SIZE } };

	ioctl(a->fd, UFFDIO_WRITEPROTECT, &wp);
}

/* Every second page is written after the bits were cleared. */
static void soft_dirty(struct area *a)
{
	const int fd = open("/proc/self/clear_refs", O_WRONLY);

	anon(a);
	need(write(fd, "4", 1) == 1, "clear_refs");
	close(fd);
	for (unsigned int i = 0; i < PAGES; i += 2)
		*(volatile uint64_t *)(a->at + i * SIZE) = word(i, 0);
}

static bool still_soft_dirty(struct area *a)
{
	return intact(a) && count_entries(a, 55) == PAGES / 2;
}

/* ---- shared with others ------------------------------------------------------- */

/* The child maps all of it, then waits for a word and looks: its copy is the old one, or the parent's. */
static void with_child(struct area *a, bool sees_writes)
{
	int ends[2];
	char c = 0;

	fill(a);
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	a->child = fork();
	if (!a->child) {
		close(ends[1]);
		if (!intact(a) || write(ends[0], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
			_exit(1);
		generation += sees_writes;
		_exit(!intact(a));
	}
	close(ends[0]);
	a->to_child = ends[1];
	need(read(a->to_child, &c, 1) == 1, "a child that has mapped everything");
}

static void forked(struct area *a)
{
	map_area(a, MAP_PRIVATE, -1);
	with_child(a, false);
}

static void shared_with_child(struct area *a)
{
	map_area(a, MAP_SHARED, -1);
	with_child(a, true);
}

/* ---- shared memory and files ---------------------------------------------------- */

static void shmem(struct area *a)
{
	map_area(a, MAP_SHARED, -1);
	fill(a);
}

static int file_of(const char *path, int flags)
{
	const int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : memfd_create("kinds", 0);
	struct area a = { .pages = PAGES };

	if (path)
		unlink(path);
	need(fd >= 0 && !ftruncate(fd, PAGES * SIZE), path ? path : "memfd");
	a.at = map(PAGES * SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	fill(&a);
	if (flags & O_SYNC)
		fsync(fd);
	munmap(a.at, PAGES * SIZE);
	return fd;
}

/* Reads every page, so that it is mapped. */
static void map_file(struct area *a, int flags, int fd)
{
	map_area(a, flags, fd);
	need(intact(a), "what was just written");
}

static void shmem_private(struct area *a)
{
	map_file(a, MAP_PRIVATE, file_of(NULL, 0));
}

static void tmpfs(struct area *a)
{
	map_file(a, MAP_SHARED, file_of("/dev/shm/kinds", 0));
}

static void file_clean(struct area *a)
{
	map_file(a, MAP_SHARED, file_of(FILE_PATH "/clean", O_SYNC));
}

static void file_dirty(struct area *a)
{
	map_file(a, MAP_SHARED, file_of(FILE_PATH "/dirty", 0));
	generation++;
	fill(a);
}

/* What is on the disk after fsync() is what was written through the mapping. */
static bool on_disk(struct area *a)
{
	char name[32], *buffer = map(PAGES * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, -1);
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", a->fd);
	fd = open(name, O_RDONLY | O_DIRECT);
	need(fd >= 0 && !fsync(a->fd) && pread(fd, buffer, PAGES * SIZE, 0) == PAGES * SIZE, "O_DIRECT");
	close(fd);
	return intact(a) && filled(buffer, PAGES);
}

static void file_copied(struct area *a)
{
	map_file(a, MAP_PRIVATE, file_of(FILE_PATH "/copied", O_SYNC));
	generation++;
	fill(a);
}

static void secret(struct area *a)
{
	const int fd = (int)syscall(SYS_memfd_secret, 0);

	need(fd >= 0 && !ftruncate(fd, PAGES * SIZE), "memfd_secret");
	map_area(a, MAP_SHARED, fd);
	fill(a);
}

static void hugetlb(struct area *a)
{
	a->pages = 2 * PAGES;
	a->at = map(2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_HUGETLB, -1);
	fill(a);
}

/* ---- not at home in an entry ----------------------------------------------------- */

static void page_out(struct area *a)
{
	const double end = now() + 20;

	do
		need(!madvise(a->at, PAGES * SIZE, MADV_PAGEOUT) && now() < end, "MADV_PAGEOUT");
	while (count_entries(a, 62) < PAGES);
}

static void swapped_out(struct area *a)
{
	anon(a);
	page_out(a);
}

/* Nobody moves a page while it is written to the disk. */
static void in_swap_cache(struct area *a)
{
	const double end = now() + 20;

	swapped_out(a);
	for (unsigned int i = 0; i < PAGES; i++)
		(void)*(volatile char *)(a->at + i * SIZE);
	while (vmstat("nr_writeback"))
		need(now() < end, "the end of the write-back");
}

static void merged(struct area *a)
{
	const double end = now() + 60;

	map_area(a, MAP_PRIVATE, -1);
	memset(a->at, 0x5a, PAGES * SIZE);
	need(!madvise(a->at, PAGES * SIZE, MADV_MERGEABLE), "MADV_MERGEABLE");
	while (number_in("/proc/self/ksm_merging_pages") < (long)PAGES) {
		if (now() > end)
			errx(CANNOT, "KSM has not merged everything within 60 s");
		usleep(10000);
	}
}

static bool all_alike(struct area *a)
{
	for (unsigned int i = 0; i < PAGES * SIZE; i++) {
		if (a->at[i] != 0x5a)
			return false;
	}
	return true;
}

/* ---- somebody holds a reference ---------------------------------------------------- */

static void held_by_pipe(struct area *a)
{
	struct iovec v;

	anon(a);
	v = (struct iovec){ a->at, PINNED * SIZE };
	need(!pipe(a->pipe) && vmsplice(a->pipe[1], &v, 1, 0) == (long)(PINNED * SIZE), "vmsplice");
}

/* The pipe's reader sees what was written, and lets go of the pages. */
static void read_pipe(struct area *a)
{
	static char buffer[PINNED * SIZE];
	size_t got = 0;

	while (got < sizeof(buffer)) {
		const ssize_t n = read(a->pipe[0], buffer + got, sizeof(buffer) - got);

		if (n <= 0)
			err(1, "pipe");
		got += (size_t)n;
	}
	if (!filled(buffer, PINNED))
		errx(1, "LOST: the pipe's content is not what was written");
}

static void pin(struct area *a)
{
	struct iovec v = { a->at, PINNED * SIZE };
	struct io_uring_params params = { 0 };

	a->fd = (int)syscall(SYS_io_uring_setup, 1, &params);
	need(a->fd >= 0 && !syscall(SYS_io_uring_register, a->fd, IORING_REGISTER_BUFFERS, &v, 1), "io_uring");
}

static void pinned(struct area *a)
{
	anon(a);
	pin(a);
}

static void huge_pinned(struct area *a)
{
	huge(a);
	pin(a);
}

static void unpin(struct area *a)
{
	need(!syscall(SYS_io_uring_register, a->fd, IORING_UNREGISTER_BUFFERS, NULL, 0), "io_uring");
}

/* ---- not the system's memory --------------------------------------------------------- */

static uint64_t rom_sum;

static uint64_t sum(const struct area *a)
{
	uint64_t s = 0;

	for (unsigned int i = 0; i < a->pages * SIZE / 8; i++)
		s = s * 31 + ((const uint64_t *)a->at)[i];
	return s;
}

static bool same_sum(struct area *a)
{
	return sum(a) == rom_sum;
}

static void pfn_mapped(struct area *a)
{
	const int fd = open("/dev/mem", O_RDONLY);

	a->pages = 16;
	a->at = mmap(NULL, 16 * SIZE, PROT_READ, MAP_SHARED, fd, 0xf0000);
	need(a->at != MAP_FAILED, "/dev/mem");
	rom_sum = sum(a);
}

static void vdso(struct area *a)
{
	a->pages = 1;
	a->at = (char *)getauxval(AT_SYSINFO_EHDR);
	rom_sum = sum(a);
}

static void own_table(struct area *a)
{
	struct hmk_stats stats = { .size = sizeof(stats) };

	need(session >= 0 && !ioctl(session, HMK_IOC_STATS, &stats), "HMK_IOC_STATS");
	a->pages = 1;
	a->at = mmap(NULL, stats.table_bytes, PROT_READ, MAP_SHARED, session, 0);
	need(a->at != MAP_FAILED, "the table");
	rom_sum = sum(a);
}

static const struct kind {
	const char *name;
	void (*make)(struct area *a);
	bool (*check)(struct area *a);		/* what must hold after the move */
	void (*release)(struct area *a);	/* before it is moved once more and written */
	bool is_const;				/* cannot be written */
} kinds[] = {
	{ "anon", anon, intact, NULL, false },
	{ "read-only", read_only, intact, open_up, false },
	{ "no access", no_access, NULL, open_up, false },
	{ "locked", locked, intact, NULL, false },
	{ "lazily freed", lazily_freed, intact, NULL, false },
	{ "huge", huge, intact, NULL, false },
	{ "huge, by entries", huge_by_entries, intact, NULL, false },
	{ "zero page", zero, all_zero, NULL, false },
	{ "huge zero page", huge_zero, all_zero, NULL, false },
	{ "hole", hole, all_zero, NULL, false },
	{ "userfaultfd", write_protected_by_uffd, still_protected_by_uffd, uffd_release, false },
	{ "soft-dirty", soft_dirty, still_soft_dirty, NULL, false },
	{ "forked", forked, intact, NULL, false },
	{ "shared, with a child", shared_with_child, intact, NULL, false },
	{ "shared", shmem, intact, NULL, false },
	{ "memfd, private", shmem_private, intact, NULL, false },
	{ "tmpfs", tmpfs, intact, NULL, false },
	{ "file, clean", file_clean, intact, NULL, false },
	{ "file, dirty", file_dirty, on_disk, NULL, false },
	{ "file, copied on write", file_copied, intact, NULL, false },
	{ "secret", secret, intact, NULL, false },
	{ "hugetlb", hugetlb, intact, NULL, false },
	{ "swapped out", swapped_out, intact, NULL, false },
	{ "swap cache", in_swap_cache, intact, NULL, false },
	{ "merged", merged, all_alike, NULL, false },
	{ "held by a pipe", held_by_pipe, intact, read_pipe, false },
	{ "pinned", pinned, intact, unpin, false },
	{ "huge, pinned", huge_pinned, intact, unpin, false },
	{ "PFN map", pfn_mapped, same_sum, NULL, true },
	{ "vDSO", vdso, same_sum, NULL, true },
	{ "table of hmk", own_table, same_sum, NULL, true },
};

/* ---- moving and telling ---------------------------------------------------------------- */

static void ask_where(const struct area *a, int *nodes)
{
	static void *pages[2 * PAGES];

	for (unsigned int i = 0; i < a->pages; i++)
		pages[i] = a->at + i * SIZE;
	if (syscall(SYS_move_pages, 0, a->pages, pages, NULL, nodes, 0))
		err(1, "move_pages");
}

static void move_by_module(const struct area *a, unsigned int flags, struct outcome *o)
{
	struct hmk_range range = {
		.start = (uintptr_t)a->at, .length = a->pages * SIZE, .node = TARGET, .status = (uintptr_t)o->status,
	};
	struct hmk_move m = {
		.size = sizeof(m), .flags = flags, .ranges = (uintptr_t)&range, .nr_ranges = 1,
		.results = (uintptr_t)&o->result,
	};

	if (ioctl(session, HMK_IOC_MOVE, &m))
		err(1, "HMK_IOC_MOVE");
}

static void move_by_library(const struct area *a, bool all, struct outcome *o)
{
	static void *pages[2 * PAGES];
	static int nodes[2 * PAGES];

	for (unsigned int i = 0; i < a->pages; i++) {
		pages[i] = a->at + i * SIZE;
		nodes[i] = TARGET;
	}
	if (move_memory_regions(0, a->pages, pages, nodes, o->status, all ? MPOL_MF_MOVE_ALL : MPOL_MF_MOVE) < 0)
		err(1, "move_memory_regions");
}

static void move(const struct area *a, const char *how, bool all, struct outcome *o)
{
	memset(o->status, 0x7f, sizeof(o->status));
	if (!strcmp(how, "library"))
		move_by_library(a, all, o);
	else
		move_by_module(a, (all ? HMK_MOVE_SHARED : 0) | (strcmp(how, "vma") ? 0 : HMK_MOVE_FORCE_VMA), o);
}

static void print_counts(const char *name, const int *values, unsigned int nr)
{
	const char *comma = "";

	printf("\"%s\": {", name);
	for (int v = -200; v < 64; v++) {
		unsigned int n = 0;

		for (unsigned int i = 0; i < nr; i++)
			n += values[i] == v;
		if (n)
			printf("%s\"%d\": %u", comma, v, n);
		comma = n ? ", " : comma;
	}
	printf("}, ");
}

static unsigned int nr_busy(const struct area *a, const struct outcome *o)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < a->pages; i++)
		nr += o->status[i] == -EBUSY;
	return nr;
}

/*
 * Once more when nothing holds the pages any longer, and whatever took the references is through. What all was busy and is held by
 * nobody whom we could let go stays so.
 */
static void move_again(const struct kind *k, const struct area *a, const char *how, bool all, struct outcome *o)
{
	const bool passes = k->release || nr_busy(a, o) < a->pages;
	const double end = now() + 10;

	do {
		move(a, how, all, o);
	} while (passes && nr_busy(a, o) && now() < end);
}

/* Written after the move: the child must see that, or must not. */
static bool rewritten(const struct kind *k, struct area *a)
{
	bool right;
	int status = 0;

	generation++;
	fill(a);
	right = k->check == on_disk ? on_disk(a) : intact(a);
	if (a->child) {
		if (write(a->to_child, "x", 1) != 1)
			err(1, "the child");
		waitpid(a->child, &status, 0);
	}
	return right && !status;
}

static bool play(const struct kind *k, const char *how, bool all)
{
	static struct outcome o;
	struct area a = { 0 };
	bool kept;

	k->make(&a);
	printf("{\"rss_before\": %ld, ", smaps_kb(&a, "Rss"));
	ask_where(&a, o.before);
	move(&a, how, all, &o);
	ask_where(&a, o.after);
	print_counts("status", o.status, a.pages);
	print_counts("before", o.before, a.pages);
	print_counts("after", o.after, a.pages);
	printf("\"clean\": %llu, \"recopied\": %llu, \"sync\": %llu, \"absent\": %llu, \"already\": %llu, "
	       "\"rss\": %ld, \"huge\": %ld, ", o.result.pages_clean, o.result.pages_recopied, o.result.pages_sync,
	       o.result.pages_absent, o.result.pages_already, smaps_kb(&a, "Rss"), smaps_kb(&a, "AnonHugePages"));
	kept = !k->check || k->check(&a);
	printf("\"kept\": %s}\n", kept ? "true" : "false");
	fflush(stdout);
	(void)getchar();
	if (k->release)
		k->release(&a);
	move_again(k, &a, how, all, &o);
	putchar('{');
	print_counts("again", o.status, a.pages);
	kept &= k->is_const || rewritten(k, &a);
	printf("\"kept\": %s}\n", kept ? "true" : "false");
	return kept;
}

int main(int argc, char **argv)
{
	const unsigned long home = 1ul << HOME;

	if (argc < 3)
		errx(2, "usage: kinds NAME own|vma|library [all]");
	need(!syscall(SYS_set_mempolicy, MPOL_PREFERRED, &home, 64), "set_mempolicy");
	session = open_session(0);
	need(session >= 0, HMK_DEVICE_PATH);
	for (const struct kind *k = kinds; k < kinds + sizeof(kinds) / sizeof(*kinds); k++) {
		if (!strcmp(k->name, argv[1]))
			return !play(k, argv[2], argc > 3);
	}
	errx(2, "no kind of page is called '%s'", argv[1]);
}

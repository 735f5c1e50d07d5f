// SPDX-License-Identifier: MIT
// io KIND FLAGS SECONDS DEVICE...: the kernel reads and writes memory that moves; is every word right?
//
// KIND: base, thp, shmem, or shared (mapped twice). FLAGS: HMK_MOVE_* of each move. Each DEVICE is written over. What a
// device must hold is kept in memory that does not move; so is what an area must hold. One thread on CPU 0 reads and
// writes, the mover has CPU 1. One line of JSON; exit 0 when nothing was wrong, 1 when something was, 3 when it could not
// be tested.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "mover.h"

#define DEVICE_BYTES	(16ul << 20)
#define PAGE		4096ul
#define SPLICE		(256ul << 10)
#define MOST_AT_ONCE	4u
#define WAYS		12u
#define LONGER		60	/* seconds beyond those asked for, until nothing is lacking */

struct device {
	int fd;
	char *image;		/* what it holds */
};

static struct device devices[2];
static unsigned nr_devices;
static char *areas, *view;	/* the same memory; looked at by @view */
static char *expected, *bounce;	/* AREA bytes each */
static int is_huge, is_shmem;
static unsigned seed = 7;
static uint64_t reads, writes, wrong, wrong_words, nr_by[WAYS];

static unsigned draw(unsigned n)
{
	return (unsigned)((uint64_t)rand_r(&seed) * n >> 31);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static void compare(const char *found, const char *right, size_t length, const char *what)
{
	uint64_t words = 0;

	if (!memcmp(found, right, length))
		return;
	for (size_t i = 0; i < length; i += 8)
		words += !!memcmp(found + i, right + i, 8);
	wrong++;
	wrong_words += words;
	fprintf(stderr, "LOST: %s of %zu bytes: %lu words wrong\n", what, length, words);
}

/* Bytes never seen before, in every word of every page. */
static void draw_bytes(char *to, size_t length)
{
	static uint64_t number;

	for (size_t i = 0; i < length / 8; i++)
		((uint64_t *)to)[i] = ++number * 0x9e3779b97f4a7c15ull;
}

static struct io draw_io(unsigned area)
{
	struct device *device = &devices[draw(nr_devices)];
	size_t length = draw(4) ? (1 + draw(64)) * PAGE : AREA;
	size_t in_area = draw((unsigned)((AREA - length) / PAGE + 1)) * PAGE;

	return (struct io){ .fd = device->fd, .buffer = areas + area * AREA + in_area, .length = length,
			    .at = (off_t)(draw((unsigned)((DEVICE_BYTES - length) / PAGE + 1)) * PAGE) };
}

static struct device *device_of(const struct io *io)
{
	return &devices[io->fd != devices[0].fd];
}

static const char *seen(const char *buffer)
{
	return view + (buffer - areas);
}

typedef void engine(struct io *io, unsigned nr);

static void read_some(engine *run, unsigned most)
{
	unsigned nr = 1 + draw(most), first = draw(AREAS);
	struct io io[MOST_AT_ONCE];

	for (unsigned i = 0; i < nr; i++)
		io[i] = draw_io((first + i) % AREAS);
	run(io, nr);
	for (unsigned i = 0; i < nr; i++)
		compare(seen(io[i].buffer), device_of(&io[i])->image + io[i].at, io[i].length, "read");
	reads += nr;
}

/* The longest there is of what a late count misses. */
static void read_whole(void)
{
	struct io io = { .fd = devices[0].fd, .buffer = areas + draw(AREAS) * AREA, .length = AREA,
			 .at = (off_t)(draw((unsigned)((DEVICE_BYTES - AREA) / PAGE + 1)) * PAGE) };

	by_pread(&io, 1);
	compare(seen(io.buffer), devices[0].image + io.at, io.length, "read");
	reads++;
}

static void write_one(engine *run)
{
	struct io io = draw_io(draw(AREAS));
	struct io back = io;

	draw_bytes(expected, io.length);
	memcpy(io.buffer, expected, io.length);
	io.is_write = 1;
	run(&io, 1);
	memcpy(device_of(&io)->image + io.at, expected, io.length);
	back.buffer = bounce;
	by_pread(&back, 1);
	compare(bounce, expected, io.length, "write");
	compare(seen(io.buffer), expected, io.length, "memory after a write");
	writes++;
}

static void splice_one(void)
{
	char *buffer = areas + draw(AREAS) * AREA + draw((AREA - SPLICE) / PAGE) * PAGE;

	draw_bytes(expected, SPLICE);
	memcpy(buffer, expected, SPLICE);
	by_vmsplice(buffer, bounce, SPLICE);
	compare(bounce, expected, SPLICE, "vmsplice");
	writes++;
}

static void through_process(void (*run)(char *, char *, size_t, int))
{
	size_t length = (1 + draw(64)) * PAGE;
	char *buffer = areas + draw(AREAS) * AREA + draw((unsigned)((AREA - length) / PAGE + 1)) * PAGE;

	draw_bytes(expected, length);
	run(buffer, expected, length, 1);
	compare(seen(buffer), expected, length, "written by another");
	memset(bounce, 0, length);
	run(buffer, bounce, length, 0);
	compare(bounce, expected, length, "read by another");
	reads++;
	writes++;
}

static void empty(char *area)
{
	must(!madvise(area, AREA, is_shmem ? MADV_REMOVE : MADV_DONTNEED), "madvise");
}

/* Leaves the area as it began: huge where it was. */
static void swap_one(void)
{
	char *area = areas + draw(AREAS) * AREA;

	memcpy(expected, seen(area), AREA);
	must(!madvise(area, AREA, MADV_PAGEOUT), "MADV_PAGEOUT");
	compare(seen(area), expected, AREA, "swapped in");
	if (is_huge)
		empty(area);
	draw_bytes(area, AREA);
	reads++;
}

static void fault_one(void)
{
	char *area = areas + draw(AREAS) * AREA;

	draw_bytes(expected, AREA);
	empty(area);
	by_userfaultfd(area, expected, AREA);
	compare(seen(area), expected, AREA, "userfaultfd");
	empty(area);
	draw_bytes(area, AREA);
	reads++;
}

/* From a deck in which each way has its share, shuffled anew when it is dealt: however few come, none is left out. */
static unsigned deal(void)
{
	/* As many writes as reads come of it: of several at once each counts. */
	static const unsigned share[WAYS] = { 12, 16, 6, 12, 6, 12, 2, 4, 4, 4, 1, 1 };
	static unsigned left[WAYS], sum;
	unsigned at, what = 0;

	if (!sum) {
		memcpy(left, share, sizeof(left));
		for (unsigned i = 0; i < WAYS; i++)
			sum += share[i];
	}
	for (at = draw(sum); at >= left[what]; what++)
		at -= left[what];
	left[what]--;
	sum--;
	nr_by[what]++;
	return what;
}

static void one(void)
{
	switch (deal()) {
	case 0: read_some(by_pread, 1); break;
	case 1: write_one(by_pread); break;
	case 2: read_some(by_aio, MOST_AT_ONCE); break;
	case 3: write_one(by_aio); break;
	case 4: read_some(by_uring, MOST_AT_ONCE); break;
	case 5: write_one(by_uring); break;
	case 6: read_some(by_registered, MOST_AT_ONCE); break;
	case 7: splice_one(); break;
	case 8: through_process(by_process_vm); break;
	case 9: through_process(by_proc_mem); break;
	case 10: swap_one(); break;
	case 11: fault_one(); break;
	}
}

static char *map(int fd, int flags)
{
	char *at = mmap(NULL, (AREAS + 1) * AREA, PROT_READ | PROT_WRITE, flags, fd, 0);

	must(at != MAP_FAILED, "mmap");
	return at + (-(uintptr_t)at & (AREA - 1)) * (fd < 0);
}

static void prepare(const char *kind)
{
	int fd = -1;

	is_huge = !strcmp(kind, "thp");
	is_shmem = !strncmp(kind, "sh", 2);
	if (is_shmem)
		fd = memfd_create("areas", MFD_CLOEXEC);
	must(!is_shmem || (fd >= 0 && !ftruncate(fd, (AREAS + 1) * AREA)), "memfd");
	areas = map(fd, is_shmem ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
	must(is_shmem || !madvise(areas, AREAS * AREA, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE), "madvise");
	draw_bytes(areas, AREAS * AREA);
	view = strcmp(kind, "shared") ? areas : map(fd, MAP_SHARED);
	expected = map(-1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE);
	bounce = map(-1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE);
	open_ring();
}

static void add_device(const char *path)
{
	struct device *d = &devices[nr_devices++];

	d->fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	must(d->fd >= 0, path);
	d->image = mmap(NULL, DEVICE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(d->image != MAP_FAILED, "mmap");
	draw_bytes(d->image, DEVICE_BYTES);
	by_pread(&(struct io){ d->fd, d->image, DEVICE_BYTES, 0, 1 }, 1);
}

/* Each way was gone, the mover has done both, and met pages that were held: migrate_vma is not told why one stays. */
static int lacks_nothing(const struct mover *m)
{
	for (unsigned i = 0; i < WAYS; i++) {
		if (!nr_by[i])
			return 0;
	}
	return m->tickets > 1 && m->calls > 1 && m->moved && (m->held || m->flags & HMK_MOVE_FORCE_VMA);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A control ends when it is shown. */
static int goes_on(const struct mover *m, double end)
{
	if (m->flags & HMK_MOVE_TEST_LATE_COUNT)
		return now() < end && !wrong;
	return now() < end || (now() < end + LONGER && !lacks_nothing(m));
}

int main(int argc, char **argv)
{
	struct mover mover = { 0 };
	pthread_t thread;
	double end;

	if (argc < 5)
		return 2;
	prepare(argv[1]);
	for (int i = 4; i < argc && nr_devices < 2; i++)
		add_device(argv[i]);
	mover.areas = areas;
	mover.flags = (uint32_t)strtoul(argv[2], NULL, 0);
	pin(1);
	must(!pthread_create(&thread, NULL, run_mover, &mover), "pthread_create");
	pin(0);
	for (end = now() + atof(argv[3]); goes_on(&mover, end);) {
		if (mover.flags & HMK_MOVE_TEST_LATE_COUNT)
			read_whole();
		else
			one();
	}
	mover.is_ending = 1;
	pthread_join(thread, NULL);
	printf("{\"reads\": %lu, \"writes\": %lu, \"wrong\": %lu, \"wrong_words\": %lu, \"held\": %lu, \"moved\": %lu, "
	       "\"tickets\": %lu, \"calls\": %lu, \"ways\": [", reads, writes, wrong, wrong_words, mover.held, mover.moved,
	       mover.tickets, mover.calls);
	for (unsigned i = 0; i < WAYS; i++)
		printf("%s%lu", i ? ", " : "", nr_by[i]);
	printf("]}\n");
	return wrong ? 1 : 0;
}

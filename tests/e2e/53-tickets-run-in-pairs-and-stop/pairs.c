// SPDX-License-Identifier: MIT
// Tickets with two ranges under way at a time, and tickets that are stopped.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB		(1ul << 20)
#define PIECE		(2 * MIB)
#define PIECES		16u	/* of each half */
#define HALF		(PIECES * PIECE)
#define RANGES		(2 * PIECES)
#define PIECE_PAGES	(PIECE / HMK_PAGE_SIZE)
#define TICKETS		10u
#define FIRST		2	/* nodes between which the halves change places */
#define SECOND		3
#define TRIES		5	/* a second worker that the host lets wait too long never begins */

static char *memory;	/* the half that is on FIRST, then the one on SECOND */
static int fd;
static struct hmk_range_result results[RANGES];

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000ull + (__u64)t.tv_nsec;
}

static long *word_of(unsigned long page)
{
	return (long *)(memory + page * HMK_PAGE_SIZE) + page % 512;
}

static void fill(void)
{
	memory = mmap(NULL, 2 * HALF + PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memory += -(unsigned long)memory & (PIECE - 1);
	madvise(memory, 2 * HALF, MADV_NOHUGEPAGE);
	for (int half = 0; half < 2; half++) {
		unsigned long nodes = 1ul << (half ? SECOND : FIRST);

		syscall(SYS_mbind, memory + half * HALF, HALF, MPOL_PREFERRED, &nodes, 64, 0);
	}
	for (unsigned long i = 0; i < 2 * HALF / HMK_PAGE_SIZE; i++)
		*word_of(i) = (long)i + 1;
}

static int intact(void)
{
	for (unsigned long i = 0; i < 2 * HALF / HMK_PAGE_SIZE; i++) {
		if (*word_of(i) != (long)i + 1) {
			printf("LOST: page %lu holds %ld\n", i, *word_of(i));
			return 0;
		}
	}
	return 1;
}

/* Pages of a piece that are on @node. */
static __u64 count_on(const char *piece, int node)
{
	void *pages[PIECE_PAGES];
	int status[PIECE_PAGES];
	__u64 n = 0;

	for (unsigned long i = 0; i < PIECE_PAGES; i++)
		pages[i] = (char *)piece + i * HMK_PAGE_SIZE;
	syscall(SYS_move_pages, 0, PIECE_PAGES, pages, NULL, status, 0);
	for (unsigned long i = 0; i < PIECE_PAGES; i++)
		n += status[i] == node;
	return n;
}

static int attach(pid_t pid)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid };
	int new = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	check(new >= 0 && !ioctl(new, HMK_IOC_ATTACH, &a), "a session");
	return new;
}

/* The halves change places, piece by piece, one up and one down. */
static struct hmk_range range_of(unsigned int i, int back)
{
	const int half = i & 1;

	return (struct hmk_range){
		.start = (unsigned long)memory + half * HALF + i / 2 * PIECE, .length = PIECE,
		.node = half ^ back ? FIRST : SECOND,
	};
}

static int queue(__u64 cookie, __u32 flags, int back)
{
	struct hmk_range ranges[RANGES];
	struct hmk_move m = {
		.size = sizeof(m), .flags = HMK_MOVE_TICKET | flags, .cookie = cookie,
		.ranges = (unsigned long)ranges, .nr_ranges = RANGES,
	};

	for (unsigned int i = 0; i < RANGES; i++)
		ranges[i] = range_of(i, back);
	return ioctl(fd, HMK_IOC_MOVE, &m);
}

static struct hmk_event next_event(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hmk_event ev;

	check(poll(&p, 1, 60000) == 1 && read(fd, &ev, sizeof(ev)) == sizeof(ev), "an event");
	return ev;
}

static void fetch(__u64 cookie)
{
	struct hmk_result r = { .size = sizeof(r), .cookie = cookie, .nr_ranges = RANGES,
				.results = (unsigned long)results };

	check(!ioctl(fd, HMK_IOC_RESULT, &r), "its results");
}

static int cancel(__u64 cookie)
{
	struct hmk_result r = { .size = sizeof(r), .flags = HMK_RESULT_CANCEL, .cookie = cookie };

	return ioctl(fd, HMK_IOC_RESULT, &r);
}

/* Return: pages that moved; and of all ranges, that they ended as @error says. */
static __u64 moved(int error)
{
	__u64 n = 0;

	for (unsigned int i = 0; i < RANGES; i++) {
		check(!results[i].error || results[i].error == error, "a range ends well or as it should");
		n += results[i].pages_clean + results[i].pages_recopied + results[i].pages_sync;
	}
	return n;
}

/* How much of the ticket's time its ranges were under way, summed, in percent. */
static __u64 overlap(__u32 flags, int back)
{
	__u64 begin, sum = 0, wall, pages;
	struct hmk_event ev;

	begin = now_ns();
	check(!queue(1, flags, back), "a ticket");
	ev = next_event();
	check(ev.kind == HMK_EVENT_TICKET && ev.value == 1, "it is told");
	wall = ev.time_ns - begin;
	fetch(1);
	pages = moved(0);
	for (unsigned int i = 0; i < RANGES; i++)
		sum += results[i].prepare_ns + results[i].copy_ns + results[i].commit_ns;
	printf("paired %d: pages %llu of %lu, under way %llu ns in %llu ns\n", !!flags, pages,
	       RANGES * PIECE_PAGES, sum, wall);
	check(pages >= RANGES * PIECE_PAGES * 99 / 100, "all but a few moved");
	for (unsigned int i = 0; i < RANGES; i++) {
		struct hmk_range r = range_of(i, back);
		__u64 n = results[i].pages_clean + results[i].pages_recopied + results[i].pages_sync;

		if (count_on((char *)(unsigned long)r.start, r.node) != n + results[i].pages_already)
			check(0, "each range's result is what move_pages(2) finds");
	}
	check(intact(), "nothing is lost");
	return sum * 100 / wall;
}

static void cancelled(void)
{
	unsigned int stopped = 0;
	__u64 pages = 0;

	for (__u64 i = 0; i < TICKETS; i++)
		check(!queue(i + 1, HMK_MOVE_PAIRED, i & 1), "tickets");
	for (__u64 i = TICKETS; i; i--)
		check(!cancel(i), "stopped, the last first");
	for (unsigned int i = 0; i < TICKETS; i++) {
		struct hmk_event ev = next_event();

		fetch(ev.value);
		pages += moved(-ECANCELED);
		stopped += results[RANGES - 1].error == -ECANCELED;
		if (ev.value == TICKETS) {
			for (unsigned int r = 0; r < RANGES; r++)
				check(results[r].error == -ECANCELED && !results[r].chunks, "one that had not begun never does");
		}
	}
	printf("cancelled: %u tickets, %llu pages had moved\n", stopped, pages);
	check(stopped >= TICKETS - 2, "what was stopped did not run to its end");
	check(pages < TICKETS * RANGES * PIECE_PAGES / 2, "nor far");
	check(intact(), "nothing is lost");
	check(cancel(1) && errno == ENOENT, "a fetched ticket cannot be stopped");
}

static void refused(void)
{
	struct hmk_range range = range_of(0, 0);
	struct hmk_move m = { .size = sizeof(m), .flags = HMK_MOVE_PAIRED, .ranges = (unsigned long)&range, .nr_ranges = 1 };
	struct hmk_result r = { .size = sizeof(r), .flags = HMK_RESULT_CANCEL, .nr_ranges = 1 };

	check(ioctl(fd, HMK_IOC_MOVE, &m) && errno == EINVAL, "a pair needs a ticket");
	check(ioctl(fd, HMK_IOC_RESULT, &r) && errno == EINVAL, "stopping takes no ranges");
	r.nr_ranges = 0;
	r.results = 4096;
	check(ioctl(fd, HMK_IOC_RESULT, &r) && errno == EINVAL, "nor results");
	r.flags = HMK_RESULT_CANCEL << 1;
	check(ioctl(fd, HMK_IOC_RESULT, &r) && errno == EINVAL, "unknown flag");
}

/* A target that is killed while its ticket runs: what was to come is left out. */
static void target_killed(void)
{
	int own = fd, ready[2];
	struct hmk_event ev;
	pid_t pid;

	check(!pipe(ready), "a pipe");
	pid = fork();
	if (!pid) {
		fill();	/* at the same place: memory of its own, and more of it */
		if (write(ready[1], &memory, sizeof(memory)) != sizeof(memory))
			_exit(3);
		pause();
	}
	check(read(ready[0], &memory, sizeof(memory)) == sizeof(memory), "a target");
	fd = attach(pid);
	check(!queue(1, HMK_MOVE_PAIRED, 0) && !queue(2, 0, 1), "two tickets");
	kill(pid, SIGKILL);
	for (int i = 0; i < 2; i++) {
		ev = next_event();
		fetch(ev.value);
		printf("killed: ticket %llu moved %llu pages\n", ev.value, moved(-ESRCH));
	}
	check(results[RANGES - 1].error == -ESRCH, "what comes after the end of a target is not moved");
	check(next_event().kind == HMK_EVENT_GONE, "a session that only moves is told, too, that its target has gone");
	waitpid(pid, NULL, 0);
	close(fd);
	fd = own;
}

/* The first half to each node in turn. */
static int visit(char **nodes)
{
	fill();
	fd = attach(getpid());
	for (; *nodes; nodes++) {
		struct hmk_range range = { (unsigned long)memory, HALF, atoi(*nodes), 0, 0 };
		struct hmk_move m = { .size = sizeof(m), .ranges = (unsigned long)&range, .nr_ranges = 1 };

		check(!ioctl(fd, HMK_IOC_MOVE, &m), "a visit");
	}
	check(intact(), "nothing is lost");
	return 0;
}

int main(int argc, char **argv)
{
	char *own;
	__u64 one = 0, two = 0;

	if (argc > 1)
		return visit(argv + 1);
	fill();
	fd = attach(getpid());
	refused();
	for (int i = 0; i < TRIES && one <= 100 && two < 120; i++) {
		one = overlap(0, 0);
		two = overlap(HMK_MOVE_PAIRED, 1);
	}
	check(one <= 100, "without the flag one range after the other");
	check(two >= 120, "with it two at a time");
	cancelled();
	own = memory;
	target_killed();
	memory = own;
	check(intact(), "nothing is lost");
	printf("overlap %llu %llu\n", one, two);
	return 0;
}

// SPDX-License-Identifier: MIT
// Memory that a program has bound (MPOL_BIND) does not leave its nodes, on any path, unless the move says that it wins.
#include <hmk/lib/move.c>

#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES	64
#define BYTES	(PAGES * 4096ul)
#define HOME	2
#define OTHER	1
#define NODES(a, b)	(1ul << (a) | 1ul << (b))

static int fd, failures;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Pages of its own on HOME, whatever policy is laid over them later. */
static char *pages_at_home(int flags)
{
	const unsigned long home = NODES(HOME, HOME);
	char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

	if (at == MAP_FAILED || syscall(SYS_mbind, at, BYTES, MPOL_BIND, &home, 64, 0))
		fail("pages on their node");
	madvise(at, BYTES, MADV_NOHUGEPAGE);
	memset(at, 1, BYTES);
	if (syscall(SYS_mbind, at, BYTES, MPOL_DEFAULT, NULL, 0, 0))
		fail("mbind back");
	return at;
}

static struct hmk_range_result move(const char *at, __u32 flags, int *status)
{
	struct hmk_range_result got = { 0 };
	struct hmk_range r = { .start = (__u64)at, .length = BYTES, .node = OTHER, .status = (__u64)status };
	struct hmk_move m = { .size = sizeof(m), .flags = flags, .ranges = (__u64)&r, .results = (__u64)&got, .nr_ranges = 1,
			      .cookie = 1 };
	struct hmk_result fetch = { .size = sizeof(fetch), .cookie = 1, .results = (__u64)&got, .nr_ranges = 1 };

	if (flags & HMK_MOVE_TICKET)
		m.results = r.status = 0;
	if (ioctl(fd, HMK_IOC_MOVE, &m))
		fail("MOVE");
	while (flags & HMK_MOVE_TICKET && ioctl(fd, HMK_IOC_RESULT, &fetch)) {
		if (errno != EAGAIN || poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 30000) != 1 ||
		    read(fd, &(struct hmk_event){ 0 }, sizeof(struct hmk_event)) < 0)
			fail("RESULT");
	}
	return got;
}

static int count_on(char *at, int node)
{
	void *pages[PAGES];
	int status[PAGES], n = 0;

	for (int i = 0; i < PAGES; i++)
		pages[i] = at + i * 4096;
	if (syscall(SYS_move_pages, 0, PAGES, pages, NULL, status, 0))
		fail("move_pages");
	for (int i = 0; i < PAGES; i++)
		n += status[i] == node;
	return n;
}

static void row(const char *what, char *at, __u32 flags, int moves)
{
	int status[PAGES];
	struct hmk_range_result got;
	int as_told = 1;

	memset(status, 0, sizeof(status));
	got = move(at, flags, status);
	for (int i = 0; i < PAGES && !(flags & HMK_MOVE_TICKET); i++)
		as_told &= status[i] == (moves ? OTHER : -EPERM);
	as_told &= got.refused[HMK_REFUSED_POLICY] == (moves ? 0 : PAGES) && !got.error &&
		   count_on(at, OTHER) == (moves ? PAGES : 0) && got.pages_absent == 0;
	printf("%s: %s: %s (refused by policy %llu, error %d, status %d, there now %d of %d)\n", as_told ? "ok" : "NOT OK", what,
	       moves ? "moves" : "stays", got.refused[HMK_REFUSED_POLICY], got.error, status[0], count_on(at, OTHER), PAGES);
	fflush(stdout);
	failures += !as_told;
	munmap(at, BYTES);
}

static char *with(int mode, unsigned long nodes, int flags)
{
	char *at = pages_at_home(flags);

	if (syscall(SYS_mbind, at, BYTES, mode, mode == MPOL_DEFAULT ? NULL : &nodes, mode == MPOL_DEFAULT ? 0 : 64, 0))
		fail("mbind");
	return at;
}

static char *task_policy(int mode, unsigned long nodes)
{
	char *at = pages_at_home(MAP_PRIVATE);

	if (syscall(SYS_set_mempolicy, mode, mode == MPOL_DEFAULT ? NULL : &nodes, mode == MPOL_DEFAULT ? 0 : 64))
		fail("set_mempolicy");
	return at;
}

/* move_pages(2)'s meaning: an explicit request wins. */
static void by_library(void)
{
	char *at = with(MPOL_BIND, NODES(HOME, HOME), MAP_PRIVATE);
	int nodes[PAGES], status[PAGES];
	void *pages[PAGES];

	for (int i = 0; i < PAGES; i++) {
		pages[i] = at + i * 4096;
		nodes[i] = OTHER;
	}
	if (move_memory_regions(0, PAGES, pages, nodes, status, MPOL_MF_MOVE) || count_on(at, OTHER) != PAGES)
		printf("NOT OK: move_memory_regions() wins over the policy\n"), failures++;
	else
		printf("ok: move_memory_regions() wins over the policy\n");
	munmap(at, BYTES);
}

/* Where the pages are may always be asked. */
static void asked(void)
{
	char *at = with(MPOL_BIND, NODES(HOME, HOME), MAP_PRIVATE);
	int status[PAGES];
	struct hmk_range r = { .start = (__u64)at, .length = BYTES, .node = -1, .status = (__u64)status };
	struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)&r, .nr_ranges = 1 };

	if (ioctl(fd, HMK_IOC_MOVE, &m) || status[0] != HOME || status[PAGES - 1] != HOME)
		printf("NOT OK: asked where bound pages are: %d\n", status[0]), failures++;
	else
		printf("ok: asked where bound pages are\n");
	munmap(at, BYTES);
}

int main(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid() };
	const unsigned long home = NODES(HOME, HOME), both = NODES(HOME, OTHER);

	fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, HMK_IOC_ATTACH, &a))
		fail("ATTACH");
	row("no policy", with(MPOL_DEFAULT, 0, MAP_PRIVATE), 0, 1);
	row("preferred there", with(MPOL_PREFERRED, home, MAP_PRIVATE), 0, 1);
	row("interleaved", with(MPOL_INTERLEAVE, home, MAP_PRIVATE), 0, 1);
	row("bound", with(MPOL_BIND, home, MAP_PRIVATE), 0, 0);
	row("bound, copied synchronously", with(MPOL_BIND, home, MAP_PRIVATE), HMK_MOVE_SYNC_COPY, 0);
	row("bound, by migrate_vma", with(MPOL_BIND, home, MAP_PRIVATE), HMK_MOVE_FORCE_VMA, 0);
	row("bound, by a ticket", with(MPOL_BIND, home, MAP_PRIVATE), HMK_MOVE_TICKET, 0);
	row("bound, by a ticket that wins", with(MPOL_BIND, home, MAP_PRIVATE), HMK_MOVE_TICKET | HMK_MOVE_BOUND, 1);
	row("bound, by a move that wins", with(MPOL_BIND, home, MAP_PRIVATE), HMK_MOVE_BOUND, 1);
	row("bound to both nodes", with(MPOL_BIND, both, MAP_PRIVATE), 0, 1);
	row("shared memory, bound", with(MPOL_BIND, home, MAP_SHARED), HMK_MOVE_SHARED, 0);
	row("shared memory, bound, by a move that wins", with(MPOL_BIND, home, MAP_SHARED), HMK_MOVE_SHARED | HMK_MOVE_BOUND, 1);
	row("the program bound", task_policy(MPOL_BIND, home), 0, 0);
	row("the program bound, a move that wins", task_policy(MPOL_BIND, home), HMK_MOVE_BOUND, 1);
	row("the program bound, the area preferred", with(MPOL_PREFERRED, home, MAP_PRIVATE), 0, 1);
	row("the program bound to both nodes", task_policy(MPOL_BIND, both), 0, 1);
	row("the program preferred", task_policy(MPOL_PREFERRED, home), 0, 1);
	task_policy(MPOL_DEFAULT, 0);
	by_library();
	asked();
	printf("%d of the rows are not as written\n", failures);
	return failures != 0;
}

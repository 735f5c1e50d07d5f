// SPDX-License-Identifier: MIT
// One table of requests; argument: who answers, "kernel", "library" (no module) or "module".
#include <hmk/lib/move.c>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#define TARGET 2

static int failures;
static const char *who;

static long ask(int pid, unsigned long count, void **pages, const int *nodes, int *status, int flags)
{
	if (!strcmp(who, "kernel"))
		return syscall(SYS_move_pages, pid, count, pages, nodes, status, flags);
	return move_memory_regions(pid, count, pages, nodes, status, flags);
}

static void expect(const char *what, long got, long want)
{
	const int same = got == want;

	printf("%s: %s: %s: %ld%s\n", same ? "ok" : "NOT OK", who, what, got, same ? "" : " is not as expected");
	failures += !same;
}

static int moved(void *page, int flags)
{
	int status = 12345, node = TARGET;

	if (ask(0, 1, &page, &node, &status, flags) < 0)
		return -errno;
	return status;
}

static char *map(int share, size_t pages)
{
	return mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, share | MAP_ANONYMOUS, -1, 0);
}

/* Before 6.12 the kernel says EFAULT for what is only not present. */
static int absent_of_kernel(void)
{
	struct utsname u;

	uname(&u);
	return strcmp(who, "module") && !strncmp(u.release, "6.1.", 4) ? -EFAULT : -ENOENT;
}

static void single_pages(void)
{
	char *anon = map(MAP_PRIVATE, 8), *shared = map(MAP_SHARED, 1), *locked = map(MAP_PRIVATE, 1);
	volatile char *zero = map(MAP_PRIVATE, 1);

	memset(anon, 7, 4096);
	expect("touched page", moved(anon, MPOL_MF_MOVE), TARGET);
	expect("  again, already there", moved(anon, MPOL_MF_MOVE), TARGET);
	expect("  its content", anon[0] == 7 && anon[4095] == 7, 1);
	anon[4096] = 1;
	expect("address inside the page", moved(anon + 4096 + 123, MPOL_MF_MOVE), TARGET);
	expect("never touched", moved(anon + 2 * 4096, MPOL_MF_MOVE), absent_of_kernel());
	(void)*zero;
	expect("zero page", moved((void *)zero, MPOL_MF_MOVE), -EFAULT);
	munmap(anon + 3 * 4096, 4096);
	expect("unmapped", moved(anon + 3 * 4096, MPOL_MF_MOVE), -EFAULT);
	expect("kernel address", moved((void *)0xffff888000001000, MPOL_MF_MOVE), -EFAULT);
	expect("non-canonical address", moved((void *)0x0000900000000000, MPOL_MF_MOVE), -EFAULT);
	expect("address 0", moved(NULL, MPOL_MF_MOVE), -EFAULT);
	shared[0] = 3;
	expect("shared memory", moved(shared, MPOL_MF_MOVE), TARGET);
	expect("  its content", shared[0], 3);
	mlock(locked, 4096);
	locked[0] = 4;
	expect("locked memory", moved(locked, MPOL_MF_MOVE), TARGET);
}

static void several_pages(void)
{
	char *at = map(MAP_PRIVATE, 4);
	void *pages[] = { at, at, at + 3 * 4096, at + 4096 };
	const int bad[] = { TARGET, 63 };
	int nodes[] = { TARGET, TARGET, 3, 3 }, status[4] = { 99, 99, 99, 99 };

	memset(at, 5, 4 * 4096);
	expect("good node, then one that does not exist", ask(0, 2, pages + 2, bad, status, MPOL_MF_MOVE) < 0 ?
	       -errno : 0, -ENODEV);
	/* The kernel has moved the first by then; the module has not. */
	if (!strcmp(who, "module")) {
		expect("  query", ask(0, 1, pages + 2, NULL, status, 0), 0);
		expect("  nothing has moved", status[0] != TARGET, 1);
	}
	expect("one page twice, two nodes", ask(0, 4, pages, nodes, status, MPOL_MF_MOVE), 0);
	expect("  first mention", status[0], TARGET);
	expect("  second mention", status[1], -EBUSY);
	expect("  another node", status[2], 3);
	expect("  and back in the addresses", status[3], 3);
}

/* Shared copy-on-write with a child that sleeps. */
static void shared_with_a_child(void)
{
	char *at = map(MAP_PRIVATE, 1);
	pid_t child;

	at[0] = 9;
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	expect("shared with a child, MOVE", moved(at, MPOL_MF_MOVE), -EACCES);
	expect("shared with a child, MOVE_ALL", moved(at, MPOL_MF_MOVE_ALL), TARGET);
	expect("  its content", at[0], 9);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void bad_calls(void)
{
	void *page = map(MAP_PRIVATE, 1);
	int node = TARGET, none = -1, status = 77;
	const pid_t gone = fork();

	memset(page, 1, 4096);
	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	expect("node -1", ask(0, 1, &page, &none, &status, MPOL_MF_MOVE) ? -errno : 0, -ENODEV);
	expect("  status untouched", status, 77);
	expect("flag STRICT", ask(0, 1, &page, &node, &status, MPOL_MF_STRICT) ? -errno : 0, -EINVAL);
	expect("no page", ask(0, 0, &page, &node, &status, MPOL_MF_MOVE), 0);
	expect("pages at a bad address", ask(0, 1, NULL, &node, &status, MPOL_MF_MOVE) ? -errno : 0, -EFAULT);
	expect("status at a bad address", ask(0, 1, &page, &node, NULL, MPOL_MF_MOVE) ? -errno : 0, -EFAULT);
	expect("process that has gone", ask(gone, 1, &page, &node, &status, MPOL_MF_MOVE) ? -errno : 0, -ESRCH);
	expect("kernel thread", ask(2, 1, &page, &node, &status, MPOL_MF_MOVE) ? -errno : 0, -EINVAL);
	expect("query", ask(0, 1, &page, NULL, &status, 0), 0);
}

static void as_nobody(void)
{
	void *page = map(MAP_PRIVATE, 1);
	const pid_t parent = getpid(), child = fork();
	int node = TARGET, status;

	if (!child) {
		failures = 0;
		if (setgid(65534) || setuid(65534))
			_exit(1);
		memset(page, 1, 4096);
		expect("nobody, own page", moved(page, MPOL_MF_MOVE), TARGET);
		expect("nobody, MOVE_ALL", moved(page, MPOL_MF_MOVE_ALL), -EPERM);
		expect("nobody, a process of root", ask(parent, 1, &page, &node, &status, MPOL_MF_MOVE) ? -errno : 0,
		       -EPERM);
		fflush(stdout);
		_exit(failures);
	}
	waitpid(child, &status, 0);
	failures += WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	who = argc > 1 ? argv[1] : "kernel";
	single_pages();
	several_pages();
	shared_with_a_child();
	bad_calls();
	fflush(stdout);
	as_nobody();
	return failures != 0;
}

// SPDX-License-Identifier: MIT
// What move_pages(2) answers, one row per question; argument: who is asked, "kernel", "library" (no module)
// or "module". A row answers with the status of its page, or with -errno of the call, or with what it says.
#include <hmk/lib/move.c>

#include <err.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <ucontext.h>

#define TARGET	2
#define SMALL	3		/* the node that is filled up */
#define PAGE	4096ul
#define NOBODY	65534
#define UNTOUCHED 12345
#define MANY	256u

static const char *who;

static long ask(int pid, unsigned long count, void **pages, const int *nodes, int *status, int flags)
{
	long ret;

	if (!strcmp(who, "kernel"))
		ret = syscall(SYS_move_pages, pid, count, pages, nodes, status, flags);
	else
		ret = move_memory_regions(pid, count, pages, nodes, status, flags);
	return ret < 0 ? -errno : ret;
}

/* Status of one page of process @pid, or why the call failed. */
static long move_of(int pid, void *page, int node, int flags)
{
	int status = UNTOUCHED;
	const long ret = ask(pid, 1, &page, &node, &status, flags);

	return ret < 0 ? ret : status;
}

static long moved(void *page, int flags)
{
	return move_of(0, page, TARGET, flags);
}

static char *map(int share, size_t pages)
{
	char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, share | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		err(3, "mmap");
	return at;
}

static char *touched(size_t pages)
{
	return memset(map(MAP_PRIVATE, pages), 7, pages * PAGE);
}

/* The value is an answer only if the page still holds what it held. */
static long kept(const char *page, long answer)
{
	for (size_t i = 0; i < PAGE; i++) {
		if (page[i] != 7)
			errx(1, "LOST: a page has another content");
	}
	return answer;
}

/* ---- one page ---------------------------------------------------------------- */

static long anon(void)
{
	char *at = touched(1);

	return kept(at, moved(at, MPOL_MF_MOVE));
}

static long twice(void)
{
	char *at = touched(1);

	moved(at, MPOL_MF_MOVE);
	return kept(at, moved(at, MPOL_MF_MOVE));
}

static long written_after(void)
{
	char *at = touched(1);
	const long answer = moved(at, MPOL_MF_MOVE);

	memset(at, 8, PAGE);
	return at[PAGE - 1] == 8 ? answer : -1;
}

static long unaligned(void)
{
	return moved(touched(1) + 123, MPOL_MF_MOVE);
}

static long no_access(void)
{
	char *at = touched(1);
	long answer;

	mprotect(at, PAGE, PROT_NONE);
	answer = moved(at, MPOL_MF_MOVE);
	mprotect(at, PAGE, PROT_READ);
	return kept(at, answer);
}

static long locked(void)
{
	char *at = touched(1);

	mlock(at, PAGE);
	return kept(at, moved(at, MPOL_MF_MOVE));
}

static long shared(void)
{
	char *at = memset(map(MAP_SHARED, 1), 7, PAGE);

	return kept(at, moved(at, MPOL_MF_MOVE));
}

static long tmpfs(void)
{
	const int fd = memfd_create("contract", 0);
	char *at;

	if (ftruncate(fd, PAGE))
		err(3, "memfd");
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memset(at, 7, PAGE);
	return kept(at, moved(at, MPOL_MF_MOVE));
}

static long hugetlb(void)
{
	char *at = mmap(NULL, 2ul << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (at == MAP_FAILED)
		err(3, "a huge page");
	memset(at, 7, PAGE);
	return kept(at, moved(at, MPOL_MF_MOVE));
}

static long never_touched(void) { return moved(map(MAP_PRIVATE, 1), MPOL_MF_MOVE); }
static long kernel_address(void) { return moved((void *)0xffff888000001000, MPOL_MF_MOVE); }
static long non_canonical(void) { return moved((void *)0x0000900000000000, MPOL_MF_MOVE); }
static long address_0(void) { return moved(NULL, MPOL_MF_MOVE); }

static long zero_page(void)
{
	char *at = map(MAP_PRIVATE, 1);

	(void)*(volatile char *)at;
	return moved(at, MPOL_MF_MOVE);
}

static long unmapped(void)
{
	char *at = touched(1);

	munmap(at, PAGE);
	return moved(at, MPOL_MF_MOVE);
}

static long query(void)
{
	void *at = touched(1);
	int status = UNTOUCHED;
	long ret;

	moved(at, MPOL_MF_MOVE);
	ret = ask(0, 1, &at, NULL, &status, 0);
	return ret ? ret : status;
}

/* ---- several pages ------------------------------------------------------------- */

static int several[4];

/* Two mentions of one page, then two pages for another node in falling order. */
static long four(void)
{
	char *at = touched(4);
	void *pages[] = { at, at, at + 3 * PAGE, at + PAGE };
	const int nodes[] = { TARGET, TARGET, 1, 1 };

	return ask(0, 4, pages, nodes, several, MPOL_MF_MOVE);
}

static long first_mention(void) { return several[0]; }
static long second_mention(void) { return several[1]; }
static long other_node(void) { return several[2]; }
static long backwards(void) { return several[3]; }

static char *half_moved;

static long good_bad_good(void)
{
	const int nodes[] = { TARGET, 63, TARGET };
	void *pages[3];

	half_moved = touched(3);
	for (int i = 0; i < 3; i++)
		pages[i] = half_moved + (size_t)i * PAGE;
	return ask(0, 3, pages, nodes, several, MPOL_MF_MOVE);
}

/* The kernel has moved the first by then; the module moves nothing. */
static long first_has_moved(void)
{
	void *page = half_moved;
	int status;

	return syscall(SYS_move_pages, 0, 1, &page, NULL, &status, 0) ? -errno : status == TARGET;
}

static pid_t sleeper(void)
{
	const pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static long with_child(int share, int flags)
{
	char *at = memset(map(share, 1), 7, PAGE);
	int ends[2], status;
	pid_t child;
	char c = 0;

	if (pipe(ends))
		err(3, "pipe");
	child = fork();
	if (!child) {
		/* Shared memory is the child's, too, only when it has touched it. */
		c = at[0];
		_exit(write(ends[1], &c, 1) != 1 || pause());
	}
	if (read(ends[0], &c, 1) != 1)
		err(3, "the child");
	status = (int)moved(at, flags);
	end(child);
	return kept(at, status);
}

static long cow_move(void) { return with_child(MAP_PRIVATE, MPOL_MF_MOVE); }
static long cow_move_all(void) { return with_child(MAP_PRIVATE, MPOL_MF_MOVE_ALL); }
static long shared_move(void) { return with_child(MAP_SHARED, MPOL_MF_MOVE); }
static long shared_move_all(void) { return with_child(MAP_SHARED, MPOL_MF_MOVE_ALL); }

/* One page a child shares, one it does not: the second moves all the same. */
static long beside_shared(void)
{
	char *at = touched(2);
	void *pages[] = { at, at + PAGE };
	const int nodes[] = { TARGET, TARGET };
	const pid_t child = sleeper();
	long ret;

	at[PAGE] = 7;	/* a copy of its own */
	ret = ask(0, 2, pages, nodes, several, MPOL_MF_MOVE);
	end(child);
	return ret ? ret : several[0] == -EACCES ? several[1] : -1;
}

/* ---- calls that are wrong -------------------------------------------------------- */

static long to_node(int node) { return move_of(0, touched(1), node, MPOL_MF_MOVE); }
static long node_minus(void) { return to_node(-1); }
static long node_absent(void) { return to_node(63); }
static long node_large(void) { return to_node(1 << 30); }

static long status_of_bad_node(void)
{
	void *page = touched(1);
	int node = 63, status = UNTOUCHED;

	ask(0, 1, &page, &node, &status, MPOL_MF_MOVE);
	return status;
}

static long strict(void) { return moved(touched(1), MPOL_MF_STRICT); }
static long all_flags(void) { return moved(touched(1), ~0); }
static long no_flags(void) { return moved(touched(1), 0); }
static long both_flags(void) { return moved(touched(1), MPOL_MF_MOVE | MPOL_MF_MOVE_ALL); }

static long no_page(void)
{
	void *page = touched(1);
	int node = TARGET, status;

	return ask(0, 0, &page, &node, &status, MPOL_MF_MOVE);
}

/* The arrays end where nothing is mapped. */
static long too_many(void)
{
	char *at = map(MAP_PRIVATE, 2);
	void **pages = (void **)(at + PAGE - sizeof(*pages));
	int node = TARGET, status;

	*pages = at;
	munmap(at + PAGE, PAGE);
	return ask(0, ~0ul, pages, &node, &status, MPOL_MF_MOVE);
}

static long bad_pages(void)
{
	int node = TARGET, status;

	return ask(0, 1, NULL, &node, &status, MPOL_MF_MOVE);
}

static long bad_status(void)
{
	void *page = touched(1);
	int node = TARGET;

	half_moved = page;
	return ask(0, 1, &page, &node, NULL, MPOL_MF_MOVE);
}

/* ---- processes and rights ---------------------------------------------------------- */

static void *common;		/* a page every child has, too */

static long of(int pid) { return move_of(pid, common, TARGET, MPOL_MF_MOVE_ALL); }
static long pid_minus(void) { return of(-1); }
static long pid_unused(void) { return of(4194303); }
static long kernel_thread(void) { return of(2); }

static long zombie(void)
{
	const pid_t child = fork();
	siginfo_t info;
	long answer;

	if (!child)
		_exit(0);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	answer = of(child);
	waitpid(child, NULL, 0);
	return answer;
}

static long reaped(void)
{
	const pid_t child = sleeper();

	end(child);
	return of(child);
}

/* Asks in a child that has become what @become makes of it. */
static long as(int (*become)(void), long (*question)(void))
{
	long answer = -1;
	int ends[2];
	pid_t child;

	fflush(stdout);
	if (pipe(ends))
		err(3, "pipe");
	child = fork();
	if (!child) {
		if (become())
			err(3, "cannot become it");
		answer = question();
		_exit(write(ends[1], &answer, sizeof(answer)) != sizeof(answer));
	}
	close(ends[1]);
	if (read(ends[0], &answer, sizeof(answer)) != sizeof(answer))
		errx(3, "a child has no answer");
	close(ends[0]);
	waitpid(child, NULL, 0);
	return answer;
}

static int nobody(void) { return setgid(NOBODY) || setuid(NOBODY); }
static int dumpable_nobody(void) { return nobody() || prctl(PR_SET_DUMPABLE, 1); }
static int root_of_userns(void) { return dumpable_nobody() || unshare(CLONE_NEWUSER); }
static int in_few_nodes(void)
{
	FILE *file = fopen("/sys/fs/cgroup/few/cgroup.procs", "w");

	return !file || fputs("0", file) < 0 || fclose(file);
}

static pid_t other;		/* a process to ask about */

static long own_page(void) { return moved(touched(1), MPOL_MF_MOVE); }
static long own_page_all(void) { return moved(touched(1), MPOL_MF_MOVE_ALL); }

static int nothing(void) { return 0; }

static long nobody_own(void) { return as(nobody, own_page); }
static long nobody_all(void) { return as(nobody, own_page_all); }
static long of_other(void) { return move_of(other, common, TARGET, MPOL_MF_MOVE); }

/* What a process that has become one thing is told about a process that is another. */
static long between(int (*is)(void), int (*become)(void))
{
	int ends[2];
	long answer;
	char c = 0;

	if (pipe(ends))
		err(3, "pipe");
	other = fork();
	if (!other) {
		/* Its own copy, or it would be shared with us. */
		memset(common, 7, PAGE);
		if (is())
			err(3, "cannot be it");
		_exit(write(ends[1], &c, 1) != 1 || pause());
	}
	if (read(ends[0], &c, 1) != 1)
		err(3, "the other");
	answer = as(become, of_other);
	end(other);
	return answer;
}

static long root_about_other(void) { return between(nothing, nothing); }
static long nobody_about_root(void) { return between(nothing, nobody); }
static long nobody_about_nobody(void) { return between(dumpable_nobody, nobody); }
static long nobody_about_undumpable(void) { return between(nobody, nobody); }
static long userns_about_root(void) { return between(nothing, root_of_userns); }
static long userns_all(void) { return as(root_of_userns, own_page_all); }

static int ptrace_scope(const char *scope)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "w");

	return file && (fputs(scope, file) < 0 || fclose(file));
}

static long yama(void)
{
	long answer;

	ptrace_scope("2");
	answer = between(dumpable_nobody, nobody);
	ptrace_scope("0");
	return answer;
}

/* Its first child is PID 1 of the new namespace, which has no such process. */
static long in_pidns(void)
{
	const int parent = getpid();
	long answer = -1;
	int ends[2];
	pid_t child;

	if (pipe(ends) || unshare(CLONE_NEWPID))
		err(3, "a pid namespace");
	child = fork();
	if (!child) {
		answer = of(parent);
		_exit(write(ends[1], &answer, sizeof(answer)) != sizeof(answer));
	}
	if (read(ends[0], &answer, sizeof(answer)) != sizeof(answer))
		errx(3, "no answer from the pid namespace");
	waitpid(child, NULL, 0);
	return answer;
}

static long pidns(void) { return as(nothing, in_pidns); }
static long outside_cpuset(void) { return as(in_few_nodes, own_page); }

/* ---- limits -------------------------------------------------------------------------- */

static long count_moved(char *at, int node, long *ret)
{
	static void *pages[MANY];
	static int nodes[MANY], status[MANY];
	long nr = 0;

	for (unsigned int i = 0; i < MANY; i++) {
		pages[i] = at + i * PAGE;
		nodes[i] = node;
		status[i] = UNTOUCHED;
	}
	*ret = ask(0, MANY, pages, nodes, status, MPOL_MF_MOVE);
	for (unsigned int i = 0; i < MANY; i++)
		nr += status[i] == node;
	for (unsigned int i = 0; i < MANY && !strcmp(who, "module"); i++) {
		if (status[i] != node && status[i] != -ENOMEM)
			errx(1, "page %u has status %d", i, status[i]);
	}
	return nr;
}

/* The group may use no more than it does: the charge travels with the page. */
static long in_tight_group(void)
{
	FILE *file = fopen("/sys/fs/cgroup/tight/cgroup.procs", "w");
	char *at;
	long ret, use;

	if (!file || fputs("0", file) < 0 || fclose(file))
		err(3, "the group");
	at = touched(MANY);
	file = fopen("/sys/fs/cgroup/tight/memory.current", "r");
	if (!file || fscanf(file, "%ld", &use) != 1 || fclose(file))
		err(3, "memory.current");
	file = fopen("/sys/fs/cgroup/tight/memory.max", "w");
	if (!file || fprintf(file, "%ld", use + 64 * (long)PAGE) < 0 || fclose(file))
		err(3, "memory.max");
	return count_moved(at, TARGET, &ret);
}

static long tight(void) { return as(nothing, in_tight_group); }

static long free_kb(int node)
{
	char path[64], line[128];
	long kb = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	file = fopen(path, "r");
	if (!file)
		err(3, "%s", path);
	while (fgets(line, sizeof(line), file)) {
		if (strstr(line, "MemFree:"))
			kb = atol(strstr(line, "MemFree:") + 8);
	}
	fclose(file);
	return kb;
}

/* Fills the small node with other pages of ours until moving stops; 1 when the call says how many have no room. */
static long full_node(void)
{
	const unsigned long mask = 1ul << SMALL;
	char *at = touched(MANY);
	long ret, nr;

	syscall(SYS_set_mempolicy, MPOL_PREFERRED, &mask, 64);
	for (int i = 0; i < 1000 && free_kb(SMALL) > 3 * 1024; i++)
		touched(64);
	syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0);
	do
		nr = count_moved(touched(MANY), SMALL, &ret);
	while (nr == MANY);
	nr = count_moved(at, SMALL, &ret);
	for (unsigned int i = 0; i < MANY; i++)
		kept(at + i * PAGE, 0);
	return ret + nr == MANY;
}

static long full(void) { return as(nothing, full_node); }

/* ---- what is written into the statuses ---------------------------------------------------- */

#define MIXED	8

static int *watched;
static unsigned int writes[MIXED];

/* One request of everything: moved, there already, repeated, absent, unmapped, not of user space. */
static long ask_mixed(int *status)
{
	static const int nodes[MIXED] = { TARGET, 0, TARGET, TARGET, TARGET, TARGET, TARGET, TARGET };
	char *at = touched(3);
	void *pages[MIXED] = { at, at + PAGE, at + 123, at + 2 * PAGE, map(MAP_PRIVATE, 1), (void *)PAGE,
			       (void *)~0xfffful, at + 2 * PAGE };

	return ask(0, MIXED, pages, nodes, status, MPOL_MF_MOVE);
}

/* How many of MIXED statuses are written, whatever they held before; -1 when one beside them is. */
static long every_status(void)
{
	static const int before[2] = { UNTOUCHED, -UNTOUCHED };
	int status[2][MIXED + 2];
	long nr = 0, ret;

	for (int run = 0; run < 2; run++) {
		for (int i = 0; i < MIXED + 2; i++)
			status[run][i] = before[run];
		ret = ask_mixed(status[run] + 1);
		if (ret < 0)
			return ret;
		if (status[run][0] != before[run] || status[run][MIXED + 1] != before[run])
			return -1;
	}
	for (int i = 1; i <= MIXED; i++)
		nr += status[0][i] != before[0] && status[0][i] == status[1][i];
	return nr;
}

static void on_write(int sig, siginfo_t *info, void *context)
{
	const long i = (int *)info->si_addr - watched;

	if (i < 0 || i >= MIXED)
		_exit(sig);
	writes[i]++;
	mprotect(watched, PAGE, PROT_READ | PROT_WRITE);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= 0x100;	/* stop after this store */
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	mprotect(watched, PAGE, PROT_READ);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
}

/* How many of MIXED statuses are written exactly once: each store into a page that may only be read is one. */
static long status_once(void)
{
	const struct sigaction write_action = { .sa_sigaction = on_write, .sa_flags = SA_SIGINFO },
			       step_action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	long nr = 0;

	watched = (int *)touched(1);
	sigaction(SIGSEGV, &write_action, NULL);
	sigaction(SIGTRAP, &step_action, NULL);
	mprotect(watched, PAGE, PROT_READ);
	const long ret = ask_mixed(watched);

	signal(SIGSEGV, SIG_DFL);
	signal(SIGTRAP, SIG_DFL);
	for (int i = 0; i < MIXED; i++)
		nr += writes[i] == 1;
	return ret < 0 ? ret : nr;
}

/* ---- the table ------------------------------------------------------------------------- */

/* Not asked, and why: as an answer it counts for nothing. */
#define LOGS		LONG_MIN	/* the kernel logs a failed allocation, which is a failed test */
#define IN_KERNEL	(LONG_MIN + 1)	/* who writes is the kernel: -EFAULT instead of a signal */

static const char *why_unasked(long want)
{
	return want == LOGS ? "it logs a failed allocation, which fails every test" :
	       want == IN_KERNEL ? "the kernel's stores raise no signal" : NULL;
}

#define ROW(what, answer, ...) { what, answer, __VA_ARGS__, false }
#define EARLY(what, answer, ...) { what, answer, __VA_ARGS__, true }

static const struct row {
	const char *what;
	long (*answer)(void);
	long old, kernel, module;	/* before 6.12, 6.12, ours on every kernel */
	bool is_early;			/* answered by the library before it asks anybody */
} table[] = {
	ROW("touched page", anon, TARGET, TARGET, TARGET),
	ROW("  again, already there", twice, TARGET, TARGET, TARGET),
	ROW("  written afterwards", written_after, TARGET, TARGET, TARGET),
	ROW("address inside a page", unaligned, TARGET, TARGET, TARGET),
	ROW("no access", no_access, -ENOENT, TARGET, TARGET),
	ROW("locked", locked, TARGET, TARGET, TARGET),
	ROW("shared memory", shared, TARGET, TARGET, TARGET),
	ROW("tmpfs", tmpfs, TARGET, TARGET, TARGET),
	ROW("hugetlb", hugetlb, TARGET, TARGET, TARGET),
	ROW("never touched", never_touched, -EFAULT, -ENOENT, -ENOENT),
	ROW("zero page", zero_page, -EFAULT, -EFAULT, -EFAULT),
	ROW("unmapped", unmapped, -EFAULT, -EFAULT, -EFAULT),
	ROW("kernel address", kernel_address, -EFAULT, -EFAULT, -EFAULT),
	ROW("non-canonical address", non_canonical, -EFAULT, -EFAULT, -EFAULT),
	ROW("address 0", address_0, -EFAULT, -EFAULT, -EFAULT),
	ROW("query", query, TARGET, TARGET, TARGET),
	ROW("four pages", four, 0, 0, 0),
	ROW("  first mention of a page", first_mention, TARGET, TARGET, TARGET),
	ROW("  second mention", second_mention, -EBUSY, -EBUSY, -EBUSY),
	ROW("  for another node", other_node, 1, 1, 1),
	ROW("  and back in the addresses", backwards, 1, 1, 1),
	ROW("copy-on-write with a child, MOVE", cow_move, -EACCES, -EACCES, -EACCES),
	ROW("copy-on-write with a child, MOVE_ALL", cow_move_all, TARGET, TARGET, TARGET),
	ROW("shared with a child, MOVE", shared_move, -EACCES, -EACCES, -EACCES),
	ROW("shared with a child, MOVE_ALL", shared_move_all, TARGET, TARGET, TARGET),
	ROW("a page beside a shared one", beside_shared, TARGET, TARGET, TARGET),
	ROW("node -1", node_minus, -ENODEV, -ENODEV, -ENODEV),
	ROW("node that does not exist", node_absent, -ENODEV, -ENODEV, -ENODEV),
	ROW("node 1<<30", node_large, -ENODEV, -ENODEV, -ENODEV),
	ROW("  status then", status_of_bad_node, UNTOUCHED, UNTOUCHED, UNTOUCHED),
	ROW("good node, bad, good", good_bad_good, -ENODEV, -ENODEV, -ENODEV),
	ROW("  the first has moved", first_has_moved, 1, 1, 0),
	ROW("flag STRICT", strict, -EINVAL, -EINVAL, -EINVAL),
	ROW("all flags", all_flags, -EINVAL, -EINVAL, -EINVAL),
	ROW("no flag", no_flags, TARGET, TARGET, TARGET),
	ROW("MOVE and MOVE_ALL", both_flags, TARGET, TARGET, TARGET),
	ROW("no page", no_page, 0, 0, 0),
	EARLY("2^64 - 1 pages", too_many, -EFAULT, -EFAULT, -E2BIG),
	ROW("pages at a bad address", bad_pages, -EFAULT, -EFAULT, -EFAULT),
	EARLY("status at a bad address", bad_status, -EFAULT, -EFAULT, -EFAULT),
	EARLY("  the page has moved", first_has_moved, 1, 1, 0),
	ROW("PID -1", pid_minus, -ESRCH, -ESRCH, -ESRCH),
	ROW("PID not in use", pid_unused, -ESRCH, -ESRCH, -ESRCH),
	ROW("PID of a process that has gone", reaped, -ESRCH, -ESRCH, -ESRCH),
	ROW("PID of another namespace", pidns, -ESRCH, -ESRCH, -ESRCH),
	ROW("kernel thread", kernel_thread, -EINVAL, -EINVAL, -EINVAL),
	ROW("zombie", zombie, -EINVAL, -EINVAL, -EINVAL),
	ROW("root, another process", root_about_other, TARGET, TARGET, TARGET),
	ROW("nobody, own page", nobody_own, TARGET, TARGET, TARGET),
	ROW("nobody, MOVE_ALL", nobody_all, -EPERM, -EPERM, -EPERM),
	ROW("nobody, a process of root", nobody_about_root, -EPERM, -EPERM, -EPERM),
	ROW("nobody, another process of nobody", nobody_about_nobody, TARGET, TARGET, TARGET),
	ROW("  with Yama's scope 2", yama, TARGET, TARGET, TARGET),
	ROW("nobody, one that is not dumpable", nobody_about_undumpable, -EPERM, -EPERM, -EPERM),
	ROW("root of a user namespace, root's process", userns_about_root, -EPERM, -EPERM, -EPERM),
	ROW("root of a user namespace, MOVE_ALL", userns_all, -EPERM, -EPERM, -EPERM),
	ROW("node outside the cpuset", outside_cpuset, -EACCES, -EACCES, -EACCES),
	ROW("group at its memory limit", tight, MANY, MANY, MANY),
	ROW("node that is full", full, LOGS, LOGS, 1),
	ROW("statuses written, of eight", every_status, MIXED, MIXED, MIXED),
	ROW("  exactly once", status_once, IN_KERNEL, IN_KERNEL, MIXED),
};

int main(int argc, char **argv)
{
	struct utsname u;
	bool is_old, is_module;
	int failures = 0, asked = 0, unasked = 0;

	who = argc > 1 ? argv[1] : "kernel";
	uname(&u);
	is_old = !strncmp(u.release, "6.1.", 4);
	is_module = !strcmp(who, "module");
	common = touched(1);
	for (const struct row *r = table; r < table + sizeof(table) / sizeof(*table); r++) {
		const bool is_ours = is_module || (r->is_early && strcmp(who, "kernel"));
		const long want = is_ours ? r->module : is_old ? r->old : r->kernel;

		if (why_unasked(want)) {
			printf("not asked: %s: %s: %s\n", who, r->what, why_unasked(want));
			unasked++;
			continue;
		}
		const long got = r->answer();
		const int same = got == want;

		printf("%s: %s: %s: %ld%s\n", same ? "ok" : "NOT OK", who, r->what, got,
		       same ? "" : " is not as expected");
		fflush(stdout);
		failures += !same;
		asked++;
	}
	printf("%s: %d rows asked, %d not\n", who, asked, unasked);
	return failures != 0 || (is_module && unasked);
}

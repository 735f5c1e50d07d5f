// SPDX-License-Identifier: MIT
// Who may do what, as a table: who asks (a child that becomes that somebody), for what, of whom, and the answer.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/hmk.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY	65534
#define SOMEONE	1000
#define RESERVED_PIDS	300	/* those below are given once, after boot, and never again */
#define MANY_PIDS	1000	/* more than pid_max of test.py */
#define PAGES	16
#define BYTES	(PAGES * 4096ul)
#define NICE	CAP_SYS_NICE
#define PTRACE	CAP_SYS_PTRACE

static int failures, by_capability;	/* the module found no ptrace_may_access() */
static char *memory;			/* at the same address in every process */
static char *published;			/* the table, mapped */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* An answer is 0 or an errno. */
static void expect(const char *what, int got, int want)
{
	printf("%s: %s: %s%s%s\n", got == want ? "ok" : "NOT OK", what, got ? strerror(got) : "allowed",
	       got == want ? "" : ", not ", got == want ? "" : want ? strerror(want) : "allowed");
	fflush(stdout);
	failures += got != want;
}

static int answer(long ret)
{
	return ret < 0 ? errno : 0;
}

static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		fail("becoming another user");
	prctl(PR_SET_DUMPABLE, 1);	/* what a login does by its exec */
}

static void drop(int capability)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	syscall(SYS_capget, &head, data);
	data[capability / 32].effective &= ~(1u << capability % 32);
	if (syscall(SYS_capset, &head, data))
		fail("capset");
}

static void nothing(void) { }
static void nobody(void) { become(NOBODY); }
static void someone(void) { become(SOMEONE); }
static void without_nice(void) { drop(NICE); }
static void without_ptrace(void) { drop(PTRACE); }
static void someone_after_setuid(void)
{
	become(SOMEONE);
	prctl(PR_SET_DUMPABLE, 0);	/* as setuid leaves it */
}

static void root_of_own_namespace(void)
{
	char map[32];
	int fd;

	become(SOMEONE);
	if (unshare(CLONE_NEWUSER))
		fail("unshare");
	snprintf(map, sizeof(map), "0 %d 1", SOMEONE);
	fd = open("/proc/self/uid_map", O_WRONLY);
	if (fd < 0 || write(fd, map, strlen(map)) < 0)
		fail("uid_map");
	close(fd);
}

/* A process that is somebody and waits. */
static pid_t target(void (*who)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		fail("pipe");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		who();
		memset(memory, 1, BYTES);	/* its own pages, not the parent's */
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		fail("a target");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int attach(int fd, int pid)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = pid };

	return answer(ioctl(fd, HMK_IOC_ATTACH, &a));
}

static int attach_pidfd(int fd, int pidfd)
{
	struct hmk_attach a = { .size = sizeof(a), .pidfd = pidfd };

	return answer(ioctl(fd, HMK_IOC_ATTACH, &a));
}

static int move(int fd, __u32 flags)
{
	struct hmk_range r = { .start = (__u64)memory, .length = BYTES, .node = 1 };
	struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)&r, .nr_ranges = 1, .flags = flags };

	return answer(ioctl(fd, HMK_IOC_MOVE, &m));
}

static int move_by_all(int fd)
{
	struct hmk_range r = { .start = (__u64)memory, .length = BYTES, .node = 1 };
	struct hmk_move m = { .size = sizeof(m), .ranges = (__u64)&r, .nr_ranges = 1, .copy_threads = HMK_MAX_COPY_THREADS };

	return answer(ioctl(fd, HMK_IOC_MOVE, &m));
}

static int device(int flags)
{
	return open(HMK_DEVICE_PATH, flags | O_CLOEXEC);
}

/* Runs in a child that has become `who`, with a descriptor opened by root before; gives its answer. */
static int as(void (*who)(void), int fd, int (*what)(int fd, pid_t of), pid_t of)
{
	int status;
	const pid_t pid = fork();

	if (!pid) {
		memset(memory, 2, BYTES);	/* in case it asks for its own */
		who();
		_exit(what(fd, of ? of : getpid()));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int opens(int fd, pid_t of)
{
	(void)fd;
	(void)of;
	return answer(device(O_RDWR));
}

static int attaches(int fd, pid_t of) { return attach(fd, of); }
static int attaches_and_moves(int fd, pid_t of) { return attach(fd, of) ?: move(fd, 0); }
static int attaches_and_moves_by_all(int fd, pid_t of) { return attach(fd, of) ?: move_by_all(fd); }
static int attaches_and_moves_shared(int fd, pid_t of) { return attach(fd, of) ?: move(fd, HMK_MOVE_SHARED); }
static int moves(int fd, pid_t of) { (void)of; return move(fd, 0); }
static int moves_shared(int fd, pid_t of) { (void)of; return move(fd, HMK_MOVE_SHARED); }

static int moves_later(int fd, pid_t of)
{
	(void)of;
	return move(fd, HMK_MOVE_TICKET);
}

static int attach_with(int fd, pid_t of, struct hmk_params params)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = of, .params = params };

	return answer(ioctl(fd, HMK_IOC_ATTACH, &a));
}

static int set(int fd, struct hmk_params params)
{
	struct hmk_set s = { .size = sizeof(s), .params = params };

	return answer(ioctl(fd, HMK_IOC_SET, &s));
}

#define SWITCH(which)	((struct hmk_params){ .mask = HMK_PARAM_SWITCHES, .switches = HMK_SWITCH_##which })
#define BUDGET(bp)	((struct hmk_params){ .mask = HMK_PARAM_BUDGET, .budget_bp = (bp) })
#define WEIGHT(number)	((struct hmk_params){ .mask = HMK_PARAM_WEIGHT, .weight = (number) })

static int attaches_heavily(int fd, pid_t of) { return attach_with(fd, of, WEIGHT(101)); }
static int attaches_as_others(int fd, pid_t of) { return attach_with(fd, of, WEIGHT(100)); }
static int attaches_without_budget(int fd, pid_t of) { return attach_with(fd, of, SWITCH(NO_BUDGET)); }
static int attaches_with_one_thread(int fd, pid_t of) { return attach_with(fd, of, BUDGET(HMK_BUDGET_THREAD_BP)); }
static int attaches_with_two_threads(int fd, pid_t of) { return attach_with(fd, of, BUDGET(HMK_BUDGET_THREAD_BP + 1)); }
static int attaches_splitting(int fd, pid_t of) { return attach_with(fd, of, SWITCH(SPLIT_HUGE)); }
static int attaches_with_ablation(int fd, pid_t of) { return attach_with(fd, of, SWITCH(FIXED_REGIONS)); }
static int sets_heavily(int fd, pid_t of) { return attach(fd, of) ?: set(fd, WEIGHT(101)); }
static int sets_without_budget(int fd, pid_t of) { return attach(fd, of) ?: set(fd, SWITCH(NO_BUDGET)); }
static int sets_two_threads(int fd, pid_t of) { return attach(fd, of) ?: set(fd, BUDGET(HMK_BUDGET_THREAD_BP + 1)); }
static int sets_splitting(int fd, pid_t of) { return attach(fd, of) ?: set(fd, SWITCH(SPLIT_HUGE)); }

static int reads_the_table(int fd, pid_t of)
{
	(void)of;
	return mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0;
}

static int reads_events(int fd, pid_t of)
{
	struct hmk_event ev;

	(void)of;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return answer(read(fd, &ev, sizeof(ev)));
}

/* What select(2) and poll(2) would tell: nothing but that it is refused. */
static int polls(int fd, pid_t of)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	(void)of;
	if (poll(&p, 1, 0) < 0)
		return errno;
	return p.revents & POLLERR ? EPERM : 0;
}

static int reads_stats(int fd, pid_t of)
{
	struct hmk_stats stats = { .size = sizeof(stats) };

	(void)of;
	return answer(ioctl(fd, HMK_IOC_STATS, &stats));
}

static int sets(int fd, pid_t of) { (void)of; return set(fd, WEIGHT(50)); }
static int starts(int fd, pid_t of) { (void)of; return answer(ioctl(fd, HMK_IOC_START, 0)); }
static int stops(int fd, pid_t of) { (void)of; return answer(ioctl(fd, HMK_IOC_STOP, 0)); }

static int fetches(int fd, pid_t of)
{
	struct hmk_result r = { .size = sizeof(r), .cookie = 77, .nr_ranges = 1 };

	(void)of;
	return answer(ioctl(fd, HMK_IOC_RESULT, &r));
}

static int knows(int fd, pid_t of)
{
	struct hmk_info info = { .size = sizeof(info) };

	(void)of;
	return answer(ioctl(fd, HMK_IOC_GET_INFO, &info));
}

static void rows(void)
{
	const struct {
		const char *what;
		void (*who)(void), (*whom)(void);	/* NULL: itself */
		int (*does)(int fd, pid_t of);
		int want, want_by_capability;
	} row[] = {
		{ "root opens the device", nothing, NULL, opens, 0, 0 },
		{ "nobody opens the device", nobody, NULL, opens, EACCES, EACCES },
		{ "root profiles root's", nothing, nothing, attaches, 0, 0 },
		{ "root profiles another user's", nothing, someone, attaches, 0, 0 },
		{ "root profiles what cannot be dumped", nothing, someone_after_setuid, attaches, 0, 0 },
		{ "root without CAP_SYS_PTRACE profiles root's", without_ptrace, nothing, attaches, 0, EPERM },
		{ "root without CAP_SYS_PTRACE profiles another user's", without_ptrace, someone, attaches, EPERM, EPERM },
		{ "a user profiles itself", someone, NULL, attaches, 0, EPERM },
		{ "a user profiles its own", someone, someone, attaches, 0, EPERM },
		{ "a user profiles its own that cannot be dumped", someone, someone_after_setuid, attaches, EPERM, EPERM },
		{ "a user profiles another user's", nobody, someone, attaches, EPERM, EPERM },
		{ "a user profiles root's", someone, nothing, attaches, EPERM, EPERM },
		{ "root of its own user namespace profiles root's", root_of_own_namespace, nothing, attaches, EPERM, EPERM },
		{ "a user moves its own memory", someone, NULL, attaches_and_moves, 0, EPERM },
		{ "a user moves its own memory by 16 threads", someone, NULL, attaches_and_moves_by_all, 0, EPERM },
		{ "a user moves its own shared pages", someone, NULL, attaches_and_moves_shared, EPERM, EPERM },
		{ "a user moves memory of its other process", someone, someone, attaches_and_moves, EPERM, EPERM },
		{ "root of its own user namespace moves its own shared pages", root_of_own_namespace, NULL,
		  attaches_and_moves_shared, EPERM, EPERM },
		/* Without its function no security module can be asked: closed. */
		{ "root moves another's memory", nothing, someone, attaches_and_moves, 0, EOPNOTSUPP },
		{ "root moves another's shared pages", nothing, someone, attaches_and_moves_shared, 0, EOPNOTSUPP },
		{ "root without CAP_SYS_NICE moves another's memory", without_nice, someone, attaches_and_moves, EPERM, EPERM },
		{ "a user profiles its own as others do", someone, someone, attaches_as_others, 0, EPERM },
		{ "a user profiles its own with an ablation", someone, someone, attaches_with_ablation, 0, EPERM },
		{ "a user profiles its own before all others", someone, someone, attaches_heavily, EPERM, EPERM },
		{ "a user profiles its own without a budget", someone, someone, attaches_without_budget, EPERM, EPERM },
		{ "a user profiles its own with the budget of one thread", someone, someone, attaches_with_one_thread, 0, EPERM },
		{ "a user profiles its own with that of two", someone, someone, attaches_with_two_threads, EPERM, EPERM },
		{ "a user sets the budget of two", someone, someone, sets_two_threads, EPERM, EPERM },
		{ "a user splits huge pages of its own", someone, someone, attaches_splitting, EPERM, EOPNOTSUPP },
		{ "a user sets a weight above others'", someone, someone, sets_heavily, EPERM, EPERM },
		{ "a user sets the budget aside", someone, someone, sets_without_budget, EPERM, EPERM },
		{ "a user sets huge pages to be split", someone, someone, sets_splitting, EPERM, EPERM },
		{ "a user profiles itself before all others", someone, NULL, attaches_heavily, 0, EPERM },
		{ "a user splits huge pages of itself", someone, NULL, attaches_splitting, 0, EOPNOTSUPP },
		{ "root without CAP_SYS_NICE profiles another's before all others", without_nice, someone, attaches_heavily, EPERM,
		  EPERM },
		{ "root profiles another's before all others", nothing, someone, attaches_heavily, 0, EOPNOTSUPP },
		{ "root splits huge pages of another's", nothing, someone, attaches_splitting, 0, EOPNOTSUPP },
		{ "root without CAP_SYS_NICE moves another's by 16 threads", without_nice, someone, attaches_and_moves_by_all, EPERM, EPERM },
		{ "root without CAP_SYS_NICE moves its own", without_nice, NULL, attaches_and_moves, 0, 0 },
		{ "root without CAP_SYS_NICE moves its own shared pages", without_nice, NULL, attaches_and_moves_shared, EPERM,
		  EPERM },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const int fd = device(O_RDWR);
		const pid_t whom = row[i].whom ? target(row[i].whom) : 0;

		expect(row[i].what, as(row[i].who, fd, row[i].does, whom),
		       by_capability ? row[i].want_by_capability : row[i].want);
		if (whom)
			end(whom);
		close(fd);
	}
}

/* The kernel thread with PID 2, a zombie, one that has been reaped, its PID given to another. */
static void not_a_program(void)
{
	int fd = device(O_RDWR), pidfd;
	pid_t zombie, pid;

	for (;;) {
		zombie = fork();
		if (!zombie)
			_exit(0);
		if (zombie > RESERVED_PIDS)
			break;
		waitpid(zombie, NULL, 0);
	}
	pidfd = (int)syscall(SYS_pidfd_open, zombie, 0);
	waitid(P_PID, (id_t)zombie, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	expect("a kernel thread", attach(fd, 2), EINVAL);
	expect("a zombie", attach(fd, zombie), EINVAL);
	waitpid(zombie, NULL, 0);
	expect("one that has been reaped", attach(fd, zombie), ESRCH);
	expect("one that has been reaped, by its pidfd", attach_pidfd(fd, pidfd), ESRCH);
	pid = target(nothing);
	for (int n = 0; n < MANY_PIDS && pid != zombie; n++) {
		end(pid);
		pid = target(nothing);
	}
	if (pid == zombie)
		expect("another with its PID, by the old pidfd", attach_pidfd(fd, pidfd), ESRCH);
	else
		printf("NOT OK: PID %d was not given again\n", zombie), failures++;
	end(pid);
	close(pidfd);
	close(fd);
}

/* In a PID namespace of its own a process knows no PID of ours, whatever the number. */
static void other_namespace(void)
{
	const int fd = device(O_RDWR);
	const pid_t whom = target(nothing);
	int status;
	const pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWPID))
			fail("unshare");
		const pid_t inside = fork();

		if (!inside)
			_exit(attach(fd, whom));
		waitpid(inside, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	waitpid(pid, &status, 0);
	expect("a PID of the outer namespace", WEXITSTATUS(status), ESRCH);
	end(whom);
	close(fd);
}

/* A session of a user's program does not follow it into a suid program. */
static void suid_exec(const char *suid)
{
	const int fd = device(O_RDWR), again = device(O_RDWR);
	struct hmk_event ev = { 0 };
	int go[2], ready[2];
	char byte;
	pid_t pid;

	if (pipe2(go, 0) || pipe2(ready, O_CLOEXEC))
		fail("pipe");
	pid = fork();
	if (!pid) {
		someone();
		memset(memory, 1, BYTES);
		if (write(ready[1], "r", 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(1);
		execl(suid, suid, "1000", NULL);
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		fail("the program");
	expect("a session of a user's program", attach(fd, pid), 0);
	expect("  its clock runs", answer(ioctl(fd, HMK_IOC_START, 0)), 0);
	if (write(go[1], "g", 1) != 1 || read(ready[0], &byte, 1) != 0)	/* closed by the exec */
		fail("exec");
	/* The old program's memory may live a moment longer, as long as the clock looks at it. */
	while (read(fd, &ev, sizeof(ev)) == sizeof(ev) && ev.kind != HMK_EVENT_GONE)
		;
	expect("  after exec of a suid program the session says that it has gone", ev.kind == HMK_EVENT_GONE ? 0 : EIO, 0);
	expect("  a move", move(fd, 0), ESRCH);
	expect("  its user may not profile it now", as(someone, again, attaches, pid), EPERM);
	end(pid);
	close(fd);
	close(again);
}

/* A descriptor may be handed on; the rights of who uses it count, not of who opened it. */
static void handed_on(void)
{
	const pid_t whom = target(nothing);
	const pid_t users_own = target(someone);
	const int fd = device(O_RDWR), read_only = device(O_RDONLY), users = device(O_RDWR);
	const struct {
		const char *what;
		int (*does)(int fd, pid_t of);
		int want;	/* of root */
	} row[] = {
		{ "the table", reads_the_table, 0 }, { "events", reads_events, EAGAIN }, { "poll", polls, 0 },
		{ "STATS", reads_stats, 0 },
		{ "SET", sets, 0 }, { "START", starts, 0 }, { "STOP", stops, 0 }, { "RESULT", fetches, ENOENT },
	};
	char what[128];

	expect("root's session", attach(fd, whom), 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		snprintf(what, sizeof(what), "  handed to nobody: %s", row[i].what);
		expect(what, as(nobody, fd, row[i].does, whom), EPERM);
		snprintf(what, sizeof(what), "  used by root: %s", row[i].what);
		expect(what, as(nothing, fd, row[i].does, whom), row[i].want);
	}
	expect("a user's session", as(someone, users, attaches, users_own), 0);
	expect("  handed to nobody: STATS", as(nobody, users, reads_stats, 0), EPERM);
	expect("  used by another process of its user: STATS", as(someone, users, reads_stats, 0), 0);
	expect("  whoever drops CAP_SYS_PTRACE meanwhile: STATS", as(without_ptrace, users, reads_stats, 0), EPERM);
	end(users_own);
	expect("  after the end of its target, nobody: events", as(nobody, users, reads_events, 0), EPERM);
	expect("  after the end of its target, its user: STATS", as(someone, users, reads_stats, 0), 0);
	close(users);
	expect("  handed to nobody: a move", as(nobody, fd, moves, 0), EPERM);
	expect("  handed to nobody: a move of shared pages", as(nobody, fd, moves_shared, 0), EPERM);
	expect("  handed to nobody: a ticket", as(nobody, fd, moves_later, 0), EPERM);
	expect("  whoever drops CAP_SYS_NICE meanwhile", as(without_nice, fd, moves, 0), EPERM);
	expect("a descriptor for reading: what the module can do", as(nobody, read_only, knows, 0), 0);
	expect("  to attach with it", attach(read_only, whom), EBADF);
	expect("  to start with it", answer(ioctl(read_only, HMK_IOC_START, 0)), EBADF);
	expect("  to move with it", move(read_only, 0), EBADF);
	end(whom);
	expect("root's session after the end of its target: a weight above others'", set(fd, WEIGHT(101)), 0);
	close(fd);
	close(read_only);
}

static int first_byte(int fd, pid_t of)
{
	(void)fd;
	(void)of;
	signal(SIGSEGV, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	return *(volatile char *)published;
}

/* The table: for reading, not for children, and nothing in it but what was published. */
static void table(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid() };
	const int fd = device(O_RDWR);
	unsigned long nonzero = 0;

	expect("the table before ATTACH", answer((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0)), ENOTCONN);
	expect("ATTACH", answer(ioctl(fd, HMK_IOC_ATTACH, &a)), 0);
	expect("the table for writing", answer((long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)), EACCES);
	expect("the table for executing", answer((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0)), EACCES);
	expect("beyond its end", answer((long)mmap(NULL, a.table_bytes + 4096, PROT_READ, MAP_SHARED, fd, 0)), EINVAL);
	expect("from its second page", answer((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096)), EINVAL);
	published = mmap(NULL, a.table_bytes, PROT_READ, MAP_SHARED, fd, 0);
	expect("the table for reading", answer((long)published), 0);
	expect("  made writable later", answer(mprotect(published, 4096, PROT_READ | PROT_WRITE)), EACCES);
	expect("  grown", answer((long)mremap(published, a.table_bytes, 2 * a.table_bytes, MREMAP_MAYMOVE)), EFAULT);
	for (__u64 i = sizeof(struct hmk_table_header); i < a.table_bytes; i++)
		nonzero += published[i] != 0;
	expect("  before the first interval all zero", nonzero ? EIO : 0, 0);
	expect("  not there in a child", as(nothing, fd, first_byte, 0), 255);
	close(fd);
}

/* What is written back does not depend on what lay there: two prefilled buffers end alike. */
static void leftovers(void)
{
	const int fd = device(O_RDWR);
	const struct { const char *what; unsigned long cmd; size_t size; } row[] = {
		{ "INFO leaves nothing unwritten", HMK_IOC_GET_INFO, sizeof(struct hmk_info) },
		{ "STATS leaves nothing unwritten", HMK_IOC_STATS, sizeof(struct hmk_stats) },
	};
	unsigned char buffer[2][2048];

	attach(fd, getpid());
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		for (int k = 0; k < 2; k++) {
			memset(buffer[k], 0, sizeof(buffer[k]));
			memset(buffer[k] + 8, k ? 0xa5 : 0x5a, row[i].size - 8);
			*(__u32 *)buffer[k] = (__u32)row[i].size;
			ioctl(fd, row[i].cmd, buffer[k]);
		}
		expect(row[i].what, memcmp(buffer[0], buffer[1], sizeof(buffer[0])) ? EIO : 0, 0);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	by_capability = argc > 2 && !strcmp(argv[2], "capability");
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 0, BYTES);
	rows();
	if (!by_capability) {
		not_a_program();
		other_namespace();
		suid_exec(argv[1]);
		handed_on();
		table();
		leftovers();
	}
	printf("%d of the rows are not as written\n", failures);
	return failures ? 1 : 0;
}

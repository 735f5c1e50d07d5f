// SPDX-License-Identifier: MIT
// Lifecycle fuzz: targets that change all the time, clients that come and go, a
// supervisor that kills either. fuzz SECONDS SEED; on its own exec: fuzz target SLOT SEED FD.
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include "owner.h"
#include "target.h"

#define KILL_EVERY_NS	30000000
#define END_SECONDS	120
#define RESERVED_PIDS	300	/* of the kernel */
#define FORKS_MAX	5000u

static char *self, shared_fd[16];
static pid_t owners[OWNERS];

/* As fork(); a fork that fails is no process to wait for. */
static pid_t spawn(void)
{
	const pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	return pid;
}

static void spawn_target(unsigned int i)
{
	const pid_t pid = spawn();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		rng ^= (uint64_t)getpid() << 32;
		run_target(i, self, shared_fd);
	}
	sh->slots[i].pid = pid;
}

static void spawn_owner(unsigned int i)
{
	owners[i] = spawn();
	if (!owners[i]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		rng ^= (uint64_t)getpid() << 32;
		run_owner();
	}
}

/* Take what has ended; it ended by our SIGKILL or with 0. Return: how many. */
static unsigned int reap(bool spawn_again)
{
	unsigned int n = 0;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
			die("process %d ended with status %#x", pid, status);
		n++;
		for (unsigned int i = 0; i < TARGETS && spawn_again; i++) {
			if (sh->slots[i].pid == pid)
				spawn_target(i);
		}
		for (unsigned int i = 0; i < OWNERS && spawn_again; i++) {
			if (owners[i] == pid)
				spawn_owner(i);
		}
	}
	return n;
}

/* Ends the process before and starts one that sleeps. Return: its PID. */
static pid_t sleeper(pid_t before)
{
	pid_t pid;

	if (before) {
		kill(before, SIGKILL);
		waitpid(before, NULL, 0);
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

/* A target whose PID went to another process: the session must not follow the number. */
static void pid_is_reused(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID };
	const int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hmk_range range = { .start = (uint64_t)memory, .length = PAGE, .node = 2 };
	struct hmk_move move = { .size = sizeof(move), .ranges = (uint64_t)&range, .nr_ranges = 1 };
	pid_t first = 0, pid;

	*memory = 1;
	do	/* PIDs below are given once, after boot, and never again */
		first = sleeper(first);
	while (first <= RESERVED_PIDS);
	a.pidfd = first;
	if (ioctl(fd, HMK_IOC_ATTACH, &a) || ioctl(fd, HMK_IOC_START))
		die("attach: %s", strerror(errno));
	pid = sleeper(first);
	for (unsigned int n = 0; pid != first; n++) {
		if (n == FORKS_MAX)
			die("PID %d does not come again", first);
		pid = sleeper(pid);
	}
	ALLOWED(ioctl(fd, HMK_IOC_STOP));
	if (!ioctl(fd, HMK_IOC_MOVE, &move) || errno != ESRCH)
		die("a session followed PID %d to another process", pid);
	if (!ioctl(fd, HMK_IOC_START) || errno != ESRCH)
		die("a session starts on another process of its PID");
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(memory, PAGE);
	printf("ok: a session does not follow PID %d to another process\n", first);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static const char *lacking(void)
{
#define AS_NAME(name) #name,
	static const char *const names[] = { FUZZ_KINDS(AS_NAME) };

	for (unsigned int i = WANTED_FROM; i < DID_NR; i++) {
		if (!sh->did[i])
			return names[i];
	}
	return NULL;
}

/* END_SECONDS of a plain kernel from @ns on: a debug kernel has as many more as the lab gives it. */
static uint64_t limit_ns(uint64_t ns)
{
	const char *slowness = getenv("HMK_SLOWNESS");

	return ns + (uint64_t)(END_SECONDS * 1e9 * (slowness ? atof(slowness) : 1));
}

/* Where in the kernel a process is. */
static void show_stack(pid_t pid)
{
	char file[64], line[256];
	FILE *stack;

	snprintf(file, sizeof(file), "/proc/%d/stack", pid);
	stack = fopen(file, "re");
	printf("PID %d%s\n", pid, stack ? ":" : " has ended");
	while (stack && fgets(line, sizeof(line), stack))
		printf("  %s", line);
	if (stack)
		fclose(stack);
}

/* Whoever is told to stop does so. */
static void wait_for_all(void)
{
	const struct timespec pause = { .tv_nsec = KILL_EVERY_NS };
	const uint64_t limit = limit_ns(now_ns());

	sh->stop = 1;
	for (unsigned int left = TARGETS + OWNERS; left; left -= reap(false)) {
		if (now_ns() > limit) {
			for (unsigned int i = 0; i < TARGETS; i++)
				show_stack(sh->slots[i].pid);
			for (unsigned int i = 0; i < OWNERS; i++)
				show_stack(owners[i]);
			die("%u processes do not end", left);
		}
		nanosleep(&pause, NULL);
	}
}

static void supervise(uint64_t seconds)
{
	const uint64_t end = now_ns() + seconds * 1000000000, limit = limit_ns(end);
	const struct timespec pause = { .tv_nsec = KILL_EVERY_NS };

	for (unsigned int i = 0; i < TARGETS; i++)
		spawn_target(i);
	for (unsigned int i = 0; i < OWNERS; i++)
		spawn_owner(i);
	while (now_ns() < end || lacking()) {
		if (now_ns() > limit)
			die("no '%s' happened", lacking());
		nanosleep(&pause, NULL);
		/* On a slow kernel nobody lives long enough to see a forked child end: then what lacks happens in peace. */
		if (!below(12) && (now_ns() < end || !sh->did[DID_kill_target])) {
			kill(sh->slots[below(TARGETS)].pid, SIGKILL);
			did(DID_kill_target);
		} else if (!below(8)) {
			kill(owners[below(OWNERS)], SIGKILL);
			did(DID_kill_owner);
		}
		reap(true);
	}
	wait_for_all();
}

int main(int argc, char **argv)
{
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 5) {
		self = argv[0];
		rng = strtoull(argv[3], NULL, 0);
		sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[4]), 0);
		if (sh == MAP_FAILED)
			die("the shared page: %s", strerror(errno));
		run_target((unsigned int)atoi(argv[2]), argv[0], argv[4]);
	}
	self = argv[0];
	rng = strtoull(argv[2], NULL, 0) | 1;
	fd = memfd_create("fuzz", 0);	/* stays open over an exec */
	snprintf(shared_fd, sizeof(shared_fd), "%d", fd);
	if (ftruncate(fd, sizeof(*sh)))
		die("memfd: %s", strerror(errno));
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pid_is_reused();
	supervise(strtoull(argv[1], NULL, 0));
#define AS_COUNT(name) printf("%s %lu, ", #name, sh->did[DID_##name]);
	FUZZ_KINDS(AS_COUNT)
	puts("");
	return 0;
}

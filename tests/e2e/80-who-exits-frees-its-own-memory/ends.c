// SPDX-License-Identifier: MIT
/*
 * Targets killed while a clock without a budget is looking at them nearly all of the time.
 *
 *	ends ROUNDS
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/hmk.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TABLES	4096ul	/* of which each has one page: choosing samples there takes nearly all of the time */
#define TABLE	(2ul << 20)
#define INTERVAL_NS 50000000
#define LIMIT_MS 30000

static void check(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

static pid_t spawn(void)
{
	char *memory, byte;
	int ready[2];
	pid_t pid;

	check(!pipe(ready), "pipe");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memory = mmap(NULL, TABLES * TABLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		madvise(memory, TABLES * TABLE, MADV_NOHUGEPAGE);
		for (unsigned long i = 0; i < TABLES; i++)
			memory[i * TABLE] = 1;
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	check(read(ready[0], &byte, 1) == 1, "a target starts");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void one(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID,
				.params = { .mask = HMK_PARAM_INTERVAL | HMK_PARAM_SWITCHES | HMK_PARAM_NUM_SCANS,
					    .interval_ns = INTERVAL_NS, .num_scans = 16, .switches = HMK_SWITCH_NO_BUDGET } };
	struct pollfd p = { .fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC), .events = POLLIN };
	struct hmk_event ev = { 0 };

	a.pidfd = spawn();
	check(!ioctl(p.fd, HMK_IOC_ATTACH, &a) && !ioctl(p.fd, HMK_IOC_START, 0), "attach and start");
	check(poll(&p, 1, LIMIT_MS) == 1, "the first interval ends");
	usleep((useconds_t)rand() % (4 * INTERVAL_NS / 1000));
	kill(a.pidfd, SIGKILL);
	check(waitpid(a.pidfd, NULL, 0) == a.pidfd, "it ends");
	while (ev.kind != HMK_EVENT_GONE && poll(&p, 1, LIMIT_MS) == 1 && read(p.fd, &ev, sizeof(ev)) == sizeof(ev))
		;
	check(ev.kind == HMK_EVENT_GONE, "the session says so");
	close(p.fd);
}

int main(int argc, char **argv)
{
	for (long left = strtol(argv[argc - 1], NULL, 0); left > 0; left--)
		one();
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * A process that becomes a virtual machine: KVM registers an mmu notifier on it.
 *
 *	becomes told	while a session of ours profiles it: the session says so, stops, and does not start again
 *	becomes asked	when a line comes
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <linux/kvm.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES (8ul << 20)
#define LIMIT_MS 60000
#define QUIET_MS 1000	/* twenty intervals */

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "ok" : "NOT OK", what);
	fflush(stdout);
	if (!holds)
		exit(1);
}

static int become(void)
{
	const int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	return kvm < 0 ? -1 : ioctl(kvm, KVM_CREATE_VM, 0);
}

static char *fill(void)
{
	char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(at, 1, BYTES);
	return at;
}

static void told(void)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID,
				.params = { .mask = HMK_PARAM_INTERVAL, .interval_ns = 50000000 } };
	struct pollfd p = { .fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC), .events = POLLIN };
	struct hmk_event ev = { 0 };
	struct hmk_stats before = { .size = sizeof(before) }, after = { .size = sizeof(after) };
	int go[2], seen = 0;
	char byte;

	check(!pipe(go), "pipe");
	a.pidfd = fork();
	if (!a.pidfd) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fill();
		_exit(read(go[0], &byte, 1) == 1 && become() >= 0 && pause() ? 0 : 1);
	}
	check(!ioctl(p.fd, HMK_IOC_ATTACH, &a) && !ioctl(p.fd, HMK_IOC_START), "attach and start");
	check(poll(&p, 1, LIMIT_MS) == 1 && read(p.fd, &ev, sizeof(ev)) == sizeof(ev), "an interval ends");
	check(ev.kind == HMK_EVENT_INTERVAL && write(go[1], "g", 1) == 1, "it is told");
	while (ev.kind != HMK_EVENT_STOPPED && poll(&p, 1, LIMIT_MS) == 1 && read(p.fd, &ev, sizeof(ev)) == sizeof(ev))
		seen++;
	check(ev.kind == HMK_EVENT_STOPPED && ev.value == HMK_STOPPED_NOTIFIER && ev.time_ns, "the session says that it has stopped, and why");
	check(!(p.revents & POLLHUP), "it has not ended");
	check(!ioctl(p.fd, HMK_IOC_STATS, &before) && poll(&p, 1, QUIET_MS) == 0, "nothing more is told");
	check(!ioctl(p.fd, HMK_IOC_STATS, &after) && before.intervals == after.intervals, "no interval ends any more");
	check(ioctl(p.fd, HMK_IOC_START) < 0 && errno == EOPNOTSUPP, "it does not start again");
	check(!ioctl(p.fd, HMK_IOC_STOP) && ioctl(p.fd, HMK_IOC_START) < 0 && errno == EOPNOTSUPP, "nor after STOP");
	kill(a.pidfd, SIGKILL);
	waitpid(a.pidfd, NULL, 0);
	check(!ioctl(p.fd, HMK_IOC_STOP) && ioctl(p.fd, HMK_IOC_START) < 0 && errno == ESRCH, "it ends");
	close(p.fd);
}

int main(int argc, char **argv)
{
	char line[16], *at;

	if (argc > 1 && !strcmp(argv[1], "told")) {
		told();
		return 0;
	}
	at = fill();
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin) || become() < 0)
		return 1;
	while (fgets(line, sizeof(line), stdin))
		at[0]++;
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * Load, use, be refused to unload while in use, unload; every fourth time the user is killed in the middle of a move.
 *
 *	cycle MODULE SECONDS
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
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

#define BYTES	(1ul << 20)
#define LIMIT	20.0	/* seconds for the kernel to let go of a killed program */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int holds, const char *what)
{
	if (holds)
		return;
	printf("NOT OK: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long unload(void)
{
	return syscall(SYS_delete_module, "hmk", O_NONBLOCK);
}

/* A session with its clock running and tickets under way. */
static void use(int fd, char *memory, unsigned int tickets)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .pidfd = getpid(),
				.params = { .mask = HMK_PARAM_INTERVAL, .interval_ns = 50000000 } };

	check(!ioctl(fd, HMK_IOC_ATTACH, &a), "ATTACH");
	check(!ioctl(fd, HMK_IOC_START, 0), "START");
	for (unsigned int i = 0; i < tickets; i++) {
		struct hmk_range r = { .start = (__u64)memory, .length = BYTES, .node = (__s32)(i % 4) };
		struct hmk_move m = { .size = sizeof(m), .flags = HMK_MOVE_TICKET, .cookie = i, .ranges = (__u64)&r,
				      .nr_ranges = 1 };

		check(!ioctl(fd, HMK_IOC_MOVE, &m), "a ticket");
	}
}

static void killed_user(char *memory)
{
	int ready[2];
	char byte;
	pid_t pid;

	check(!pipe(ready), "pipe");
	pid = fork();
	if (!pid) {
		use(open(HMK_DEVICE_PATH, O_RDWR), memory, HMK_MAX_TICKETS);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		pause();
	}
	check(read(ready[0], &byte, 1) == 1, "the user is under way");
	close(ready[0]);
	close(ready[1]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void one(const char *module, char *memory, unsigned long round)
{
	const int image = open(module, O_RDONLY | O_CLOEXEC);
	double end;
	int fd;

	check(!syscall(SYS_finit_module, image, "", 0), "load");
	if (!round)
		check(syscall(SYS_finit_module, image, "", 0) && errno == EEXIST, "load twice");
	close(image);
	fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	check(fd >= 0, HMK_DEVICE_PATH);
	check(unload() && (errno == EAGAIN || errno == EBUSY), "unload while in use");
	use(fd, memory, 4);
	close(fd);
	if (round % 4 == 3)
		killed_user(memory);
	end = now() + LIMIT;
	while (unload()) {
		check(errno == EAGAIN && now() < end, "unload");
		usleep(1000);
	}
	check(access(HMK_DEVICE_PATH, F_OK), "the device is gone");
	for (unsigned long i = 0; i < BYTES; i += 4096)
		check(memory[i] == 'm', "LOST: memory keeps its contents");
}

int main(int argc, char **argv)
{
	const double end = now() + atof(argv[2]);
	unsigned long cycles = 0;
	char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)argc;
	memset(memory, 'm', BYTES);
	while (now() < end || cycles < 4)
		one(argv[1], memory, cycles++);
	printf("cycles %lu\n", cycles);
	return 0;
}

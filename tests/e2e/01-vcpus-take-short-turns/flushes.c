// SPDX-License-Identifier: MIT
/* Takes write permission from a page 200 times while a second thread computes on CPU 0: each asks
 * that vCPU to flush its TLB and waits for it. Prints the mean time of one, in nanoseconds of the guest. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define ROUNDS 200

static volatile int running, stop;

static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static void *compute(void *page)
{
	bind_to(0);
	running = 1;
	while (!stop)
		++*(volatile char *)page;
	return NULL;
}

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

int main(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	long spent = 0;

	if (pages == MAP_FAILED || pthread_create(&thread, NULL, compute, pages))
		return 1;
	bind_to(1);
	while (!running)
		sched_yield();
	for (int i = 0; i < ROUNDS; i++) {
		long begin;

		mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE);
		((volatile char *)pages)[4096] = (char)i;
		begin = now_ns();
		mprotect(pages + 4096, 4096, PROT_READ);
		spent += now_ns() - begin;
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("%ld\n", spent / ROUNDS);
	return 0;
}

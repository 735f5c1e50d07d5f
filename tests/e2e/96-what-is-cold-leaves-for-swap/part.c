// SPDX-License-Identifier: MIT
// One area, each page full of its number, of which the first quarter is read over and over. Prints its PID and how many
// pages it has; answers each letter on stdin with a line:
//   a  from now on all of it is     c  how many words were wrong in all reads so far, how often the area was passed
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096ul
#define WORDS	(PAGE / sizeof(uint64_t))
#define PAGES	81920ul	/* 320 MiB */

static uint64_t (*area)[WORDS];
static atomic_ulong used = PAGES / 4, wrong, passes;

static void *use(void *arg)
{
	for (;;) {
		for (unsigned long page = 0; page < used; page++)
			wrong += area[page][page % WORDS] != page + 1 || area[page][0] != page + 1;
		passes++;
		usleep(100000);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	int letter;

	area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (unsigned long page = 0; page < PAGES; page++)
		for (unsigned long n = 0; n < WORDS; n++)
			area[page][n] = page + 1;
	if (pthread_create(&thread, NULL, use, NULL))
		return 1;
	printf("%d %lu\n", getpid(), PAGES);
	fflush(stdout);
	while ((letter = getchar()) != EOF) {
		if (letter == 'a')
			used = PAGES;
		if (letter == '\n')
			continue;
		printf("%lu %lu\n", wrong, passes);
		fflush(stdout);
	}
	return 0;
}

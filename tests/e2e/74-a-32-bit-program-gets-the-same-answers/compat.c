// SPDX-License-Identifier: MIT
/*
 * compat: a session from open to close, first by the 64-bit entry of the kernel, then by that of 32-bit programs
 * (int 0x80, arguments below 4 GiB). Says how often both got the same answer; exit code 1 where they did not.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES	16u
#define NODE	2
#define COOKIE	7
#define ANSWERS	32
#define MOVE_SIZE_BEFORE 40	/* without copy_threads */

struct call {
	long number, number32;
};

static const struct call open_call = { SYS_open, 5 }, close_call = { SYS_close, 6 }, read_call = { SYS_read, 3 },
	ioctl_call = { SYS_ioctl, 54 }, poll_call = { SYS_poll, 168 };

/* All that is handed over, in memory a 32-bit program could name. */
struct arguments {
	char path[16];
	struct hmk_info info;
	struct hmk_attach attach;
	struct hmk_set set;
	struct hmk_move move;
	struct hmk_result result;
	struct hmk_stats stats;
	struct hmk_event event[8];
	struct hmk_range range;
	struct hmk_range_result moved;
	__s32 status[PAGES];
	struct pollfd wait;
	char pages[PAGES + 1][HMK_PAGE_SIZE];
};

static struct arguments *all;
static int by_32;

static long ask(struct call call, long a, void *b, unsigned long c)
{
	long answer;

	if (!by_32) {
		answer = syscall(call.number, a, b, c);
		return answer < 0 ? -errno : answer;
	}
	asm volatile("int $0x80" : "=a"(answer) : "a"(call.number32), "b"(a), "c"(b), "d"(c)
		     : "memory", "r8", "r9", "r10", "r11");
	return (int)answer;
}

static long request(long fd, unsigned long what, void *argument)
{
	return ask(ioctl_call, fd, (void *)what, (unsigned long)argument);
}

/* Waits for events and forgets them, for how many there are differs from run to run: 0 when they were whole ones. */
static long next_event(long fd)
{
	all->wait = (struct pollfd){ .fd = (int)fd, .events = POLLIN };
	if (ask(poll_call, (long)&all->wait, (void *)1, 20000) != 1)
		return -ETIME;
	return ask(read_call, fd, all->event, sizeof(all->event)) % (long)sizeof(*all->event);
}

static char *start_of_pages(void)
{
	return (char *)(((unsigned long)all->pages + HMK_PAGE_SIZE - 1) & -(unsigned long)HMK_PAGE_SIZE);
}

static void prepare(void)
{
	memset(all, 0, sizeof(*all));
	strcpy(all->path, HMK_DEVICE_PATH);
	all->info.size = sizeof(all->info);
	all->attach.size = sizeof(all->attach);
	all->attach.flags = HMK_ATTACH_PID;
	all->attach.pidfd = getpid();
	all->attach.params.mask = HMK_PARAM_INTERVAL;
	all->attach.params.interval_ns = 100000000;
	all->set = (struct hmk_set){ .size = sizeof(all->set), .params = { .mask = HMK_PARAM_WEIGHT, .weight = 7 } };
	all->range = (struct hmk_range){ .start = (unsigned long)start_of_pages(), .length = PAGES * HMK_PAGE_SIZE, .node = NODE,
					 .status = (unsigned long)all->status };
	all->move = (struct hmk_move){ .size = sizeof(all->move), .ranges = (unsigned long)&all->range,
				       .results = (unsigned long)&all->moved, .nr_ranges = 1 };
	all->result = (struct hmk_result){ .size = sizeof(all->result), .cookie = COOKIE,
					   .results = (unsigned long)&all->moved, .nr_ranges = 1 };
	all->stats.size = sizeof(all->stats);
	memset(start_of_pages(), 5, PAGES * HMK_PAGE_SIZE);
}

static long pages_moved(void)
{
	return (long)(all->moved.pages_clean + all->moved.pages_recopied + all->moved.pages_sync + all->moved.pages_already);
}

/* The answers of one session, in order; how many. */
static unsigned int session(long *answer)
{
	unsigned int n = 0;
	long fd;

	prepare();
	fd = ask(open_call, (long)all->path, (void *)(O_RDWR | O_CLOEXEC), 0);
	answer[n++] = fd >= 0;
	answer[n++] = request(fd, HMK_IOC_GET_INFO, &all->info);
	answer[n++] = (long)all->info.features;
	answer[n++] = request(fd, _IO(HMK_IOC_MAGIC, 0x7f), &all->info);
	answer[n++] = request(fd, HMK_IOC_STATS, &all->stats);
	answer[n++] = request(fd, HMK_IOC_ATTACH, (void *)1);
	answer[n++] = request(fd, HMK_IOC_ATTACH, &all->attach);
	answer[n++] = (long)all->attach.params.interval_ns;
	answer[n++] = request(fd, HMK_IOC_SET, &all->set);
	answer[n++] = all->set.params.weight;
	answer[n++] = request(fd, HMK_IOC_START, NULL);
	answer[n++] = next_event(fd);
	answer[n++] = request(fd, HMK_IOC_MOVE, &all->move);
	answer[n++] = pages_moved();
	for (unsigned int i = 0; i < PAGES; i++)
		answer[n] += all->status[i] == NODE;
	n++;
	all->range.node = 0;
	all->range.status = all->move.results = 0;
	all->move.flags = HMK_MOVE_TICKET;
	all->move.cookie = COOKIE;
	answer[n++] = request(fd, HMK_IOC_MOVE, &all->move);
	do {
		answer[n] = next_event(fd);
		answer[n + 1] = request(fd, HMK_IOC_RESULT, &all->result);
	} while (!answer[n] && answer[n + 1] == -EAGAIN);
	n += 2;
	answer[n++] = pages_moved();
	answer[n++] = request(fd, HMK_IOC_RESULT, &all->result);
	answer[n++] = request(fd, HMK_IOC_STATS, &all->stats);
	answer[n++] = (long)all->stats.moved_pages[NODE];
	all->move = (struct hmk_move){ .size = sizeof(all->move), .ranges = (unsigned long)&all->range, .nr_ranges = 1,
				       .copy_threads = HMK_MAX_COPY_THREADS };
	answer[n++] = request(fd, HMK_IOC_MOVE, &all->move);
	all->move.copy_threads++;
	answer[n++] = request(fd, HMK_IOC_MOVE, &all->move);
	all->move = (struct hmk_move){ .size = MOVE_SIZE_BEFORE, .ranges = (unsigned long)&all->range, .nr_ranges = 1 };
	answer[n++] = request(fd, _IOC(_IOC_READ | _IOC_WRITE, HMK_IOC_MAGIC, 5, MOVE_SIZE_BEFORE), &all->move);
	all->stats.size = 1;
	answer[n++] = request(fd, HMK_IOC_STATS, &all->stats);
	answer[n++] = request(fd, HMK_IOC_STOP, NULL);
	answer[n++] = ask(close_call, fd, NULL, 0);
	for (unsigned int i = 0; i < PAGES * HMK_PAGE_SIZE; i++)
		answer[n] += start_of_pages()[i] == 5;
	return n + 1;
}

int main(void)
{
	long answers[2][ANSWERS] = {};
	unsigned int n = 0, wrong = 0;

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (all == MAP_FAILED)
		err(2, "no memory below 4 GiB");
	for (by_32 = 0; by_32 < 2; by_32++)
		n = session(answers[by_32]);
	for (unsigned int i = 0; i < n; i++) {
		const int same = answers[0][i] == answers[1][i];

		printf("%s: answer %u is %ld, by the 32-bit entry %ld\n", same ? "ok" : "NOT OK", i, answers[0][i], answers[1][i]);
		wrong += !same;
	}
	printf("%u of %u answers are the same\n", n - wrong, n);
	return wrong ? 1 : 0;
}

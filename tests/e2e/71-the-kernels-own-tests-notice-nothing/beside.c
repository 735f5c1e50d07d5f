// SPDX-License-Identifier: MIT
/*
 * Runs a program for so many seconds at most and, until it has ended, moves the memory of every process of its session to
 * and fro.
 *
 *	beside hmk SECONDS PROGRAM [ARGUMENT...]		with /dev/hmk, which profiles them as well
 *	beside move_pages SECONDS PROGRAM [ARGUMENT...]	with move_pages(2), to tell what any mover does to it
 *	beside nobody SECONDS PROGRAM [ARGUMENT...]		moves nothing
 *
 * Ends as the program does, with 128 + N after signal N; with 124 when the time was up and the session was killed. The last
 * line on standard error tells how many processes were profiled and how many pages were moved.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/hmk.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SESSIONS	64
#define RANGES		16		/* of one request */
#define MOST		(4ul << 20)	/* bytes of one range */
#define NODES		2
#define MOVE_ALL	4		/* MPOL_MF_MOVE_ALL */
#define TIME_IS_UP	124		/* as timeout(1) says it */

struct session {
	pid_t pid;
	int fd;
};

static struct session sessions[SESSIONS];
static unsigned long attached, moved;
static int by_move_pages;

static unsigned long below(unsigned long n)
{
	return (unsigned long)random() % n;
}

static void forget(struct session *s)
{
	close(s->fd);
	s->pid = 0;
}

/* A session of the process; NULL when it has gone, or there are too many. */
static struct session *session_of(pid_t pid)
{
	struct hmk_attach attach = {
		.size = sizeof(attach), .flags = HMK_ATTACH_PID, .pidfd = pid,
		.params = { .mask = HMK_PARAM_INTERVAL, .interval_ns = 50000000 },
	};
	struct session *free_one = NULL;

	for (struct session *s = sessions; s < sessions + SESSIONS; s++) {
		if (s->pid == pid)
			return s;
		if (!s->pid)
			free_one = s;
	}
	if (!free_one)
		return NULL;
	free_one->fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (free_one->fd < 0)
		return NULL;
	if (ioctl(free_one->fd, HMK_IOC_ATTACH, &attach)) {
		close(free_one->fd);
		return NULL;
	}
	ioctl(free_one->fd, HMK_IOC_START, 0);	/* refused where an mmu notifier is: such memory is only moved */
	free_one->pid = pid;
	attached++;
	return free_one;
}

/* Some of what it has mapped, each to some node. */
static unsigned int choose(pid_t pid, struct hmk_range *ranges)
{
	char path[64], line[512];
	unsigned int n = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return 0;
	while (n < RANGES && fgets(line, sizeof(line), maps)) {
		unsigned long start, end, length;

		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || strstr(line, "[v") || below(3) == 0)
			continue;
		length = end - start < MOST ? end - start : MOST;
		start += below((end - start - length) / HMK_PAGE_SIZE + 1) * HMK_PAGE_SIZE;
		ranges[n++] = (struct hmk_range){ .start = start, .length = length, .node = (int)below(NODES) };
	}
	fclose(maps);
	return n;
}

static void move_by_kernel(pid_t pid, const struct hmk_range *range)
{
	static int nodes[MOST / HMK_PAGE_SIZE], status[MOST / HMK_PAGE_SIZE];
	static void *pages[MOST / HMK_PAGE_SIZE];
	const unsigned long n = range->length / HMK_PAGE_SIZE;

	for (unsigned long i = 0; i < n; i++) {
		pages[i] = (void *)(range->start + i * HMK_PAGE_SIZE);
		nodes[i] = range->node;
		status[i] = -1;
	}
	syscall(SYS_move_pages, pid, n, pages, nodes, status, MOVE_ALL);
	for (unsigned long i = 0; i < n; i++)
		moved += status[i] == range->node;
}

static void move(pid_t pid)
{
	struct hmk_range_result results[RANGES] = {};
	struct hmk_range ranges[RANGES];
	struct hmk_move request = {
		.size = sizeof(request), .ranges = (__u64)ranges, .results = (__u64)results, .nr_ranges = choose(pid, ranges),
		.flags = (below(2) ? HMK_MOVE_SHARED : 0) | (below(4) ? 0 : HMK_MOVE_SYNC_COPY) |
			 (below(8) ? 0 : HMK_MOVE_FORCE_VMA),
	};
	struct session *s;

	if (by_move_pages) {
		for (unsigned int i = 0; i < request.nr_ranges; i++)
			move_by_kernel(pid, &ranges[i]);
		return;
	}
	s = request.nr_ranges ? session_of(pid) : NULL;
	if (!s)
		return;
	if (ioctl(s->fd, HMK_IOC_MOVE, &request)) {
		forget(s);	/* exit or exec: the next round finds what became of it */
		return;
	}
	for (unsigned int i = 0; i < request.nr_ranges; i++)
		moved += results[i].pages_clean + results[i].pages_recopied + results[i].pages_sync;
}

/* -1 for who has ended, waited for or not */
static int session_leader_of(pid_t pid)
{
	char path[64], text[512], state = 'Z';
	int leader = -1;
	char *after;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	stat = fopen(path, "re");
	if (!stat)
		return -1;
	after = fgets(text, sizeof(text), stat) ? strrchr(text, ')') : NULL;
	if (after)
		sscanf(after, ") %c %*d %*d %d", &state, &leader);
	fclose(stat);
	return state == 'Z' ? -1 : leader;
}

/* Calls `what` with each process of the session; the number of them. */
static unsigned int each_of(pid_t leader, void (*what)(pid_t pid))
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned int n = 0;

	while ((entry = readdir(proc))) {
		const pid_t pid = atoi(entry->d_name);

		if (pid > 0 && session_leader_of(pid) == leader) {
			what(pid);
			n++;
		}
	}
	closedir(proc);
	return n;
}

static void leave(pid_t pid)
{
	(void)pid;
	usleep(10000);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
}

int main(int argc, char **argv)
{
	void (*what)(pid_t pid) = move;
	time_t until;
	pid_t pid;
	int status;

	if (argc < 4)
		return 125;
	by_move_pages = !strcmp(argv[1], "move_pages");
	if (!strcmp(argv[1], "nobody"))
		what = leave;
	until = time(NULL) + atoi(argv[2]);
	pid = fork();
	if (pid < 0)
		return 125;
	if (!pid) {
		setsid();
		execv(argv[3], argv + 3);
		_exit(127);
	}
	while (!waitpid(pid, &status, WNOHANG)) {
		each_of(pid, what);
		for (struct session *s = sessions; s < sessions + SESSIONS; s++) {
			if (s->pid && session_leader_of(s->pid) != pid)
				forget(s);
		}
		if (time(NULL) < until)
			continue;
		while (each_of(pid, end))	/* the number of the session is taken until its leader has been waited for */
			usleep(1000);
		waitpid(pid, &status, 0);
		status = TIME_IS_UP << 8;
		break;
	}
	fprintf(stderr, "profiled %lu, moved %lu\n", attached, moved);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

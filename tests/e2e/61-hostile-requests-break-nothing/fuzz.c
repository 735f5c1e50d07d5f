// SPDX-License-Identifier: MIT
/*
 * Requests nobody sane would make: every ioctl, read, mmap of /dev/hmk with each field valid, off by one, overflowing
 * or bad, while another thread rewrites and unmaps what is being read, and the whole program is killed at random.
 *
 *	fuzz SECONDS CALLS SEED [blind]	ends after so many seconds or calls (0: no limit)
 *
 * On a kernel with KCOV the requests are guided by what they reach, unless blind.
 *
 * Two workers, one root and one nobody, each two threads that ask and one that disturbs; a bystander. Each owns pages
 * whose contents it knows and looks through all the time: whatever is moved, nothing may change.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/hmk.h>
#include <linux/kcov.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096ul
#define KNOWN		(4ul << 20)	/* at KNOWN_AT in everybody */
#define KNOWN_AT	((char *)0x200000000000ul)
#define ARENA		(64 * PAGE)	/* what arguments lie in; followed by nothing */
#define FILES		4
#define WORKERS		2
#define VERBS		14
#define COOKIES		8		/* of a session; that of a ticket tells how many ranges it has */
#define BIG_ONE_IN	64		/* requests that cost the kernel megabytes */
#define OFTEN		106
#define ASKING		2		/* threads of a worker that ask */
#define DRAWS		64		/* numbers of a request that are kept */
#define KEPT		4096
#define PLACES		65536		/* bits; a place of the module is one, and rarely two are the same */
#define TRACE		65536		/* places of one request that are looked at */

struct shared {
	atomic_ulong calls, lost, verb[VERBS], accepted[VERBS];
	atomic_ulong reached, kept;
	atomic_uchar place[PLACES];
	unsigned long draws[KEPT][DRAWS];
	atomic_int pid[WORKERS + 1];
};

static struct shared *shared;
/*
 * Ranges lie in an arena of their own, each where another can begin: one that is half overwritten by others of another phase
 * would have an address of known memory, their start, where its status is to be written, and that is no loss of the module's.
 */
static char *arena, *range_arena;
static int files[FILES], pidfd = -1, kcov[ASKING];
static __thread unsigned long seed;
static int blind;

/* The request being made: the numbers drawn for it, and those of the one it repeats, or NULL. */
static __thread struct {
	unsigned long draws[DRAWS];
	const unsigned long *like;
	unsigned int n;
} request;

static unsigned long next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dul;
}

/* The next number, or one time in eight another than in the request that is repeated. */
static unsigned long draw(void)
{
	unsigned long value = next();

	if (request.n >= DRAWS)
		return value;
	if (request.like && next() % 8)
		value = request.like[request.n];
	return request.draws[request.n++] = value;
}

static unsigned long below(unsigned long n)
{
	return draw() % n;
}

static int once_in(unsigned long n)
{
	return !below(n);
}

/* ---- values -------------------------------------------------------------- */

/* The value, or one beside it, or a border of some type, or anything. */
static unsigned long near(unsigned long value)
{
	static const unsigned long borders[] = {
		0, 1, 2, 3, 4, 7, 8, 63, 64, 511, 512, 513, 4095, 4096, 4097, 65535, 65536, 65537, 1ul << 21, 0x7fffffff,
		0x80000000, 0xffffffff, 1ul << 32, 1ul << 40, (1ul << 40) + 4096, 1ul << 47, (1ul << 47) - 4096,
		0x7fffffffffffffff, 1ul << 63, -1ul, -4096ul, -4095ul,
	};

	switch (below(8)) {
	case 0: return value + 1;
	case 1: return value - 1;
	case 2: return borders[below(sizeof(borders) / sizeof(*borders))];
	case 3: return draw() >> below(64);
	default: return value;
	}
}

/* Mostly the value: a request with every field wrong gets no further than the first. */
static unsigned long mostly(unsigned long value)
{
	return once_in(12) ? near(value) : value;
}

/* Memory for an argument in an arena: good, at the edge of what is mapped, or not memory at all. */
static void *place_in(char *in, size_t bytes, size_t align)
{
	static void *const bad[] = { NULL, (void *)1, (void *)0xffff888000000000ul, (void *)0x8000000000000000ul,
				     (void *)0xffffffffff600000ul, (void *)0x7ffffffff000ul, (void *)-1ul };
	const size_t edge = in == range_arena ? align : 1;

	switch (below(24)) {
	case 0: return bad[below(sizeof(bad) / sizeof(*bad))];
	case 1: return in + ARENA - below(bytes / edge + 1) * edge;
	case 2: return in + ARENA + below(PAGE / edge) * edge;
	}
	return bytes >= ARENA ? in : in + below(ARENA - bytes) / align * align;
}

static void *place(size_t bytes)
{
	return place_in(arena, bytes, 8);
}

/* Put a request somewhere. A thread that unmaps it meanwhile costs this process its life, nothing else. */
static void *put_in(char *in, const void *request, size_t bytes, size_t align)
{
	char *at = place_in(in, bytes, align);

	if (at >= in && at < in + ARENA && at + bytes <= in + ARENA)
		memcpy(at, request, bytes);
	return at;
}

static void *put(const void *request, size_t bytes)
{
	return put_in(arena, request, bytes, 8);
}

static void fill_params(struct hmk_params *p)
{
	static const __u32 ways[] = { 0, HMK_SWITCH_EQUAL_WINDOWS, HMK_SWITCH_DENSE };

	*p = (struct hmk_params){ .mask = HMK_PARAM_INTERVAL | HMK_PARAM_BUDGET, .interval_ns = 50000000, .budget_bp = 100 };
	if (once_in(3)) {
		*p = (struct hmk_params){
			.mask = mostly(draw() & HMK_PARAM_ALL), .interval_ns = mostly(50000000), .budget_bp = (__u32)mostly(once_in(4) ? HMK_BUDGET_MAX_BP : 500),
			.num_scans = (__u32)mostly(3), .alpha_q16 = (__u32)mostly(32768), .tau1_q16 = (__u32)mostly(0),
			.tau2_q16 = (__u32)mostly(0), .tau_step_q16 = (__u32)mostly(0), .top_k = (__u32)mostly(5),
			.scout_bp = (__u32)mostly(1000), .flush = (__u32)mostly(1),
			.switches = (__u32)mostly(ways[below(3)]), .scan_cost_ns = (__u32)mostly(0), .max_region = mostly(2ul << 20),
			.weight = (__u32)mostly(100), .seed = draw(),
		};
	}
}

static int somebody(void)
{
	switch (below(10)) {
	case 0: return (int)near(0);
	case 1: return 1;
	case 2: return 2;
	case 3: return -1;
	case 4: case 5: case 6: return shared->pid[below(WORKERS + 1)];
	default: return getpid();
	}
}

static void fill_range(struct hmk_range *r)
{
	const unsigned long first = below(KNOWN / PAGE), pages = 1 + below(once_in(BIG_ONE_IN) ? KNOWN / PAGE : 8);

	*r = (struct hmk_range){ .start = (__u64)KNOWN_AT + first * PAGE, .length = pages * PAGE, .node = (__s32)below(4) };
	if (once_in(8)) {
		r->node = -1;
		r->status = (__u64)place(pages * 4);
	}
	if (once_in(4))
		r->status = (__u64)place(pages * 4);
	r->start = mostly(r->start);
	if (once_in(16))
		r->length = near(r->length);
	r->node = (__s32)mostly((unsigned long)r->node);
	r->flags = (__u32)mostly(once_in(4) ? HMK_RANGE_CLASS(below(HMK_CLASSES)) | HMK_RANGE_FROM(below(4)) : 0);
}

/* ---- requests ------------------------------------------------------------ */

static long ask(int fd, unsigned long cmd, void *arg)
{
	if (once_in(64))	/* a size the struct does not say, a direction that is not so, another command */
		cmd = once_in(2) ? cmd ^ (1ul << below(32)) : draw();
	return ioctl(fd, cmd, arg);
}

static long do_info(int fd)
{
	struct hmk_info info = { .size = (__u32)mostly(sizeof(info)) };

	return ask(fd, HMK_IOC_GET_INFO, put(&info, sizeof(info)));
}

static long do_attach(int fd)
{
	struct hmk_attach a = { .size = (__u32)mostly(sizeof(a)), .flags = (__u32)mostly(HMK_ATTACH_PID), .pidfd = somebody(),
				.reserved = (__u32)mostly(0), .table_bytes = mostly(0) };

	if (once_in(4)) {
		a.flags = 0;
		a.pidfd = once_in(4) ? (int)near((unsigned long)fd) : pidfd;
	}
	fill_params(&a.params);
	return ask(fd, HMK_IOC_ATTACH, put(&a, sizeof(a)));
}

static long do_set(int fd)
{
	struct hmk_set s = { .size = (__u32)mostly(sizeof(s)), .reserved = (__u32)mostly(0) };

	fill_params(&s.params);
	return ask(fd, HMK_IOC_SET, put(&s, sizeof(s)));
}

static long do_start(int fd) { return ask(fd, HMK_IOC_START, (void *)draw()); }
static long do_stop(int fd) { return ask(fd, HMK_IOC_STOP, (void *)draw()); }

/* How many ranges a ticket of this name has, so that RESULT finds it. */
static unsigned long ranges_of(unsigned long cookie)
{
	return 1 + cookie % 4;
}

static long move(int fd, __u32 how)
{
	static const __u32 flags[] = { HMK_MOVE_TICKET, HMK_MOVE_SYNC_COPY, HMK_MOVE_SHARED, HMK_MOVE_FORCE_VMA,
				       HMK_MOVE_DRY_RUN, HMK_MOVE_PAIRED, HMK_MOVE_BOUND };
	const int is_ticket = how & HMK_MOVE_TICKET || once_in(6);
	const unsigned long cookie = below(COOKIES);
	const unsigned long nr = once_in(BIG_ONE_IN) ? near(HMK_MAX_RANGES) :
				 is_ticket ? ranges_of(cookie) : below(once_in(16) ? 100 : 4);
	struct hmk_move m = { .size = (__u32)mostly(sizeof(m)), .flags = how, .nr_ranges = (__u32)nr, .cookie = cookie,
			      .chunk_pages = (__u32)(once_in(2) ? 0 : mostly(below(513))),
			      .copy_threads = (__u32)(once_in(2) ? 0 : mostly(below(HMK_MAX_COPY_THREADS + 1))),
			      .reserved = (__u32)mostly(0) };
	struct hmk_range some[100];
	const unsigned long made = nr < 100 ? nr : 100;

	for (unsigned long i = 0; i < made; i++)
		fill_range(&some[i]);
	while (once_in(2))
		m.flags |= flags[below(sizeof(flags) / sizeof(*flags))];
	if (is_ticket)
		m.flags |= HMK_MOVE_TICKET;
	if (m.flags & HMK_MOVE_TICKET) {
		for (unsigned long i = 0; i < made && !once_in(32); i++) {
			some[i].status = 0;
			some[i].node &= some[i].node < 0 ? 3 : -1;	/* a question needs a status */
		}
	} else if (once_in(2)) {
		m.results = (__u64)place(nr * sizeof(struct hmk_range_result));
	}
	m.flags = (__u32)mostly(m.flags);
	m.ranges = (__u64)put_in(range_arena, some, made * sizeof(*some), sizeof(*some));
	return ask(fd, HMK_IOC_MOVE, put(&m, sizeof(m)));
}

static long do_move(int fd) { return move(fd, 0); }
static long do_paired(int fd) { return move(fd, HMK_MOVE_TICKET | HMK_MOVE_PAIRED); }

static long do_cancel(int fd)
{
	struct hmk_result r = { .size = (__u32)mostly(sizeof(r)), .flags = (__u32)mostly(HMK_RESULT_CANCEL),
				.cookie = mostly(below(COOKIES)), .nr_ranges = (__u32)mostly(0),
				.results = mostly(0), .reserved = (__u32)mostly(0) };

	return ask(fd, HMK_IOC_RESULT, put(&r, sizeof(r)));
}

static long do_result(int fd)
{
	const unsigned long cookie = below(COOKIES);
	struct hmk_result r = { .size = (__u32)mostly(sizeof(r)), .flags = (__u32)mostly(0), .cookie = cookie,
				.nr_ranges = (__u32)mostly(ranges_of(cookie)), .reserved = (__u32)mostly(0) };

	r.results = (__u64)place(r.nr_ranges * sizeof(struct hmk_range_result));
	return ask(fd, HMK_IOC_RESULT, put(&r, sizeof(r)));
}

static long do_stats(int fd)
{
	struct hmk_stats s = { .size = (__u32)mostly(sizeof(s)), .reserved = (__u32)mostly(0) };

	return ask(fd, HMK_IOC_STATS, put(&s, sizeof(s)));
}

static long do_read(int fd)
{
	const size_t bytes = once_in(4) ? near(sizeof(struct hmk_event)) : below(8) * sizeof(struct hmk_event);

	return read(fd, place(bytes < ARENA ? bytes : ARENA), bytes);
}

static long do_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = (short)draw() };

	return poll(&p, 1, 0);
}

/* Map, look at every page, change its mind about protection and size, unmap. */
static long do_mmap(int fd)
{
	const size_t bytes = PAGE * (1 + below(once_in(8) ? 100000 : 16));
	const int prot = once_in(4) ? (int)below(8) : PROT_READ;
	char *at = mmap(NULL, bytes, prot, once_in(4) ? MAP_PRIVATE : MAP_SHARED, fd, once_in(8) ? (off_t)(near(0) & -PAGE) : 0);

	if (at == MAP_FAILED)
		return -1;
	if (prot & PROT_READ) {
		for (size_t i = 0; i < bytes; i += PAGE)
			(void)*(volatile char *)(at + i);
	}
	if (once_in(4))
		mprotect(at, bytes, (int)below(8));
	if (once_in(4))
		madvise(at, bytes, (int)below(26));
	if (once_in(8) && mremap(at, bytes, bytes / 2 & -PAGE ?: PAGE, 0) != MAP_FAILED)
		munmap(at, bytes / 2 & -PAGE ?: PAGE);
	return munmap(at, bytes);
}

static long do_reopen(int fd)
{
	const int slot = (int)below(FILES);
	const int opened = open(HMK_DEVICE_PATH, (once_in(8) ? O_RDONLY : O_RDWR) | O_NONBLOCK | O_CLOEXEC);

	(void)fd;
	if (opened < 0)
		return -1;	/* not for nobody, who keeps what it was given */
	dup3(opened, files[slot], O_CLOEXEC);
	return close(opened);
}

static long (*const verbs[VERBS])(int fd) = {
	do_info, do_attach, do_set, do_start, do_stop, do_move, do_paired, do_cancel, do_result, do_stats, do_read, do_poll,
	do_mmap, do_reopen,
};
static const char *const names[VERBS] = {
	"info", "attach", "set", "start", "stop", "move", "paired", "cancel", "result", "stats", "read", "poll", "mmap", "reopen",
};
static const unsigned char often[VERBS] = { 2, 6, 4, 4, 2, 28, 16, 8, 16, 4, 8, 2, 4, 2 };	/* in OFTEN */

/* ---- who asks ------------------------------------------------------------ */

static unsigned long known(unsigned long i, unsigned long salt)
{
	return (i + salt) * 0x9e3779b97f4a7c15ul;
}

static void make_known(unsigned long salt)
{
	unsigned long *at = mmap(KNOWN_AT, KNOWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at == MAP_FAILED)
		_exit(9);
	madvise(at, KNOWN / 2, MADV_HUGEPAGE);
	for (unsigned long i = 0; i < KNOWN / 8; i += 64)
		at[i] = known(i, salt);
}

static void look_through(unsigned long salt)
{
	const unsigned long *at = (unsigned long *)KNOWN_AT;

	for (unsigned long i = 0; i < KNOWN / 8; i += 64) {
		if (at[i] != known(i, salt)) {
			shared->lost++;
			fprintf(stderr, "LOST: %p of %d holds %#lx, not %#lx\n", (void *)&at[i], getpid(), at[i], known(i, salt));
			return;
		}
	}
}

/* Where this thread's calls leave the places they reach; NULL without KCOV. */
static unsigned long *trace_of(int fd)
{
	unsigned long *trace;

	if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, TRACE))
		return NULL;
	trace = mmap(NULL, TRACE * sizeof(*trace), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return trace == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC) ? NULL : trace;
}

/* Every second request repeats one that has reached what none had reached before it. */
static void begin_request(unsigned long *trace)
{
	const unsigned long kept = shared->kept < KEPT ? shared->kept : KEPT;

	request.n = 0;
	request.like = trace && kept && !blind && next() % 2 ? shared->draws[next() % kept] : NULL;
	if (trace)
		__atomic_store_n(trace, 0, __ATOMIC_RELAXED);
}

static void end_request(const unsigned long *trace)
{
	const unsigned long n = trace ? __atomic_load_n(trace, __ATOMIC_RELAXED) : 0;
	unsigned long new = 0;

	for (unsigned long i = 1; i <= n; i++)
		new += !atomic_exchange(&shared->place[trace[i] * 0x9e3779b97f4a7c15ul >> 48], 1);
	if (new)
		memcpy(shared->draws[shared->kept++ % KEPT], request.draws, sizeof(request.draws));
	shared->reached += new;
}

static void *asks(void *arg)
{
	unsigned long *trace = trace_of(kcov[(unsigned long)arg % ASKING]);

	seed = (unsigned long)arg;
	for (unsigned long n = 0;; n++) {
		unsigned int verb = 0;
		long turn;

		begin_request(trace);
		turn = (long)below(OFTEN);
		while ((turn -= often[verb]) >= 0)
			verb++;
		shared->verb[verb]++;	/* before: it may be killed in between */
		if (verbs[verb](files[below(FILES)]) >= 0)
			shared->accepted[verb]++;
		end_request(trace);
		shared->calls++;
	}
	return NULL;
}

/* Rewrites arguments while they are read, and takes pages away from under them. */
static void *disturbs(void *arg)
{
	seed = (unsigned long)arg;
	for (unsigned long n = 1;; n++) {
		char *page = (once_in(2) ? arena : range_arena) + below(ARENA / PAGE) * PAGE;

		switch (below(16)) {
		case 0:
			mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			break;
		case 1:
			madvise(page, PAGE, MADV_DONTNEED);
			break;
		default:
			((volatile unsigned int *)page)[below(PAGE / 4)] = (unsigned int)near(0);
		}
		if (!(n % 8))
			usleep(1000);
	}
	return NULL;
}

/* Mostly on one CPU: a program on both waits for its TLB flushes, and those who ask from the other CPU are enough. */
static void choose_cpu(int number)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(number, &cpus);
	if (!once_in(4))
		sched_setaffinity(0, sizeof(cpus), &cpus);
}

static char *make_arena(void)
{
	char *at = mmap(NULL, ARENA + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(at + ARENA, PAGE);
	return at;
}

static void worker(int number, unsigned long from)
{
	const unsigned long salt = from;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	seed = from | 1;
	choose_cpu(number);
	arena = make_arena();
	range_arena = make_arena();
	for (int i = 0; i < FILES; i++)
		files[i] = open(HMK_DEVICE_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	for (int i = 0; i < ASKING; i++)
		kcov[i] = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (number == 1 && (setgroups(0, NULL) || setresuid(65534, 65534, 65534)))
		_exit(9);
	prctl(PR_SET_DUMPABLE, 1);
	pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	make_known(salt);
	for (unsigned long i = 1; i <= ASKING + 1; i++)
		pthread_create(&thread, NULL, i <= ASKING ? asks : disturbs, (void *)(from * 7919 + i));
	for (;; usleep(5000))
		look_through(salt);
}

static void bystander(unsigned long from)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	make_known(from);
	for (;; usleep(5000))
		look_through(from);
}

static pid_t start(int number)
{
	const unsigned long from = draw() >> 20;
	const pid_t pid = fork();

	if (!pid) {
		if (number < WORKERS)
			worker(number, from);
		bystander(from);
	}
	shared->pid[number] = pid;
	return pid;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How much longer everything takes on this kernel: a life is to hold as many calls on a slow one. */
static unsigned int slowness(void)
{
	const char *text = getenv("HMK_SLOWNESS");
	const int n = text ? atoi(text) : 1;

	return n > 1 ? (unsigned int)n : 1;
}

int main(int argc, char **argv)
{
	const double end = now() + atof(argv[1]);
	const unsigned long most = strtoul(argv[2], NULL, 0);
	unsigned long killed = 0;

	seed = strtoul(argv[3], NULL, 0) | 1;
	blind = argc > 4;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i <= WORKERS; i++)
		start(i);
	while (now() < end && (!most || shared->calls < most) && !shared->lost) {
		const int i = (int)below(WORKERS + 1);

		usleep((useconds_t)(10000 + below(600000)) * slowness());
		kill(shared->pid[i], SIGKILL);
		waitpid(shared->pid[i], NULL, 0);
		killed++;
		start(i);
	}
	for (int i = 0; i <= WORKERS; i++) {
		kill(shared->pid[i], SIGKILL);
		waitpid(shared->pid[i], NULL, 0);
	}
	for (int i = 0; i < VERBS; i++)
		printf("%s: %lu asked, %lu accepted\n", names[i], shared->verb[i], shared->accepted[i]);
	printf("reached %lu places, kept %lu requests\n", shared->reached, shared->kept);
	printf("calls %lu killed %lu lost %lu\n", shared->calls, killed, shared->lost);
	return shared->lost ? 1 : 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Moves memory as hmkd does: tickets of several ranges with cookies of their own, two ranges under way at a time,
 * some stopped, ends read as events, results by RESULT. C and C++.
 *
 *	struct ship s;
 *	ship_begin(&s, fd, seed);
 *	err = ship_move(&s, ship_mode_of(round), 0, start, length, to, other);	0 or an errno
 *	s.count[SHIP_PAIRED].pages, s.sum
 */
#ifndef HMK_TEST_SHIP_H
#define HMK_TEST_SHIP_H

#include <errno.h>
#include <linux/hmk.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SHIP_RANGES	16u	/* of a ticket, at most */
#define SHIP_OPEN	4u	/* tickets under way, at most */
#define SHIP_LIMIT_MS	120000	/* for the end of a ticket */
#define SHIP_PIECE	(4ul << 20)	/* hmkd's, at most */

/* How a request is made; each counts apart. */
enum ship_mode {
	SHIP_SYNC,	/* the call ends with the move */
	SHIP_TICKET,	/* one range after the other */
	SHIP_PAIRED,
	SHIP_STOPPED,	/* paired, and then stopped */
	SHIP_MODES
};

static const char *const ship_names[SHIP_MODES] __attribute__((unused)) = { "synchronous", "ticket", "paired", "stopped" };

struct ship_count {
	uint64_t requests, pages;	/* queued; base pages, a huge one is 512 */
	uint64_t cut_short;		/* ranges that ended with -ECANCELED */
};

struct ship_ticket {
	uint64_t cookie;	/* 0: none */
	uint32_t nr;
	enum ship_mode mode;
	struct hmk_range ranges[SHIP_RANGES];
};

struct ship {
	int fd, gone;		/* its last event has been read */
	uint64_t random, cookie, paired_ns;	/* what a paired request took */
	struct ship_ticket open[SHIP_OPEN];
	struct ship_count count[SHIP_MODES];
	struct hmk_range_result sum;	/* .error: ranges with one, other than -ECANCELED */
	/* Where not NULL: of each range that came to its end. */
	void (*ended)(void *arg, enum ship_mode mode, const struct hmk_range *range);
	void *arg;
};

static inline void ship_begin(struct ship *s, int fd, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->random = seed | 1;
}

static inline uint64_t ship_below(struct ship *s, uint64_t limit)	/* xorshift64* (Vigna) */
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (s->random * 0x2545f4914f6cdd1dull >> 16) % limit;
}

static inline uint64_t ship_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* All modes in turn, half of the requests as hmkd makes them when nothing changes its mind. */
static inline enum ship_mode ship_mode_of(uint64_t round)
{
	static const enum ship_mode order[] = { SHIP_PAIRED, SHIP_STOPPED, SHIP_PAIRED, SHIP_TICKET, SHIP_PAIRED, SHIP_SYNC };

	return order[round % (sizeof(order) / sizeof(*order))];
}

static inline uint64_t ship_pages(const struct hmk_range_result *r)
{
	return r->pages_clean + r->pages_recopied + r->pages_sync;
}

static inline void ship_account(struct ship *s, enum ship_mode mode, const struct hmk_range *ranges,
				const struct hmk_range_result *results, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct hmk_range_result *r = &results[i];

		s->count[mode].pages += ship_pages(r);
		s->count[mode].cut_short += r->error == -ECANCELED;
		s->sum.error += r->error && r->error != -ECANCELED;
		s->sum.paths |= r->paths;
		s->sum.pages_clean += r->pages_clean;
		s->sum.pages_recopied += r->pages_recopied;
		s->sum.pages_sync += r->pages_sync;
		s->sum.prepare_ns += r->prepare_ns;
		s->sum.copy_ns += r->copy_ns;
		s->sum.commit_ns += r->commit_ns;
		for (int why = 0; why < HMK_REFUSED_NR; why++)
			s->sum.refused[why] += r->refused[why];
		if (r->commit_max_ns > s->sum.commit_max_ns)
			s->sum.commit_max_ns = r->commit_max_ns;
		if (s->ended && !r->error)
			s->ended(s->arg, mode, &ranges[i]);
	}
}

/* Ask once. Return: 0, or the errno; EAGAIN also when SHIP_OPEN are under way. */
static inline int ship_send(struct ship *s, enum ship_mode mode, uint32_t flags, uint32_t chunk_pages,
			    const struct hmk_range *ranges, uint32_t nr)
{
	struct hmk_range_result results[SHIP_RANGES];
	struct ship_ticket *free_one = NULL; /* NOLINT(modernize-use-nullptr): C, too */
	struct hmk_move m;

	for (unsigned int i = 0; i < SHIP_OPEN; i++) {
		if (!s->open[i].cookie)
			free_one = &s->open[i];
	}
	if (!free_one)
		return EAGAIN;
	memset(&m, 0, sizeof(m));
	memset(results, 0, sizeof(results));
	m.size = sizeof(m);
	m.flags = flags;
	m.ranges = (uint64_t)(uintptr_t)ranges;
	m.nr_ranges = nr;
	m.chunk_pages = chunk_pages;
	m.copy_threads = (uint32_t)ship_below(s, HMK_MAX_COPY_THREADS + 1);
	if (mode == SHIP_SYNC) {
		m.results = (uint64_t)(uintptr_t)results;
	} else {
		m.flags |= HMK_MOVE_TICKET | (mode == SHIP_TICKET ? 0 : HMK_MOVE_PAIRED);
		m.cookie = ++s->cookie;
	}
	if (ioctl(s->fd, HMK_IOC_MOVE, &m) < 0)
		return errno;
	s->count[mode].requests++;
	if (mode == SHIP_SYNC) {
		ship_account(s, mode, ranges, results, nr);
		return 0;
	}
	free_one->cookie = m.cookie;
	free_one->nr = nr;
	free_one->mode = mode;
	memcpy(free_one->ranges, ranges, nr * sizeof(*ranges));
	return 0;
}

/* Stop every ticket that is to be. Return: 0 or the errno; one that has ended meanwhile is no error. */
static inline int ship_stop(struct ship *s)
{
	for (unsigned int i = SHIP_OPEN; i-- > 0;) {
		struct hmk_result r;

		if (!s->open[i].cookie || s->open[i].mode != SHIP_STOPPED)
			continue;
		memset(&r, 0, sizeof(r));
		r.size = sizeof(r);
		r.flags = HMK_RESULT_CANCEL;
		r.cookie = s->open[i].cookie;
		if (ioctl(s->fd, HMK_IOC_RESULT, &r) < 0)
			return errno;
	}
	return 0;
}

/* Fetch a ticket that has ended. Return: 0 or the errno; ENOENT when it is none of ours. */
static inline int ship_fetch(struct ship *s, uint64_t cookie)
{
	struct hmk_range_result results[SHIP_RANGES];
	struct hmk_result r;

	for (unsigned int i = 0; i < SHIP_OPEN; i++) {
		if (s->open[i].cookie != cookie)
			continue;
		memset(&r, 0, sizeof(r));
		r.size = sizeof(r);
		r.cookie = cookie;
		r.results = (uint64_t)(uintptr_t)results;
		r.nr_ranges = s->open[i].nr;
		if (ioctl(s->fd, HMK_IOC_RESULT, &r) < 0)
			return errno;
		ship_account(s, s->open[i].mode, s->open[i].ranges, results, r.nr_ranges);
		s->open[i].cookie = 0;
		return 0;
	}
	return ENOENT;
}

/*
 * Wait for an event; fetch the ticket it tells of. Return: its kind, 0 when none came in time, -1 with errno.
 */
static inline int ship_event(struct ship *s, int limit_ms)
{
	struct pollfd p = { s->fd, POLLIN, 0 };
	struct hmk_event ev;
	ssize_t bytes;
	int err;

	if (poll(&p, 1, limit_ms) != 1)
		return 0;
	bytes = read(s->fd, &ev, sizeof(ev));
	if (!bytes) {	/* the target has gone, and a ticket still comes to its end: poll() does not wait for that */
		usleep(1000);
		return 0;
	}
	if (bytes != (ssize_t)sizeof(ev))
		return -1;
	s->gone |= ev.kind == HMK_EVENT_GONE;
	err = ev.kind == HMK_EVENT_TICKET ? ship_fetch(s, ev.value) : 0;
	errno = err;
	return err ? -1 : (int)ev.kind;
}

static inline int ship_is_open(const struct ship *s)
{
	for (unsigned int i = 0; i < SHIP_OPEN; i++) {
		if (s->open[i].cookie)
			return 1;
	}
	return 0;
}

/* The next pieces of [@at, @end), whole pages of at most SHIP_PIECE, to @to and @other in turn. Return: where they end. */
static inline uint64_t ship_cut(struct ship *s, uint64_t at, uint64_t end, int to, int other, struct hmk_range *ranges, uint32_t *nr)
{
	const uint64_t most = (end - at) / 2 > SHIP_PIECE ? SHIP_PIECE : (end - at) / 2;
	const uint64_t huge = 2ul << 20;

	for (*nr = 0; *nr < SHIP_RANGES && at < end; ++*nr) {
		/* hmkd cuts no huge page; now and then one is cut here. */
		uint64_t stop = at + HMK_PAGE_SIZE + ship_below(s, most / HMK_PAGE_SIZE + 1) * HMK_PAGE_SIZE;

		if (most >= huge && ship_below(s, 8))
			stop = (stop + huge - 1) & ~(huge - 1);
		if (stop > end)
			stop = end;
		memset(&ranges[*nr], 0, sizeof(*ranges));
		ranges[*nr].start = at;
		ranges[*nr].length = stop - at;
		ranges[*nr].node = *nr % 2 ? other : to;
		at = stop;
	}
	return at;
}

/*
 * All of the memory in some requests, until each has been fetched: every second piece to @other. What is to be stopped
 * is stopped when a part of the time has passed that one takes. Return: 0 or the errno, ETIME when a ticket does not end.
 */
static inline int ship_move(struct ship *s, enum ship_mode mode, uint32_t flags, uint32_t chunk_pages, uint64_t start,
			    uint64_t length, int to, int other)
{
	const uint64_t begin = ship_now_ns(), end = start + length;
	const uint64_t stop_at = begin + ship_below(s, s->paired_ns ? s->paired_ns : 5000000);
	const uint64_t limit = begin + SHIP_LIMIT_MS * 1000000ull;
	struct hmk_range ranges[SHIP_RANGES];
	int is_stopped = mode != SHIP_STOPPED, err = 0;
	uint32_t nr = 0;

	while (start < end || ship_is_open(s)) {
		if (start < end && !nr)
			start = ship_cut(s, start, end, to, other, ranges, &nr);
		if (nr) {
			err = ship_send(s, mode, flags, chunk_pages, ranges, nr);
			if (err && err != EAGAIN)
				break;
			nr = err ? nr : 0;
		}
		if (start < end && !nr)
			continue;
		if (!is_stopped && ship_now_ns() >= stop_at) {
			is_stopped = 1;
			err = ship_stop(s);
			if (err)
				return err;
			start = end;	/* as hmkd, which changes its mind */
			nr = 0;
		}
		if (ship_is_open(s) && ship_event(s, is_stopped ? 1000 : 1) < 0)
			return errno;
		if (ship_now_ns() >= limit)
			return ETIME;
	}
	while (ship_is_open(s)) {	/* refused meanwhile: what was taken comes to its end */
		if (ship_event(s, 1000) < 0)
			return errno;
		if (ship_now_ns() >= limit)
			return ETIME;
	}
	if (!err && mode == SHIP_PAIRED)
		s->paired_ns = ship_now_ns() - begin;
	return err;
}

#endif

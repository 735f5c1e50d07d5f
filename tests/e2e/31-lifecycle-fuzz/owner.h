/* SPDX-License-Identifier: MIT */
/*
 * A client that opens, uses and closes sessions at random. Every call may find that
 * its target has gone or is somebody else's; what it may answer is listed, and every
 * table it reads must be whole.
 */
#ifndef FUZZ_OWNER_H
#define FUZZ_OWNER_H

#include <errno.h>
#include <fcntl.h>
#include <hmk/table_reader.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../support/ship.h"
#include "shared.h"

#define SESSIONS	3
#define MAX_RECORDS	4096u

struct session {
	int fd;			/* -1: closed */
	struct slot *slot;
	unsigned char *table;
	uint64_t table_bytes;
	struct ship ship;
};

static struct session sessions[SESSIONS];
static struct hmk_record records[MAX_RECORDS];

/* 0, or the errno if it is one of those allowed (0 ends the list); anything else ends the test. */
static int allowed(long result, const char *what, const int *errnos)
{
	if (result >= 0)
		return 0;
	for (; *errnos; errnos++) {
		if (errno == *errnos)
			return errno;
	}
	die("%s: %s", what, strerror(errno));
}
#define ALLOWED(call, ...) allowed(call, #call, (const int[]){ __VA_ARGS__ __VA_OPT__(,) 0 })

/* The switches of this kernel: not on each can the module split a huge page. */
static uint32_t switches(void)
{
	static uint32_t known;
	struct hmk_info info = { .size = sizeof(info) };
	int fd;

	if (known)
		return known;
	fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, HMK_IOC_GET_INFO, &info))
		die("%s: %s", HMK_DEVICE_PATH, strerror(errno));
	close(fd);
	known = HMK_SWITCH_ALL & ~HMK_SWITCH_NO_BUDGET;
	if (!(info.features >> HMK_FEAT_SPLIT_HUGE & 1))
		known &= ~HMK_SWITCH_SPLIT_HUGE;
	return known;
}

static struct hmk_params some_params(void)
{
	return (struct hmk_params){
		.mask = HMK_PARAM_INTERVAL | HMK_PARAM_BUDGET | HMK_PARAM_NUM_SCANS |
			HMK_PARAM_FLUSH | HMK_PARAM_SWITCHES | HMK_PARAM_MAX_REGION,
		.interval_ns = 50000000 + below(100) * 1000000,
		.budget_bp = 1 + (uint32_t)below(below(8) ? 1000 : HMK_BUDGET_MAX_BP),
		.num_scans = 1 + (uint32_t)below(below(4) ? 4 : 16),
		.flush = (uint32_t)below(2),
		.switches = below(3) ? 0 : (uint32_t)below(HMK_SWITCH_ALL + 1) & switches(),
		.max_region = 2ul << (20 + below(10)),
	};
}

static void shut(struct session *s)
{
	if (s->table)
		munmap(s->table, s->table_bytes);
	close(s->fd);
	*s = (struct session){ .fd = -1 };
	did(DID_close);
}

static void open_session(struct session *s)
{
	struct hmk_attach a = { .size = sizeof(a), .flags = HMK_ATTACH_PID, .params = some_params() };

	s->slot = &sh->slots[below(SLOTS)];
	a.pidfd = s->slot->pid;
	if (a.pidfd <= 0)
		return;
	s->fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (s->fd < 0)
		die("open %s: %s", HMK_DEVICE_PATH, strerror(errno));
	/* EINVAL: a zombie. EPERM: between two programs an exec lets nobody look. */
	if (ALLOWED(ioctl(s->fd, HMK_IOC_ATTACH, &a), ESRCH, EINVAL, EPERM)) {
		shut(s);
		return;
	}
	did(DID_attach);
	s->table = mmap(NULL, a.table_bytes, PROT_READ, MAP_SHARED, s->fd, 0);
	if (s->table == MAP_FAILED)
		die("mmap of the table: %s", strerror(errno));
	s->table_bytes = a.table_bytes;
	ship_begin(&s->ship, s->fd, below(UINT64_MAX));
}

static unsigned int class_of(const struct hmk_record *r)
{
	return (r->flags & HMK_RECORD_CLASS_MASK) >> HMK_RECORD_CLASS_SHIFT;
}

/*
 * Of the same region as the one before: another class, the hottest first, or another node.
 * Return: how many pages they and those before have.
 */
static uint64_t check_class(const struct hmk_record *r, size_t i, uint64_t pages)
{
	const struct hmk_record *last = r - 1;

	if (r->length != last->length || r->generation != last->generation || !class_of(r) || !class_of(last))
		die("records %zu and %zu overlap", i - 1, i);
	if (class_of(r) > class_of(last) || (class_of(r) == class_of(last) && r->node <= last->node))
		die("record %zu: class %u of node %d behind class %u of node %d", i, class_of(r), r->node, class_of(last), last->node);
	if (class_of(r) > HMK_CLASSES || r->away_pages)
		die("record %zu: class %u, %u pages elsewhere", i, class_of(r), r->away_pages);
	return pages + r->resident_pages;
}

/* Regions in address order, none empty, none over another, none hotter than can be. */
static void check_table(struct session *s)
{
	struct hmk_interval iv;
	uint64_t pages = 0;
	size_t nr;
	const int rc = hmk_table_read(s->table, s->table_bytes, &iv, records, MAX_RECORDS, &nr);

	did(DID_table);
	if (rc == -ESTALE) {
		shut(s);
		return;
	}
	if (rc == -EPROTO)
		die("the table is damaged");
	for (size_t i = 0; i < nr && !rc; i++) {
		const struct hmk_record *r = &records[i];
		const int same = i && r->start == r[-1].start;

		if (!r->length || r->length % HMK_PAGE_SIZE || r->start % HMK_PAGE_SIZE)
			die("record %zu: %#llx + %#llx", i, r->start, r->length);
		if (i && !same && r->start < r[-1].start + r[-1].length)
			die("records %zu and %zu overlap", i - 1, i);
		pages = same ? check_class(r, i, pages) : r->resident_pages;
		if (r->hi_q16 > 16u << 16 || r->whi_q16 > 16u << 16)
			die("record %zu: hotness %#x, smoothed %#x", i, r->hi_q16, r->whi_q16);
		if (pages > r->length / HMK_PAGE_SIZE)
			die("record %zu: %#lx pages in %#llx", i, (unsigned long)pages, r->length);
	}
}

/* What has been moved since the last time, by how it was asked for. */
static void count_moved(struct session *s)
{
	for (unsigned int mode = 0; mode < SHIP_MODES; mode++) {
		did_n(DID_pages_synchronous + mode, s->ship.count[mode].pages);
		did_n(DID_cut_short, s->ship.count[mode].cut_short);
		s->ship.count[mode] = (struct ship_count){ 0 };
	}
}

/* All pages, or those of a class: there are some where the session reads every page. */
static uint32_t some_pages(void)
{
	return below(3) ? 0 : HMK_RANGE_CLASS((uint32_t)below(8)) | HMK_RANGE_FROM((uint32_t)below(4));
}

/* Whole mappings and pieces of them, each somewhere else, up to as many as a ticket takes. */
static unsigned int some_ranges(struct session *s, struct hmk_range *ranges)
{
	const unsigned int first = (unsigned int)below(MAPPINGS), wanted = 1 + (unsigned int)below(6);
	unsigned int nr = 0;

	for (unsigned int n = 0; n < wanted && nr < SHIP_RANGES; n++) {
		const struct slot *slot = s->slot;
		const unsigned int i = (first + n) % MAPPINGS;
		const uint64_t start = slot->at[i].start, length = slot->at[i].length;
		uint32_t cut = 0;

		if (!start || !length)
			continue;
		if (below(2)) {
			ship_cut(&s->ship, start, start + length, (int)below(4), (int)below(4), ranges, &cut);
			nr = cut;
			break;
		}
		ranges[nr++] = (struct hmk_range){ .start = start, .length = length, .node = (int)below(4), .flags = some_pages() };
	}
	return nr;
}

static void do_move(struct session *s)
{
	const enum ship_mode mode = ship_mode_of(below(6));
	struct hmk_range ranges[SHIP_RANGES];
	const unsigned int nr = some_ranges(s, ranges);
	const uint32_t flags = (uint32_t)below(2) * HMK_MOVE_SYNC_COPY | (uint32_t)below(2) * HMK_MOVE_SHARED |
			       (below(4) ? 0 : HMK_MOVE_FORCE_VMA);

	if (!nr)
		return;
	errno = ship_send(&s->ship, mode, flags, below(2) ? 0 : 1 + (uint32_t)below(512), ranges, nr);
	/* EBUSY: the same range twice, as mappings change while they are read. EAGAIN: the queue is full. */
	if (ALLOWED(errno ? -1 : 0, ESRCH, EBUSY, EAGAIN))
		return;
	did(mode == SHIP_SYNC ? DID_move : mode == SHIP_TICKET ? DID_ticket : DID_paired);
	count_moved(s);
}

static void stop_moves(struct session *s)
{
	for (unsigned int i = 0; i < SHIP_OPEN; i++) {
		if (s->ship.open[i].cookie && s->ship.open[i].mode == SHIP_STOPPED)
			did(DID_cancel);
	}
	errno = ship_stop(&s->ship);
	if (errno)
		die("a ticket cannot be stopped: %s", strerror(errno));
}

static void read_events(struct session *s)
{
	int kind;

	while ((kind = ship_event(&s->ship, (int)below(30))) != 0) {
		if (kind < 0)
			die("an event or its ticket: %s", strerror(errno));
		count_moved(s);
		if (kind == HMK_EVENT_INTERVAL) {
			did(DID_intervals);
		} else if (kind == HMK_EVENT_GONE) {
			shut(s);
			return;
		}
	}
}

static void use(struct session *s)
{
	struct hmk_set set = { .size = sizeof(set) };
	struct hmk_stats stats = { .size = sizeof(stats) };

	switch (below(13)) {
	case 0:
		set.params = some_params();
		ALLOWED(ioctl(s->fd, HMK_IOC_SET, &set));
		did(DID_set);
		break;
	case 1:
		ALLOWED(ioctl(s->fd, HMK_IOC_STOP));
		did(DID_stop);
		break;
	case 2:
	case 3:
		if (!ALLOWED(ioctl(s->fd, HMK_IOC_START), EBUSY, ESRCH))
			did(DID_start);
		break;
	case 4:
		ALLOWED(ioctl(s->fd, HMK_IOC_STATS, &stats));
		did(DID_stats);
		break;
	case 5:
		check_table(s);
		break;
	case 6:
		if (!below(4))
			shut(s);
		break;
	case 7:
	case 8:
		read_events(s);
		break;
	case 9:
		stop_moves(s);
		break;
	default:
		do_move(s);
	}
}

static void run_owner(void)
{
	for (unsigned int i = 0; i < SESSIONS; i++)
		sessions[i].fd = -1;
	while (!sh->stop) {
		struct session *s = &sessions[below(SESSIONS)];

		if (s->fd < 0)
			open_session(s);
		else
			use(s);
	}
	_exit(0);	/* closes what is open */
}

#endif

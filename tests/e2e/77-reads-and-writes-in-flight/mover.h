/* SPDX-License-Identifier: MIT */
/* Moves the areas to and fro until it is told to end: called and waited for, or as hmkd does by paired tickets. */
#ifndef MOVER_H
#define MOVER_H

#include <linux/hmk.h>
#include <poll.h>

#include "engines.h"

#define AREA	(2ul << 20)
#define AREAS	8u

struct mover {
	char *areas;
	uint32_t flags;		/* HMK_MOVE_* of each move */
	volatile int is_ending;
	volatile uint64_t moved, held, tickets, calls;	/* pages moved; pages refused since somebody holds them */
};

static void add_up(struct mover *m, const struct hmk_range_result *results, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		m->moved += results[i].pages_clean + results[i].pages_recopied + results[i].pages_sync;
		m->held += results[i].refused[HMK_REFUSED_PINNED];
	}
}

static void move_by_ticket(struct mover *m, int fd, struct hmk_move *move, struct hmk_range_result *results)
{
	struct hmk_result r = { .size = sizeof(r), .cookie = ++m->tickets, .results = (uintptr_t)results,
				.nr_ranges = move->nr_ranges };
	struct hmk_event event;

	move->cookie = r.cookie;
	move->flags |= HMK_MOVE_TICKET | HMK_MOVE_PAIRED;
	must(!ioctl(fd, HMK_IOC_MOVE, move), "MOVE by ticket");
	must(read(fd, &event, sizeof(event)) == sizeof(event) && event.value == r.cookie, "event of the ticket");
	must(!ioctl(fd, HMK_IOC_RESULT, &r), "RESULT");
}

static void *run_mover(void *arg)
{
	struct mover *m = arg;
	struct hmk_attach attach = { .size = sizeof(attach), .flags = HMK_ATTACH_PID, .pidfd = getpid() };
	int fd = open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	unsigned seed = 1;

	must(fd >= 0 && !ioctl(fd, HMK_IOC_ATTACH, &attach), "attach");
	while (!m->is_ending) {
		struct hmk_range_result results[AREAS] = { 0 };
		struct hmk_range ranges[AREAS] = { 0 };
		struct hmk_move move = { .size = sizeof(move), .flags = m->flags, .ranges = (uintptr_t)ranges };

		for (unsigned i = 0; i < AREAS; i++) {
			if (rand_r(&seed) & 0x100)
				ranges[move.nr_ranges++] = (struct hmk_range){
					.start = (uintptr_t)m->areas + i * AREA, .length = AREA,
					.node = (rand_r(&seed) >> 4) % 4,
				};
		}
		if (!move.nr_ranges)
			continue;
		if (rand_r(&seed) & 0x200) {
			move_by_ticket(m, fd, &move, results);
		} else {
			move.results = (uintptr_t)results;
			must(!ioctl(fd, HMK_IOC_MOVE, &move), "MOVE");
			m->calls++;
		}
		add_up(m, results, move.nr_ranges);
	}
	close(fd);
	return NULL;
}

#endif

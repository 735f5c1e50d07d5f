/* SPDX-License-Identifier: MIT */
/* What supervisor, targets and session owners of the fuzz share. */
#ifndef FUZZ_SHARED_H
#define FUZZ_SHARED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#ifndef TARGETS
#define TARGETS		3
#define OWNERS		3
#endif
#ifndef WANTED_FROM
#define WANTED_FROM	DID_map	/* of this kind and those after it there must have been some */
#endif
#define SLOTS		(2 * TARGETS)	/* a target's forked child has a slot of its own */
#define MAPPINGS	24
#define MAX_PAGES	1024u

/* What has happened; the supervisor wants some of each. */
#define FUZZ_KINDS(X) X(map) X(unmap) X(remap) X(protect) X(dontneed) X(hugepage) X(nohugepage) \
	X(pageout) X(collapse) X(write) X(verify) X(fork) X(exec) X(exit) X(kill_target) \
	X(kill_owner) X(attach) X(start) X(set) X(stop) X(table) X(stats) X(move) X(ticket) \
	X(paired) X(cancel) X(close) X(intervals) X(cut_short) \
	X(pages_synchronous) X(pages_ticket) X(pages_paired) X(pages_stopped)	/* in the order of enum ship_mode */

enum kind {
#define AS_ENUM(name) DID_##name,
	FUZZ_KINDS(AS_ENUM)
	DID_NR
};

struct slot {
	volatile pid_t pid;
	/* Where a move may find something; read while it changes, so it may be nonsense. */
	struct { volatile uint64_t start, length; } at[MAPPINGS];
};

struct shared {
	volatile int stop;
	unsigned long did[DID_NR];
	struct slot slots[SLOTS];
};

static struct shared *sh;

static inline void did_n(enum kind kind, unsigned long n)
{
	__atomic_add_fetch(&sh->did[kind], n, __ATOMIC_RELAXED);
}

static inline void did(enum kind kind)
{
	did_n(kind, 1);
}

static uint64_t rng;

static inline uint64_t below(uint64_t limit)	/* xorshift64* (Vigna) */
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (rng * 0x2545f4914f6cdd1dull >> 16) % limit;
}

#define die(...) do { printf("NOT OK: " __VA_ARGS__); puts(""); fflush(stdout); _exit(1); } while (0)

#endif

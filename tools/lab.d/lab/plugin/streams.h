/* SPDX-License-Identifier: MIT */
/*
 * What a prefetcher would have had ready: lines that lie next to one that was asked for before, in one of 16
 * streams, upwards or downwards. It is told every miss of L1, as the streamer of an Intel core is.
 */
#ifndef HMK_LAB_STREAMS_H
#define HMK_LAB_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#define NR_STREAMS 16

/* The latest line of each stream, the stream used last first. All zero is "none". */
struct streams {
	uint64_t at[NR_STREAMS];
};

/* Whether `line` continues a stream; otherwise it begins one in the place of the one used longest ago. */
static inline bool streams_reach(struct streams *s, uint64_t line)
{
	uint64_t next = line, before;
	unsigned int i;

	for (i = 0; i < NR_STREAMS; i++) {
		before = s->at[i];
		s->at[i] = next;
		if (before - line + 1 <= 2) /* itself or a neighbour */
			return before != line;
		next = before;
	}
	return false;
}

#endif

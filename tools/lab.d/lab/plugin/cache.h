/* SPDX-License-Identifier: MIT */
/*
 * The modelled caches: set-associative, true LRU, 64-byte lines, a dirty bit
 * for each. Nothing here knows QEMU, so that tests/lab/test_cache.py can
 * compile it for the host.
 *
 *	struct cache llc = cache_new(4 << 20, LLC_WAYS);
 *	if (!cache_hit(&llc, paddr >> LINE_SHIFT, LLC_WAYS))
 *		count_a_miss();
 */
#ifndef HMK_LAB_CACHE_H
#define HMK_LAB_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SHIFT 6
#define L2_WAYS 8
#define LLC_WAYS 16
#define DIRTY (1u << 31) /* beside a tag */

/* Tags of a set lie in order of use, latest first, and share a cache line of the host. 0 is "empty". */
struct cache {
	uint32_t *tags;
	uint32_t nr_sets;
	size_t size; /* bytes of tags */
};

/* `bytes` is what is modelled; at least one set. Tags are NULL if there is no memory. */
static inline struct cache cache_new(uint64_t bytes, unsigned int ways)
{
	uint64_t nr_sets = (bytes >> LINE_SHIFT) / ways;
	struct cache c = { .nr_sets = nr_sets ? nr_sets : 1 };

	c.size = ((size_t)c.nr_sets * ways * sizeof(*c.tags) + 63) & ~(size_t)63;
	c.tags = aligned_alloc(64, c.size);
	if (c.tags)
		memset(c.tags, 0, c.size);
	return c;
}

static inline void cache_empty(struct cache *c)
{
	memset(c->tags, 0, c->size);
}

/* Multiplicative hash: bases of nodes are powers of two and would all meet in the same sets. */
static inline uint32_t cache_set(const struct cache *c, uint32_t line)
{
	return ((line * 0x9e3779b97f4a7c15ull >> 32) * c->nr_sets) >> 32;
}

/*
 * Whether `line` (below 2^31 - 1) was there; it is the latest of its set afterwards, and dirty if it was or `dirty`
 * is DIRTY. `*out` is the tag that had to leave for it, with its dirty bit; 0 if none had to.
 */
static inline bool cache_use(struct cache *c, uint32_t line, unsigned int ways, uint32_t dirty, uint32_t *out)
{
	uint32_t *first = &c->tags[(size_t)cache_set(c, line) * ways], *tag = first;
	uint32_t next = (line + 1) | dirty, before;
	unsigned int way;

	*out = 0;
	for (way = 0; way < ways; way++, tag++) {
		before = *tag;
		*tag = next;
		if ((before & ~DIRTY) == line + 1) {
			*first |= before & DIRTY;
			return true;
		}
		next = before;
	}
	*out = next;
	return false;
}

/* The line a tag stands for. */
static inline uint32_t cache_line(uint32_t tag)
{
	return (tag & ~DIRTY) - 1;
}

/* cache_use() where nothing is ever dirty. */
static inline bool cache_hit(struct cache *c, uint32_t line, unsigned int ways)
{
	uint32_t out;

	return cache_use(c, line, ways, 0, &out);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The modelled caches: set-associative, true LRU, 64-byte lines. Nothing here
 * knows QEMU, so that tests/lab/test_cache.py can compile it for the host.
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

/* Whether `line` (below 2^32 - 1) was there; it is the latest of its set afterwards. */
static inline bool cache_hit(struct cache *c, uint32_t line, unsigned int ways)
{
	uint32_t *tag = &c->tags[(size_t)cache_set(c, line) * ways];
	uint32_t next = line + 1, before;
	unsigned int way;

	for (way = 0; way < ways; way++) {
		before = tag[way];
		tag[way] = next;
		if (before == line + 1)
			return true;
		next = before;
	}
	return false;
}

#endif

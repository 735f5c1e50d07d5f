/* SPDX-License-Identifier: MIT */
/* Counts by page number: open addressing, grows before it is half full, never loses a count. */
#ifndef HMK_LAB_PAGES_H
#define HMK_LAB_PAGES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A count of 0 is a free place. */
struct page_count {
	uint64_t page, count;
};

struct pages {
	struct page_count *table;
	uint64_t size, used; /* size is a power of two */
};

static inline struct page_count *pages_place(struct pages *p, uint64_t page)
{
	uint64_t i = page * 0x9e3779b97f4a7c15ull >> 20;

	while (p->table[i & (p->size - 1)].count && p->table[i & (p->size - 1)].page != page)
		i++;
	return &p->table[i & (p->size - 1)];
}

/* Also makes the first table, of a `p` that is all zero. */
static inline void pages_grow(struct pages *p, uint64_t size)
{
	struct pages old = *p;
	uint64_t i;

	p->table = calloc(size, sizeof(*p->table));
	if (!p->table) {
		fprintf(stderr, "hmk-lab: no memory to count %lu pages\n", size);
		abort(); /* a lost guest is seen, a lost count is not */
	}
	p->size = size;
	for (i = 0; i < old.size; i++)
		if (old.table[i].count)
			*pages_place(p, old.table[i].page) = old.table[i];
	free(old.table);
}

static inline void pages_count(struct pages *p, uint64_t page)
{
	struct page_count *place = pages_place(p, page);

	if (place->count++)
		return;
	place->page = page;
	if (++p->used > p->size / 2)
		pages_grow(p, 2 * p->size);
}

static inline void pages_forget(struct pages *p)
{
	memset(p->table, 0, p->size * sizeof(*p->table));
	p->used = 0;
}

/* Little-endian pairs, as this machine is; an error shows when the caller closes `f`. */
static inline void pages_write(const struct pages *p, FILE *f)
{
	uint64_t i;

	for (i = 0; i < p->size; i++)
		if (p->table[i].count)
			fwrite(&p->table[i], sizeof(p->table[i]), 1, f);
}

#endif

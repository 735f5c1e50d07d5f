/* SPDX-License-Identifier: MIT */
/*
 * Counts by page number: open addressing, grows before it is half full, never loses a count.
 *
 *	pages_missed(&pages, vaddr >> 12, (struct page_miss){ .node = 2, .now = instructions, .streamed = true });
 *	pages_write(&pages, file);
 *
 * A file is PAGES_MAGIC, PAGES_FORMAT and then a struct page_count, but for its last word, for each page that has any count,
 * all of 64 bits, least significant byte first, as this machine is. Format 1 had no head and pairs of page and misses, 2 neither
 * visits nor nodes.
 *
 * A page is visited anew when it is missed and was not for VISIT_GAP instructions: who clears its accessed bit, looks again and
 * needs a millisecond or more for that, sees all of a visit as one. Lines of a stream are a visit, as are those of a page that is
 * filled in turns with others.
 */
#ifndef HMK_LAB_PAGES_H
#define HMK_LAB_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_MAGIC "hmkpages" /* no page has this number */
#define PAGES_FORMAT 3
#define VISIT_GAP (1 << 17) /* a millisecond of 8 ns each */

/* Without misses and lines written back it is a free place. */
struct page_count {
	uint64_t page, misses, streamed /* of these */, written_back, visits, node /* of the latest miss */;
	uint64_t last; /* miss, in instructions; not in a file */
};

struct page_miss {
	uint64_t node, now; /* instructions the vCPU has executed */
	bool streamed;
};

struct pages {
	struct page_count *table;
	uint64_t size, used; /* size is a power of two */
};

static inline bool pages_is_free(const struct page_count *place)
{
	return !(place->misses | place->written_back);
}

static inline struct page_count *pages_place(struct pages *p, uint64_t page)
{
	uint64_t i = page * 0x9e3779b97f4a7c15ull >> 20;

	while (!pages_is_free(&p->table[i & (p->size - 1)]) && p->table[i & (p->size - 1)].page != page)
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
		if (!pages_is_free(&old.table[i]))
			*pages_place(p, old.table[i].page) = old.table[i];
	free(old.table);
}

/* Where to count for `page`, which the caller does at once. */
static inline struct page_count *pages_at(struct pages *p, uint64_t page)
{
	struct page_count *place = pages_place(p, page);

	if (!pages_is_free(place))
		return place;
	if (++p->used > p->size / 2) {
		pages_grow(p, 2 * p->size);
		place = pages_place(p, page);
	}
	place->page = page;
	return place;
}

static inline void pages_missed(struct pages *p, uint64_t page, struct page_miss miss)
{
	struct page_count *place = pages_at(p, page);

	place->visits += !place->misses++ || miss.now - place->last >= VISIT_GAP;
	place->streamed += miss.streamed;
	place->node = miss.node;
	place->last = miss.now;
}

static inline void pages_written_back(struct pages *p, uint64_t page)
{
	pages_at(p, page)->written_back++;
}

static inline void pages_forget(struct pages *p)
{
	memset(p->table, 0, p->size * sizeof(*p->table));
	p->used = 0;
}

/* An error shows when the caller closes `f`. */
static inline void pages_write(const struct pages *p, FILE *f)
{
	const uint64_t format = PAGES_FORMAT;
	uint64_t i;

	fwrite(PAGES_MAGIC, sizeof(format), 1, f);
	fwrite(&format, sizeof(format), 1, f);
	for (i = 0; i < p->size; i++)
		if (!pages_is_free(&p->table[i]))
			fwrite(&p->table[i], offsetof(struct page_count, last), 1, f);
}

#endif

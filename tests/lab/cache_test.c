// SPDX-License-Identifier: MIT
/* Prints one line for every promise of cache.h and pages.h that does not hold; status 1 if there was one. Argument: a scratch file. */
#include "cache.h"
#include "pages.h"

static int broken;

static void check(bool holds, const char *what)
{
	if (!holds)
		broken += printf("NOT OK: %s\n", what) > 0;
}

/* How many of `n` lines from `first` on hit, each looked up once. */
static unsigned int hits(struct cache *c, uint32_t first, unsigned int n, unsigned int ways)
{
	unsigned int i, found = 0;

	for (i = 0; i < n; i++)
		found += cache_hit(c, first + i, ways);
	return found;
}

static void one_set_is_lru(void)
{
	struct cache c = cache_new(4 << LINE_SHIFT, 4);
	unsigned int i;

	check(c.nr_sets == 1, "four lines in four ways are one set");
	check(hits(&c, 0, 4, 4) == 0, "an empty cache misses, line 0 too");
	check(hits(&c, 0, 4, 4) == 4, "as many lines as ways stay");
	check(cache_hit(&c, 0, 4), "line 0 is used again");
	check(!cache_hit(&c, 9, 4) && cache_hit(&c, 0, 4), "a new line does not evict the one used last");
	check(!cache_hit(&c, 1, 4), "it evicts the one used longest ago");
	for (i = 0; i < 100; i++)
		check(hits(&c, 0, 5, 4) == 0 || i == 0, "five lines in turn never hit in four ways of LRU");
	cache_empty(&c);
	check(hits(&c, 0, 5, 4) == 0, "an emptied cache misses");
	free(c.tags);
}

static void capacity_is_what_was_asked_for(void)
{
	const unsigned int lines = (1 << 20) >> LINE_SHIFT;
	struct cache c = cache_new(1 << 20, LLC_WAYS);

	hits(&c, 1 << 20, lines / 2, LLC_WAYS);
	check(hits(&c, 1 << 20, lines / 2, LLC_WAYS) > lines / 2 * 0.97, "half the cache's size stays, hashed sets or not");
	hits(&c, 1 << 20, lines * 16, LLC_WAYS);
	check(hits(&c, 1 << 20, lines * 16, LLC_WAYS) < lines / 100, "sixteen times its size in turn do not");
	free(c.tags);
}

static void bases_of_nodes_do_not_meet_in_one_set(void)
{
	struct cache c = cache_new(4 << 20, LLC_WAYS);
	unsigned int i, again = 0;

	for (i = 0; i < 64; i++)
		cache_hit(&c, i << 20, LLC_WAYS);
	for (i = 0; i < 64; i++)
		again += cache_hit(&c, i << 20, LLC_WAYS);
	check(again == 64, "64 lines 64 MiB apart stay");
	free(c.tags);
}

static void no_page_count_is_lost(const char *file)
{
	const uint64_t nr = 700000, first = 0x7f0000000;
	struct pages p = { 0 };
	struct page_count *got = calloc(nr, sizeof(*got));
	uint64_t i, sum = 0, read;
	FILE *f = fopen(file, "w+");

	pages_grow(&p, 16);
	for (i = 0; i < nr; i++)
		pages_count(&p, first + i);
	for (i = 0; i < nr; i += 2)
		pages_count(&p, first + i);
	check(p.used == nr && p.size >= 2 * nr, "the table grew with its pages");
	pages_write(&p, f);
	rewind(f);
	read = fread(got, sizeof(*got), nr, f);
	check(read == nr && fgetc(f) == EOF, "each page is written once");
	for (i = 0; i < read; i++) {
		check(got[i].count == 2 - (got[i].page - first) % 2, "with its count");
		sum += got[i].count;
	}
	check(sum == nr + nr / 2, "and none is missing");
	pages_forget(&p);
	check(!p.used && !pages_place(&p, first)->count, "nothing is left of what was forgotten");
	fclose(f);
	free(got);
	free(p.table);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	one_set_is_lru();
	capacity_is_what_was_asked_for();
	bases_of_nodes_do_not_meet_in_one_set();
	no_page_count_is_lost(argv[1]);
	return broken != 0;
}

// SPDX-License-Identifier: MIT
/* Prints one line for every promise of the plugin's headers that does not hold; status 1 if there was one. Argument: a scratch file. */
#include "cache.h"
#include "pages.h"
#include "samples.h"
#include "streams.h"
#include "tlb.h"

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

static void what_was_written_leaves_dirty(void)
{
	struct cache c = cache_new(2 << LINE_SHIFT, 2);
	uint32_t out;

	check(!cache_use(&c, 0, 2, DIRTY, &out) && !out, "nothing leaves an empty set");
	check(cache_use(&c, 0, 2, 0, &out) && !out, "a line that is read stays as dirty as it was");
	check(!cache_use(&c, 7, 2, 0, &out) && !out, "the second way is free");
	check(!cache_use(&c, 8, 2, 0, &out) && out & DIRTY && cache_line(out) == 0, "the written line leaves, dirty");
	check(!cache_use(&c, 9, 2, 0, &out) && !(out & DIRTY) && cache_line(out) == 7, "the read one leaves, clean");
	check(cache_use(&c, 8, 2, DIRTY, &out), "a line becomes dirty where it is");
	check(!cache_use(&c, 7, 2, 0, &out) && cache_line(out) == 9, "and is the latest of its set");
	check(!cache_use(&c, 0, 2, 0, &out) && out & DIRTY && cache_line(out) == 8, "and leaves dirty");
	free(c.tags);
}

/* How many of `n` lines continue a stream: `step` apart, as many streams beside each other, far apart. */
static unsigned int reached(unsigned int n, uint64_t step, unsigned int streams)
{
	struct streams s = { 0 };
	unsigned int i, j, found = 0;

	for (i = 0; i < n; i++)
		for (j = 0; j < streams; j++)
			found += streams_reach(&s, (1ull << 40) * (j + 1) + i * step);
	return found;
}

static void sixteen_streams_are_followed(void)
{
	struct streams s = { 0 };

	check(reached(100, 1, 1) == 99, "all lines of a stream but its first are ready");
	check(reached(100, -1ull, 1) == 99, "downwards too");
	check(reached(100, 2, 1) == 0, "every other line is not");
	check(reached(100, 1, 16) == 16 * 99, "16 streams beside each other are followed");
	check(reached(100, 1, 17) == 0, "a seventeenth has each forgotten before its next line");
	streams_reach(&s, 5);
	check(!streams_reach(&s, 5) && streams_reach(&s, 6), "the same line again neither continues a stream nor ends it");
}

/* How many of `pages` pages of 1 << shift bytes need a walk when each is asked for once, after having been so before. */
static unsigned int second_walks(unsigned int entries, unsigned int pages, unsigned int shift)
{
	struct cache tlb = cache_new((uint64_t)entries << LINE_SHIFT, TLB_WAYS);
	unsigned int i, found = 0;

	for (i = 0; i < 2 * pages; i++)
		found += !cache_hit(&tlb, tlb_entry(i % pages * (1ull << shift), 0, shift), TLB_WAYS) && i >= pages;
	free(tlb.tags);
	return found;
}

static void the_tlb_reaches_as_far_as_its_entries(void)
{
	uint64_t vaddr = 0x7f0000000000, paddr = 0x40000000;
	unsigned int i, huge = 0;

	check(second_walks(1536, 700, SMALL_SHIFT) < 7, "half as many pages as entries stay");
	check(second_walks(1536, 700, HUGE_SHIFT) < 7, "of 2 MiB as well");
	check(second_walks(1536, 12288, SMALL_SHIFT) > 12165, "eight times as many do not");
	check(tlb_is_huge(vaddr + 0x123456, paddr + 0x123456), "addresses that agree below 2 MiB are a large page's");
	for (i = 0; i < 512; i++)
		huge += tlb_is_huge(vaddr + 0x3000, paddr + (i << SMALL_SHIFT));
	check(huge == 1, "one of 512 places of a small page looks like a large one's");
	check(tlb_entry(vaddr, paddr, SMALL_SHIFT) != tlb_entry(vaddr, paddr + 4096, SMALL_SHIFT), "a page that moved needs a walk");
	check(tlb_entry(vaddr, paddr, SMALL_SHIFT) == tlb_entry(vaddr + 4095, paddr + 4095, SMALL_SHIFT), "one entry maps all of a page");
}

static void a_line_of_a_table_maps_eight_pages(void)
{
	const unsigned int shifts[] = { SMALL_SHIFT, HUGE_SHIFT };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		uint64_t eight = 8ull << shifts[i];
		uint32_t line = tlb_table_line(eight, shifts[i]);

		check(line == tlb_table_line(2 * eight - 1, shifts[i]), "eight neighbours share a line");
		check(line != tlb_table_line(2 * eight, shifts[i]), "the ninth has another");
		check(line >= TABLES && line < 2 * TABLES - 1, "above all physical memory, below the dirty bit");
	}
	check(tlb_table_line(0, SMALL_SHIFT) != tlb_table_line(0, HUGE_SHIFT), "tables of two levels are not the same");
}

static void no_page_count_is_lost(const char *file)
{
	const uint64_t nr = 700000, first = 0x7f0000000;
	uint64_t(*got)[6] = calloc(nr, sizeof(*got));
	struct pages p = { 0 };
	uint64_t i, head[2], sum = 0, read;
	FILE *f = fopen(file, "w+");

	pages_grow(&p, 16);
	for (i = 0; i < nr; i++)
		pages_missed(&p, first + i, (struct page_miss){ .node = 1, .now = i, .streamed = i % 4 == 0 });
	for (i = 0; i < nr; i += 2)
		pages_missed(&p, first + i, (struct page_miss){ .node = 2, .now = i + (i < 1000 ? VISIT_GAP : VISIT_GAP - 1), .streamed = true });
	for (i = 0; i < nr; i += 3)
		pages_written_back(&p, first + i);
	check(p.used == nr && p.size >= 2 * nr, "the table grew with its pages");
	pages_write(&p, f);
	rewind(f);
	check(fread(head, sizeof(head), 1, f) == 1 && !memcmp(head, "hmkpages", 8) && head[1] == PAGES_FORMAT, "the file tells its format");
	read = fread(got, sizeof(*got), nr, f);
	check(read == nr && fgetc(f) == EOF, "each page is written once");
	for (i = 0; i < read; i++) {
		uint64_t page = got[i][0] - first;

		check(got[i][1] == 2 - page % 2, "with its misses");
		check(got[i][2] == (page % 4 ? 1 - page % 2 : 2), "those of them that were streamed");
		check(got[i][3] == (page % 3 == 0), "what was written back of it");
		check(got[i][4] == (page % 2 || page >= 1000 ? 1 : 2), "its visits, which have a gap between them");
		check(got[i][5] == 2 - page % 2, "and where it was last");
		sum += got[i][1];
	}
	check(sum == nr + nr / 2, "and none is missing");
	pages_forget(&p);
	check(!p.used && pages_is_free(pages_place(&p, first)), "nothing is left of what was forgotten");
	fclose(f);
	free(got);
	free(p.table);
}

static void a_page_may_be_written_back_and_never_missed(const char *file)
{
	struct pages p = { 0 };
	uint64_t got[6];
	FILE *f = fopen(file, "w+");

	pages_grow(&p, 16);
	pages_written_back(&p, 7);
	pages_written_back(&p, 7);
	pages_write(&p, f);
	check(p.used == 1 && fseek(f, 16, SEEK_SET) == 0 && fread(got, sizeof(got), 1, f) == 1 && got[0] == 7 && !got[1] &&
	      got[3] == 2, "a page that was missed before the first mark keeps what is written back of it");
	fclose(f);
	free(p.table);
}

static void one_load_in_so_many_is_a_record(const char *file)
{
	const uint64_t loads = 1000000, every = 97;
	uint64_t latency[2] = { 90, 340 }, i, sampled = 0;
	struct samples s = { .file = fopen(file, "w+"), .every = every, .low = 0x80000000, .latency = latency };
	struct load_sample got;
	bool right = true;

	check(!samples_begin(&s, 2), "there is memory for two vCPUs");
	sample_load(&s, &s.vcpu[1], 0x1000, 0);
	samples_forget(&s);
	for (i = 0; i < loads; i++)
		sample_load(&s, &s.vcpu[0], i << 6, i & 1);
	fflush(s.file);
	rewind(s.file);
	while (fread(&got, sizeof(got), 1, s.file) == 1) {
		right &= got.header.type == PERF_RECORD_SAMPLE && got.header.size == sizeof(got) && got.period == every &&
			 got.cycles == latency[got.address >> 6 & 1];
		sampled++;
	}
	check(right && feof(s.file) && ftell(s.file) == (long)(sampled * sizeof(got)), "records are whole, each of its load");
	check(sampled > loads / every * 0.97 && sampled < loads / every * 1.03, "one in so many, what was forgotten not among them");
	check(true_address(&s, 0x10000000 + 0x123, 0x10000000) == 0x8000123, "a node's first bytes lie behind those before it");
	check(true_address(&s, 0x100000000 + 0x7fffffff, 0x100000000) == 0x17fffffff, "above the hole it goes on at 4 GiB");
	check(true_address(&s, 0x7fffffff, 0) == 0x7fffffff && true_address(&s, 0x80000000, 0) == 0x100000000, "from its very first byte");
	s.low = 0;
	check(true_address(&s, 0x140000000, 0x40000000) == 0x140000000, "a true address stays");
	fclose(s.file);
	free(s.vcpu);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	one_set_is_lru();
	capacity_is_what_was_asked_for();
	bases_of_nodes_do_not_meet_in_one_set();
	what_was_written_leaves_dirty();
	sixteen_streams_are_followed();
	the_tlb_reaches_as_far_as_its_entries();
	a_line_of_a_table_maps_eight_pages();
	no_page_count_is_lost(argv[1]);
	a_page_may_be_written_back_and_never_missed(argv[1]);
	one_load_in_so_many_is_a_record(argv[1]);
	return broken != 0;
}

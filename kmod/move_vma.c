// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commit by migrate_vma, for kernels whose own building blocks cannot be
 * reached. It takes ranges, anonymous base pages only, flushes per page and
 * keeps the whole range unmapped meanwhile, so a step is small. "Written" is the
 * entry's write bit or the page's dirty flag: each alone misses cases.
 *
 * It must not see a huge page. From 6.5 on it looks again and again at the entry
 * of one that somebody else is moving, without ever giving up the CPU: for ever,
 * where that mover waits for this CPU. Once a table, an entry stays one while
 * the mmap lock is held, so a look before is enough (tests/e2e/69).
 */
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/timekeeping.h>

#include "copy.h"
#include "compat/symbols.h"
#include "move.h"
#include "walk.h"

#define STEP_PAGES	32u
#define STEP_BYTES	(STEP_PAGES * PAGE_SIZE)	/* divides what a table maps */

#if IS_ENABLED(CONFIG_DEVICE_MIGRATION)

struct step {
	struct hmk_chunk *c;
	unsigned long start;
	u32 nr, first, last;	/* pages, all of one table; records of the chunk within */
	unsigned long src[STEP_PAGES], dst[STEP_PAGES];
	struct hmk_page *record[STEP_PAGES];
	bool recopied[STEP_PAGES], poisoned[STEP_PAGES];
};

static bool written(const struct hmk_chunk *c, const struct hmk_page *pg, unsigned long pfn,
		    struct folio *folio)
{
	if (IS_ENABLED(HMK_TEST_SWITCHES) && c->flags & HMK_MOVE_TEST_WRITE_BIT)
		return !pg->precopy || pfn & MIGRATE_PFN_WRITE;
	return !pg->precopy || pfn & MIGRATE_PFN_WRITE || folio_test_dirty(folio) ||
	       folio_test_swapcache(folio) || !folio_test_swapbacked(folio);
}

/* Decide for one unmapped page; dst stays 0 to put it back. */
static void fill(struct step *st, u32 i)
{
	struct page *page = migrate_pfn_to_page(st->src[i]);
	struct hmk_page *pg = st->record[i];
	struct folio *folio;

	if (!pg || !pg->dst || !page || !(st->src[i] & MIGRATE_PFN_MIGRATE))
		return;
	folio = page_folio(page);
	/* Page-out in progress would end in a BUG() inside migrate_vma_pages(). */
	if (folio_nid(folio) == st->c->node || !folio_test_anon(folio) ||
	    folio_test_writeback(folio) || folio_test_large(folio))
		return;
	if (pg->src != folio)
		pg->precopy = false;
	st->recopied[i] = written(st->c, pg, st->src[i], folio);
	if (st->recopied[i] && hmk_folio_copy(pg->dst, folio, st->c->flags, false)) {
		st->poisoned[i] = true;
		return;
	}
	__folio_set_locked(pg->dst);
	st->dst[i] = migrate_pfn(folio_pfn(pg->dst));
}

/* migrate_vma refuses pages with references beyond their mappings: drop ours. */
static void release_sources(struct step *st)
{
	struct hmk_chunk *c = st->c;
	u32 i;

	for (i = st->first; i < st->last; i++) {
		struct hmk_page *pg = &c->page[i];

		if (!pg->src)
			continue;
		folio_put(pg->src);	/* from here on only compared, never followed */
		st->record[(pg->addr - st->start) >> PAGE_SHIFT] = pg;
	}
}

/* What migrate_vma did not take: the target page is still ours or given back. */
static void settle(struct step *st, u32 i)
{
	struct hmk_page *pg = st->record[i];

	if (!pg)
		return;
	pg->src = NULL;			/* reference dropped before */
	if (st->dst[i] && st->src[i] & MIGRATE_PFN_MIGRATE) {
		hmk_moved(st->c, pg, st->recopied[i]);
		return;
	}
	if (st->dst[i])
		pg->dst = NULL;		/* migrate_vma_finalize() freed it */
	if (st->poisoned[i])
		hmk_drop(st->c, pg, HMK_REFUSED_POISONED, -EHWPOISON);
	else
		hmk_drop(st->c, pg, HMK_REFUSED_PINNED, -EBUSY);
}

static void run_step(struct step *st, struct vm_area_struct *vma)
{
	struct migrate_vma args = {
		.vma = vma, .start = st->start, .end = st->start + st->nr * PAGE_SIZE,
		.src = st->src, .dst = st->dst, .flags = MIGRATE_VMA_SELECT_SYSTEM,
	};
	u64 begin = ktime_get_ns(), took;
	u32 i;

	release_sources(st);
	if (hmk_is_table(st->c->mm, st->start) && !migrate_vma_setup(&args)) {
		for (i = 0; i < st->nr; i++)
			fill(st, i);
		migrate_vma_pages(&args);
		migrate_vma_finalize(&args);
	}
	took = ktime_get_ns() - begin;
	st->c->res->commit_ns += took;
	st->c->res->commit_max_ns = max(st->c->res->commit_max_ns, took);
	for (i = 0; i < st->nr; i++)
		settle(st, i);
}

void hmk_commit_vma(struct hmk_chunk *c)
{
	struct vm_area_struct *vma = find_vma(c->mm, c->start);
	u64 recopied = c->res->pages_recopied;
	struct step *st = kmalloc(sizeof(*st), GFP_KERNEL);
	unsigned long addr, next;
	u32 at = 0;

	if (!st) {
		for (; at < c->nr; at++)
			hmk_drop(c, &c->page[at], HMK_REFUSED_NO_ROOM, -ENOMEM);
		c->nr = 0;
		return;
	}
	for (addr = c->start; addr < c->end; addr = next) {
		next = min(c->end, round_down(addr, STEP_BYTES) + STEP_BYTES);
		memset(st, 0, sizeof(*st));
		st->c = c;
		st->start = addr;
		st->nr = (next - addr) >> PAGE_SHIFT;
		st->first = at;
		while (at < c->nr && c->page[at].addr < next)
			at++;
		st->last = at;
		if (st->first == st->last)
			continue;
		run_step(st, vma);
		cond_resched();
	}
	kfree(st);
	c->res->chunks_switched += c->res->pages_recopied != recopied;
	c->res->paths |= BIT(HMK_FEAT_MOVE_VMA);
	c->nr = 0;
}

#else

void hmk_commit_vma(struct hmk_chunk *c)
{
	u32 i;

	for (i = 0; i < c->nr; i++)
		hmk_drop(c, &c->page[i], HMK_REFUSED_KIND, -EOPNOTSUPP);
	c->nr = 0;
}

#endif

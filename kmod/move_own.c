// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commit by the kernel's own building blocks. A batch of folios is unmapped
 * with migration entries, the TLB is flushed once, what was written since the
 * pre-copy is copied again, and the new pages are mapped. The application can
 * wait only for the batch its page is in.
 */
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/swap.h>
#include <linux/timekeeping.h>

#include "compat/mm.h"
#include "compat/symbols.h"
#include "copy.h"
#include "move.h"
#include "walk.h"

/* With the mmap lock held, this entry keeps the page's anon_vma alive. */
static bool still_mapped(struct hmk_chunk *c, const struct hmk_page *pg)
{
	struct hmk_leaf leaf;
	bool same;

	if (!hmk_leaf_lock(c->mm, pg->addr, &leaf))
		return false;
	same = leaf.page && page_folio(leaf.page) == pg->src;
	hmk_leaf_unlock(&leaf);
	return same;
}

/* Both folios locked and the source isolated on true; dropped on false. */
static bool isolate(struct hmk_chunk *c, struct hmk_page *pg)
{
	if (!still_mapped(c, pg)) {
		hmk_drop(c, pg, HMK_REFUSED_GONE, -ENOENT);
		return false;
	}
	if (!folio_trylock(pg->src)) {
		hmk_drop(c, pg, HMK_REFUSED_BUSY, -EBUSY);
		return false;
	}
	if (!folio_test_writeback(pg->src) &&
	    hmk_isolated(hmk_call(folio_isolate_lru)(pg->src))) {
		__folio_set_locked(pg->dst);	/* fresh: nobody else sees it */
		return true;
	}
	folio_unlock(pg->src);
	hmk_drop(c, pg, HMK_REFUSED_BUSY, -EBUSY);
	return false;
}

/* Put the old mapping back; the page was never away. */
static void undo(struct hmk_chunk *c, struct hmk_page *pg, unsigned int why)
{
	hmk_call(remove_migration_ptes)(pg->src, pg->src, 0);
	folio_unlock(pg->dst);
	hmk_call(folio_putback_lru)(pg->src);
	folio_unlock(pg->src);
	hmk_drop(c, pg, why, -EBUSY);
}

/* May the kernel's own fault make this entry writable and find nothing else to do? */
static bool only_write_is_missing(const struct hmk_chunk *c, const struct hmk_leaf *leaf)
{
	unsigned long bits = READ_ONCE(*leaf->bits);
	bool counts_writes = IS_ENABLED(CONFIG_MEM_SOFT_DIRTY) && !(c->vm_flags & VM_SOFTDIRTY);

	return c->vm_flags & VM_WRITE && PageAnonExclusive(leaf->page) &&
	       !pte_protnone(__pte(bits)) && !pte_uffd_wp(__pte(bits)) &&
	       (!counts_writes || pte_soft_dirty(__pte(bits)));
}

/*
 * Give back the write bit that collecting took, or the first write to every
 * page faults once more. Folio locked and mmap lock held since the mapping came
 * back, so no fork, no mprotect() and no page-out has come between.
 */
static void regrant(const struct hmk_chunk *c, const struct hmk_page *pg)
{
	struct hmk_leaf leaf;

	if (!hmk_leaf_lock(c->mm, pg->addr, &leaf))
		return;
	if (leaf.page && page_folio(leaf.page) == pg->dst && only_write_is_missing(c, &leaf)) {
		if (leaf.shift == PAGE_SHIFT) {
			pte_t old = READ_ONCE(*leaf.pte);

			while (!try_cmpxchg(&leaf.pte->pte, &old.pte, hmk_pte_mkwrite(old).pte))
				;
		} else {
			pmd_t old = READ_ONCE(*leaf.pmd);

			while (!try_cmpxchg(&leaf.pmd->pmd, &old.pmd, hmk_pmd_mkwrite(old).pmd))
				;
		}
	}
	hmk_leaf_unlock(&leaf);
}

static void finish(struct hmk_chunk *c, struct hmk_page *pg, bool recopied)
{
	struct folio *src = pg->src, *dst = pg->dst;

	folio_migrate_flags(dst, src);
	if (!folio_test_anon(src))
		src->mapping = NULL;	/* or freeing it reports a bad page */
	folio_add_lru(dst);
	hmk_call(remove_migration_ptes)(src, dst, 0);
	if (pg->writable)
		regrant(c, pg);
	folio_unlock(dst);
	folio_put(dst);			/* the mappings hold it now */
	folio_unlock(src);
	folio_put(src);			/* isolation; ours keeps it until the batch is over */
	hmk_moved(c, pg, recopied);
}

/*
 * Unmapped everywhere and flushed: nobody writes to @pg->src any more. Return:
 * true when it has moved, and our reference to the old page is the caller's.
 */
static bool switch_over(struct hmk_chunk *c, struct hmk_page *pg)
{
	struct folio *src = pg->src;
	bool written = pg->precopy && (folio_test_dirty(src) || folio_test_swapcache(src));

	if (folio_mapped(src)) {
		undo(c, pg, HMK_REFUSED_PINNED);
		return false;
	}
	if (!pg->precopy || written)
		hmk_folio_copy(pg->dst, src);
	/* Freezes the count: a reference taken meanwhile makes it fail. */
	if (folio_migrate_mapping(folio_mapping(src), pg->dst, src, 1)) {
		undo(c, pg, HMK_REFUSED_PINNED);
		return false;
	}
	finish(c, pg, written);
	return true;
}

static void commit_batch(struct hmk_chunk *c, u32 from, u32 to)
{
	bool batched = hmk_has(HMK_FEAT_MOVE_BATCH);
	struct hmk_page *batch[HMK_BATCH_PAGES];
	struct folio *old[HMK_BATCH_PAGES];
	u64 begin = ktime_get_ns(), took;
	u32 i, nr = 0;

	for (i = from; i < to; i++) {
		struct hmk_page *pg = &c->page[i];

		if (!pg->dst || !isolate(c, pg))
			continue;
		hmk_call(try_to_migrate)(pg->src, batched ? TTU_BATCH_FLUSH : 0);
		batch[nr++] = pg;
	}
	if (batched)
		hmk_call(try_to_unmap_flush)();
	for (i = 0; i < nr; i++) {
		old[i] = batch[i]->src;
		if (!switch_over(c, batch[i]))
			old[i] = NULL;
	}
	took = ktime_get_ns() - begin;
	c->res->commit_ns += took;
	c->res->commit_max_ns = max(c->res->commit_max_ns, took);
	/* A full per-CPU list is emptied by thousands, interrupts off: with nobody waiting. */
	for (i = 0; i < nr; i++) {
		if (old[i])
			folio_put(old[i]);
	}
}

/**
 * hmk_commit_own() - commit a chunk by the own path.
 * @c: collected and pre-copied; mmap lock held for reading.
 *
 * Every record is used up: its page is on the target, or where it was with a
 * reason. Without batched shootdown a batch is one folio: each unmap flushes by
 * itself, and the next page's owner need not wait for it.
 */
void hmk_commit_own(struct hmk_chunk *c)
{
	u32 step = hmk_has(HMK_FEAT_MOVE_BATCH) ? HMK_BATCH_PAGES : 1, i;
	u64 recopied = c->res->pages_recopied;

	for (i = 0; i < c->nr; i += step) {
		commit_batch(c, i, min(i + step, c->nr));
		cond_resched();
	}
	c->res->chunks_switched += c->res->pages_recopied != recopied;
	c->res->paths |= BIT(HMK_FEAT_MOVE_OWN);
	if (hmk_has(HMK_FEAT_MOVE_BATCH))
		c->res->paths |= BIT(HMK_FEAT_MOVE_BATCH);
	c->nr = 0;
}

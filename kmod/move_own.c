// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commit by the kernel's own building blocks. A batch of folios is unmapped
 * with migration entries, the TLB is flushed once, what was written since the
 * pre-copy is copied again, and the new pages are mapped. The application can
 * wait only for the batch its page is in.
 */
#include <linux/delay.h>
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

#define OWN_BATCH_COPIED	64u	/* records unmapped together, for each CPU that uses them */
#define OWN_BATCH_TO_COPY	32u	/* pages, copied while they are; or one record */

/* What the commit can see of a record before it takes the page away. */
struct own_look {
	struct hmk_chunk *c;
	u32 at;			/* next record */
};

/*
 * Mark the records that are still mapped where they were. With the mmap lock held
 * that keeps the page's anon_vma alive. An entry that is dirty or writable again
 * was written meanwhile: only a hint, it may be written later still.
 */
static void own_look_leaf(const struct hmk_leaf *leaf, void *arg)
{
	struct own_look *look = arg;
	struct hmk_chunk *c = look->c;
	struct hmk_page *pg;

	while (look->at < c->nr && c->page[look->at].addr < leaf->addr)
		look->at++;
	pg = &c->page[look->at];
	if (look->at == c->nr || pg->addr != leaf->addr || !pg->src || !leaf->page ||
	    page_folio(leaf->page) != pg->src)
		return;
	pg->mapped = true;
	pg->looks_written = !pg->precopy || *leaf->bits & (_PAGE_RW | _PAGE_DIRTY);
	/* A child shares it since the pre-copy began. */
	pg->shared = !folio_test_ksm(pg->src) && !(c->flags & HMK_MOVE_SHARED) &&
		     hmk_folio_shared(pg->src, leaf->page);
}

/* Both folios locked and the source isolated on true; dropped on false. */
static bool own_isolate(struct hmk_chunk *c, struct hmk_page *pg)
{
	if (!pg->mapped) {
		hmk_drop(c, pg, HMK_REFUSED_GONE, -ENOENT);
		return false;
	}
	if (pg->shared) {
		hmk_drop(c, pg, HMK_REFUSED_SHARED, -EACCES);
		return false;
	}
	if (!folio_trylock(pg->src)) {
		hmk_drop(c, pg, HMK_REFUSED_BUSY, -EBUSY);
		return false;
	}
	/* Since it was collected: its unmapped part could never be freed on the target. */
	if (hmk_folio_partly_mapped(pg->src)) {
		folio_unlock(pg->src);
		hmk_drop(c, pg, HMK_REFUSED_KIND, -EOPNOTSUPP);
		return false;
	}
	if (!folio_test_writeback(pg->src) &&
	    hmk_isolated(hmk_call(folio_isolate_lru)(pg->src))) {
		__folio_set_locked(pg->dst);	/* fresh: nobody else sees it */
		pg->mlocked = folio_test_mlocked(pg->src);
		return true;
	}
	folio_unlock(pg->src);
	hmk_drop(c, pg, HMK_REFUSED_BUSY, -EBUSY);
	return false;
}

/* Its mappings are back, nobody but us and they hold it: what was unmapped meanwhile is freed. */
static void own_free_lost_part(struct folio *folio)
{
	if (hmk_folio_lost_part(folio) && hmk_has(HMK_FEAT_SPLIT_HUGE))
		hmk_split_folio(folio);
}

/* Put the old mapping back; the page was never away. */
static void own_undo(struct hmk_chunk *c, struct hmk_page *pg, unsigned int why, int status)
{
	hmk_call(remove_migration_ptes)(pg->src, pg->src, 0);
	folio_unlock(pg->dst);
	hmk_call(folio_putback_lru)(pg->src);
	own_free_lost_part(pg->src);
	folio_unlock(pg->src);
	hmk_drop(c, pg, why, status);
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
static void own_regrant(const struct hmk_chunk *c, const struct hmk_page *pg)
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

static void own_finish(struct hmk_chunk *c, struct hmk_page *pg, bool recopied)
{
	struct folio *src = pg->src, *dst = pg->dst;

	folio_migrate_flags(dst, src);
	if (!folio_test_anon(src))
		src->mapping = NULL;	/* or freeing it reports a bad page */
	folio_add_lru(dst);
	/* On its list before its mappings are, or they are not counted there. */
	if (pg->mlocked)
		hmk_call(lru_add_drain)();
	hmk_call(remove_migration_ptes)(src, dst, 0);
	if (pg->writable)
		own_regrant(c, pg);
	own_free_lost_part(dst);
	folio_unlock(dst);
	folio_put(dst);			/* the mappings hold it now */
	folio_unlock(src);
	folio_put(src);			/* isolation; ours keeps it until the batch is over */
	hmk_moved(c, pg, recopied);
}

/* The order that loses writes, to prove that the test sees it: copy, a pause, then count. */
static bool late_count(const struct hmk_chunk *c)
{
	return IS_ENABLED(HMK_TEST_SWITCHES) && c->flags & HMK_MOVE_TEST_LATE_COUNT;
}

/*
 * Who can write to a page or read it for later without its mapping holds a
 * reference for as long (FOLL_GET and FOLL_PIN: direct I/O, io_uring, vmsplice,
 * process_vm_writev(), ptrace, RDMA). So, in this order:
 *
 * 1. The page is unmapped and flushed: nobody gains such a reference any more.
 *    Who faults waits for the migration entry; the page cache's own users of
 *    shared memory wait for the folio lock.
 * 2. Then the references are counted: the one of isolation, ours, and the page
 *    cache's or swap cache's. One more was there before and may still write.
 * 3. Only then is it copied. To copy first is to lose what a holder writes and
 *    lets go of meanwhile: nothing would show that it was there.
 * 4. folio_migrate_mapping() counts once more and freezes: one that was taken
 *    through the page cache meanwhile makes it fail.
 *
 * What was copied before 1. (pre-copy) is good only as long as rule 2 of
 * collect.c says so: written since, or held, and it is copied again here.
 */
static bool held_by_others(const struct hmk_chunk *c, struct folio *src)
{
	if (late_count(c))
		return false;
	return folio_ref_count(src) != 2 + hmk_folio_cache_refs(src);	/* isolation's and ours */
}

/*
 * Nothing was written since the entry lost its write and dirty bits together:
 * - not dirty: try_to_migrate() has put the entry's dirty bit into the folio, and so
 *   have mprotect(), fork and reclaim when they changed the entry before;
 * - and left read-only: MADV_FREE takes both dirty marks of a written page back, the
 *   write bit stays. Off the LRU, as a page that we commit is, it shows nowhere else.
 *   Who takes the write bit and could hide that holds the mmap lock for writing.
 */
static bool clean_since(const struct hmk_chunk *c, const struct hmk_page *pg)
{
	return !folio_test_dirty(pg->src) && !folio_test_swapcache(pg->src) &&
	       folio_test_swapbacked(pg->src) && hmk_left_read_only(c->mm, pg->addr);
}

/*
 * Unmapped everywhere and flushed. Return: true when it has moved, and our
 * reference to the old page is the caller's.
 */
static bool own_switch_over(struct hmk_chunk *c, struct hmk_page *pg)
{
	struct folio *src = pg->src;
	bool written = pg->precopy && !clean_since(c, pg);

	if (folio_mapped(src) || held_by_others(c, src)) {
		own_undo(c, pg, HMK_REFUSED_PINNED, -EBUSY);
		return false;
	}
	if ((!pg->precopy || written) && hmk_folio_copy(pg->dst, src, c->flags, false)) {
		own_undo(c, pg, HMK_REFUSED_POISONED, -EHWPOISON);
		return false;
	}
	if (late_count(c))
		usleep_range(2000, 4000);
	/* Freezes the count: a reference taken meanwhile makes it fail. */
	if (folio_migrate_mapping(folio_mapping(src), pg->dst, src, 1)) {
		own_undo(c, pg, HMK_REFUSED_PINNED, -EBUSY);
		return false;
	}
	own_finish(c, pg, written);
	return true;
}

/* Commit @nr records, named by @which, together: they are unmapped by one flush. */
static void own_commit_batch(struct hmk_chunk *c, const u16 *which, u32 nr)
{
	bool batched = hmk_has(HMK_FEAT_MOVE_BATCH);
	u64 begin = ktime_get_ns(), took;
	u32 i;

	for (i = 0; i < nr; i++) {
		struct hmk_page *pg = &c->page[which[i]];

		pg->old = pg->dst && own_isolate(c, pg) ? pg->src : NULL;
		if (pg->old)
			hmk_call(try_to_migrate)(pg->src, batched ? TTU_BATCH_FLUSH : 0);
	}
	if (batched)
		hmk_call(try_to_unmap_flush)();
	for (i = 0; i < nr; i++) {
		struct hmk_page *pg = &c->page[which[i]];

		if (pg->old && !own_switch_over(c, pg))
			pg->old = NULL;
	}
	took = ktime_get_ns() - begin;
	c->res->commit_ns += took;
	c->res->commit_max_ns = max(c->res->commit_max_ns, took);
	/* A full per-CPU list is emptied by thousands, interrupts off: with nobody waiting. */
	for (i = 0; i < nr; i++) {
		if (c->page[which[i]].old)
			folio_put(c->page[which[i]].old);
	}
}

/*
 * A flush interrupts each CPU that uses the memory, so the more of them the fewer: what was
 * copied ahead commits quickly and many together. What is to be copied while it is unmapped comes
 * after, few at a time. Without batched shootdown a batch is one folio: nobody waits for the next.
 * Return: how many of the @nr records that @which names go together, at least one.
 */
static u32 own_batch(const struct hmk_chunk *c, const u16 *which, u32 nr, bool copied)
{
	u32 i, pages;

	if (!hmk_has(HMK_FEAT_MOVE_BATCH))
		return 1;
	if (copied)
		return min(OWN_BATCH_COPIED *
			   /* CPUs come and go: any number of them will do. */
			   max(data_race(cpumask_weight(mm_cpumask(c->mm))), 1u), nr);
	pages = folio_nr_pages(c->page[which[0]].src);
	for (i = 1; i < nr && pages < OWN_BATCH_TO_COPY; i++)
		pages += folio_nr_pages(c->page[which[i]].src);
	return i;
}

static void own_commit_those(struct hmk_chunk *c, bool copied)
{
	u32 step, i, nr = 0;

	for (i = 0; i < c->nr; i++) {
		if (c->page[i].src && c->page[i].looks_written != copied)
			c->order[nr++] = i;
	}
	for (i = 0; i < nr; i += step) {
		step = own_batch(c, &c->order[i], nr - i, copied);
		own_commit_batch(c, &c->order[i], step);
		cond_resched();
	}
}

/**
 * hmk_commit_own() - commit a chunk by the own path.
 * @c: collected and pre-copied; mmap lock held for reading.
 *
 * Every record is used up: its page is on the target, or where it was with a
 * reason.
 */
void hmk_commit_own(struct hmk_chunk *c)
{
	struct own_look look = { .c = c };
	u64 recopied = c->res->pages_recopied;

	hmk_walk_leaves(c->mm, c->start, c->end, own_look_leaf, &look);
	own_commit_those(c, true);
	own_commit_those(c, false);
	c->res->chunks_switched += c->res->pages_recopied != recopied;
	c->res->paths |= BIT(HMK_FEAT_MOVE_OWN);
	if (hmk_has(HMK_FEAT_MOVE_BATCH))
		c->res->paths |= BIT(HMK_FEAT_MOVE_BATCH);
	c->nr = 0;
}

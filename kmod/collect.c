// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take the pages of a chunk and watch them for writes: each entry that may be
 * pre-copied loses its write and its dirty bit together, and its page the dirty
 * flag. Whatever takes the write bit away later (mprotect, fork, soft-dirty),
 * a write in between leaves the entry or the page dirty: that is the one signal
 * "written".
 */
#include <linux/ksm.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/page-flags.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#include "compat/flush.h"
#include "compat/mm.h"
#include "compat/symbols.h"
#include "move.h"
#include "walk.h"

#ifndef VM_SHADOW_STACK
#define VM_SHADOW_STACK 0
#endif

static void set_status(struct hmk_chunk *c, u32 at, u32 nr, int status)
{
	u32 i;

	for (i = at; i < at + nr; i++)
		c->status[i] = status;
}

/**
 * hmk_drop() - leave a page where it is, and say why.
 * @c:      its chunk.
 * @pg:     record; its references are given back.
 * @why:    HMK_REFUSED_*
 * @status: -errno for its pages, as move_pages(2) words it.
 */
void hmk_drop(struct hmk_chunk *c, struct hmk_page *pg, unsigned int why, int status)
{
	c->res->refused[why] += pg->nr_pages;
	set_status(c, pg->status_at, pg->nr_pages, status);
	if (pg->dst)
		folio_put(pg->dst);
	if (pg->src)
		folio_put(pg->src);
	pg->src = NULL;
	pg->dst = NULL;
}

/**
 * hmk_moved() - a page is on its target: count it. References are the caller's.
 * @c:        its chunk.
 * @pg:       record.
 * @recopied: written during the pre-copy.
 */
void hmk_moved(struct hmk_chunk *c, struct hmk_page *pg, bool recopied)
{
	if (!pg->precopy)
		c->res->pages_sync += pg->nr_pages;
	else if (recopied)
		c->res->pages_recopied += pg->nr_pages;
	else
		c->res->pages_clean += pg->nr_pages;
	set_status(c, pg->status_at, pg->nr_pages, c->node);
	count_vm_events(PGMIGRATE_SUCCESS, pg->nr_pages);	/* as any migration */
	pg->src = NULL;
	pg->dst = NULL;
}

/* Cheap look before the entry is touched; the exact one comes after. */
static bool may_precopy(const struct hmk_chunk *c, struct folio *folio, bool whole)
{
	return c->may_precopy && folio_test_anon(folio) &&
	       !folio_test_ksm(folio) && folio_test_swapbacked(folio) &&
	       !folio_test_swapcache(folio) && !folio_test_writeback(folio) &&
	       hmk_folio_mapped_once(folio, whole);
}

/* Atomic, so that a dirty bit the CPU sets at this moment is not lost. Return: the entry before. */
static pte_t protect_pte(pte_t *ptep)
{
	pte_t old = READ_ONCE(*ptep), new;

	do {
		new = pte_mkclean(pte_wrprotect(old));
	} while (!try_cmpxchg(&ptep->pte, &old.pte, new.pte));
	return old;
}

static pmd_t protect_pmd(pmd_t *pmdp)
{
	pmd_t old = READ_ONCE(*pmdp), new;

	do {
		new = pmd_mkclean(pmd_wrprotect(old));
	} while (!try_cmpxchg(&pmdp->pmd, &old.pmd, new.pmd));
	return old;
}

/*
 * 1. The entry is protected first: from here on nobody gains a reference that could
 *    write without the entry becoming dirty.
 * 2. Then the references are counted: one mapping plus ours means that nobody holds
 *    one from before (GUP, a pin, the LRU's batch), and what such a holder has
 *    written is there before we copy.
 * Who takes one later for writing faults, which leaves the entry dirty; move_own.c
 * counts again before it believes the pre-copy.
 */
static bool nobody_else(struct folio *folio)
{
	return folio_ref_count(folio) == 2 && !folio_test_swapcache(folio) &&
	       !folio_test_writeback(folio);
}

/* Folio locked and referenced by us. Decides whether it may be copied ahead. */
static void protect(struct hmk_chunk *c, const struct hmk_leaf *leaf, struct hmk_page *pg)
{
	bool dirty;

	if (leaf->shift == PAGE_SHIFT) {
		pte_t old = protect_pte(leaf->pte);

		pg->writable = pte_write(old);
		dirty = pte_dirty(old);
	} else {
		pmd_t old = protect_pmd(leaf->pmd);

		pg->writable = pmd_write(old);
		dirty = pmd_dirty(old);
	}
	c->nr_protected++;
	c->stride = min(c->stride, leaf->shift);
	pg->precopy = nobody_else(pg->src);
	if (pg->precopy)
		folio_clear_dirty(pg->src);
	else if (dirty)
		folio_set_dirty(pg->src);
}

/* Return: HMK_REFUSED_* or -1 when this page can be moved. */
static int refusal(const struct hmk_chunk *c, const struct hmk_leaf *leaf,
		   struct folio *folio)
{
	if (folio_test_hugetlb(folio))
		return HMK_REFUSED_KIND;
	if (hmk_folio_poisoned(folio))
		return HMK_REFUSED_POISONED;
	if (!c->own && folio_test_large(folio))
		return HMK_REFUSED_KIND;	/* migrate_vma must not see it */
	if (!folio_test_anon(folio) && (!c->own || !folio_test_swapbacked(folio)))
		return HMK_REFUSED_KIND;
	/* Its unmapped part could never be freed on the target; move_pages(2) splits it. */
	if (hmk_folio_partly_mapped(folio))
		return HMK_REFUSED_KIND;
	if (!folio_test_ksm(folio) && hmk_folio_shared(folio, leaf->page) &&
	    !(c->flags & HMK_MOVE_SHARED))
		return HMK_REFUSED_SHARED;
	if (folio_test_ksm(folio) && !(c->flags & HMK_MOVE_SHARED))
		return HMK_REFUSED_SHARED;
	return -1;
}

static int refusal_status(int why)
{
	switch (why) {
	case HMK_REFUSED_SHARED:
		return -EACCES;
	case HMK_REFUSED_KIND:
		return -EOPNOTSUPP;	/* the library asks move_pages(2) */
	case HMK_REFUSED_POISONED:
		return -EHWPOISON;
	}
	return -EBUSY;
}

/*
 * A folio gets one record, or its references would not add up. Neighbouring
 * entries of a large folio extend it; a second mapping elsewhere (KSM) waits
 * for the next call, which finds it on the target.
 */
static bool recorded(struct hmk_chunk *c, struct folio *folio, u32 at, u32 nr)
{
	struct hmk_page *last = c->nr ? &c->page[c->nr - 1] : NULL;
	u32 i;

	if (!folio_test_large(folio) && !folio_test_ksm(folio))
		return false;
	if (last && last->src == folio && last->status_at + last->nr_pages == at) {
		last->nr_pages += nr;
		return true;
	}
	for (i = 0; i < c->nr; i++) {
		if (c->page[i].src == folio) {
			c->res->refused[HMK_REFUSED_BUSY] += nr;
			set_status(c, at, nr, -EBUSY);
			return true;
		}
	}
	return false;
}

/* A batch holds a reference. Pages on their way onto the LRU lack its flag, others keep it. */
static bool may_be_in_batch(struct folio *folio, bool whole)
{
	return !folio_test_lru(folio) ||
	       (hmk_folio_mapped_once(folio, whole) &&
		folio_ref_count(folio) > 2 + hmk_folio_cache_refs(folio));
}

/*
 * Of a page, or of a large folio, which moves as one: the class of its hottest page. What one
 * entry maps is of one class.
 */
static u8 class_of(struct hmk_chunk *c, const struct hmk_leaf *leaf, u32 at)
{
	struct folio *folio = page_folio(leaf->page);
	u32 first, end, i;

	if (leaf->shift != PAGE_SHIFT || !folio_test_large(folio))
		return c->classes[at];
	if (c->whole == folio)
		return c->whole_class;
	i = folio_page_idx(folio, leaf->page);
	first = at - min(at, i);
	end = min_t(u32, at + folio_nr_pages(folio) - i, (c->end - c->start) >> PAGE_SHIFT);
	c->whole = folio;
	c->whole_class = 0;
	for (i = first; i < end; i++)
		c->whole_class = max(c->whole_class, c->classes[i]);
	return c->whole_class;
}

static void collect_leaf(const struct hmk_leaf *leaf, void *arg)
{
	struct hmk_chunk *c = arg;
	unsigned long from = max(leaf->addr, c->start);
	unsigned long to = min(leaf->addr + (1ul << leaf->shift), c->end);
	u32 at = (from - c->start) >> PAGE_SHIFT, nr = (to - from) >> PAGE_SHIFT;
	bool whole = leaf->shift == PMD_SHIFT;
	struct hmk_page *pg;
	struct folio *folio;
	int why;

	if (c->class && (!leaf->page || page_to_nid(leaf->page) != c->from ||
			 class_of(c, leaf, at) != c->class))
		return;
	c->res->pages_absent -= nr;	/* began as all of them */
	if (!leaf->page) {
		set_status(c, at, nr, -EFAULT);	/* zero page, device memory */
		c->res->pages_absent += nr;
		return;
	}
	folio = page_folio(leaf->page);
	if (c->node < 0 || folio_nid(folio) == c->node) {
		set_status(c, at, nr, folio_nid(folio));
		c->res->pages_already += nr;
		return;
	}
	why = refusal(c, leaf, folio);
	if (why >= 0) {
		c->res->refused[why] += nr;
		set_status(c, at, nr, refusal_status(why));
		return;
	}
	if (recorded(c, folio, at, nr))
		return;
	folio_get(folio);	/* mapped, so it has references */
	c->off_lru += may_be_in_batch(folio, whole);
	pg = &c->page[c->nr++];
	*pg = (struct hmk_page){
		.src = folio, .addr = leaf->addr, .status_at = at, .nr_pages = nr,
	};
	if (!may_precopy(c, folio, whole) || !folio_trylock(folio))
		return;
	protect(c, leaf, pg);
	folio_unlock(folio);
}

/**
 * hmk_collect() - record, reference and protect the pages of a chunk.
 * @c:   start, end, node, flags set; records empty; status preset.
 * @vma: covers the whole chunk.
 *
 * Context: mmap lock held for reading. The TLB is clean on return, so a write
 * after it faults.
 */
void hmk_collect(struct hmk_chunk *c, struct vm_area_struct *vma)
{
	c->nr = 0;
	c->nr_protected = 0;
	c->off_lru = 0;
	c->whole = NULL;
	c->stride = PMD_SHIFT;
	/* A secondary MMU (KVM, a device) writes without our entries. */
	c->may_precopy = !(c->flags & HMK_MOVE_SYNC_COPY) && !c->sync_left &&
			 !mm_has_notifiers(c->mm) && !(vma->vm_flags & VM_SHADOW_STACK);
	hmk_walk_leaves(c->mm, c->start, c->end, collect_leaf, c);
	if (!c->nr_protected)
		return;
	if (IS_ENABLED(HMK_TEST_SWITCHES) && c->flags & HMK_MOVE_TEST_NO_FLUSH)
		return;
	hmk_flush_range(c->mm, c->start, c->end, c->stride);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory-management helpers that changed between the supported kernels. */
#ifndef HMK_COMPAT_MM_H
#define HMK_COMPAT_MM_H

#include <linux/huge_mm.h>
#include <linux/mm.h>
#include <linux/page-flags.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/swap.h>	/* swapops.h and leafops.h need it and do not include it */
#ifdef HMK_HAVE_SOFTLEAF
#include <linux/leafops.h>
#else
#include <linux/swapops.h>
#endif
#include <linux/version.h>

/*
 * try_to_migrate() takes TTU_BATCH_FLUSH since 6.3 (7e12beb8ca2a); before, it
 * warns and does nothing. No declaration changed, so only the version tells.
 */
#define HMK_TTU_BATCH_ALLOWED (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0))

/*
 * folio_isolate_lru() returned 0 for success until 6.3 and returns true for
 * success since (be2d57563822). It is declared in a header private to mm/.
 */
#define HMK_NOT_ISOLATED (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0) ? false : -EBUSY)

static inline bool hmk_isolated(int ret)
{
	if (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0))
		return ret & 0xff;	/* bool: only the low byte is defined */
	return ret == 0;
}

static inline void hmk_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				    unsigned long clear)
{
#ifdef HMK_HAVE_VM_FLAGS_SET
	vm_flags_set(vma, set);
	vm_flags_clear(vma, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* Not for shadow stacks, whose entries are writable in another way. */
static inline pte_t hmk_pte_mkwrite(pte_t pte)
{
#ifdef HMK_HAVE_PTE_MKWRITE_NOVMA
	return pte_mkwrite_novma(pte);
#else
	return pte_mkwrite(pte);
#endif
}

static inline pmd_t hmk_pmd_mkwrite(pmd_t pmd)
{
#ifdef HMK_HAVE_PTE_MKWRITE_NOVMA
	return pmd_mkwrite_novma(pmd);
#else
	return pmd_mkwrite(pmd);
#endif
}

/**
 * hmk_folio_mapped_once() - is this its only mapping, and counted reliably?
 * @folio: referenced by the caller.
 * @whole: the mapping we know of covers the whole folio (a PMD).
 *
 * A large folio mapped by single entries is never "once": before 6.10 its
 * mappings cannot be counted from a module.
 *
 * Return: true when no other page-table entry maps any part of @folio.
 */
static inline bool hmk_folio_mapped_once(struct folio *folio, bool whole)
{
	if (!folio_test_large(folio))
		return atomic_read(&folio->_mapcount) == 0;
	if (!whole)
		return false;
#ifdef HMK_HAVE_FOLIO_LARGE_MAPCOUNT
	return folio_large_mapcount(folio) == 1;
#else
	return folio_entire_mapcount(folio) == 1 && !PageDoubleMap(&folio->page);
#endif
}

/* Migration entries remember whether what they stand for could be written. */
static inline bool hmk_pte_left_read_only(pte_t pte)
{
#ifdef HMK_HAVE_SOFTLEAF
	softleaf_t leaf = softleaf_from_pte(pte);

	return softleaf_is_migration(leaf) && !softleaf_is_migration_write(leaf);
#else
	return is_swap_pte(pte) && is_migration_entry(pte_to_swp_entry(pte)) &&
	       !is_writable_migration_entry(pte_to_swp_entry(pte));
#endif
}

static inline bool hmk_pmd_left_read_only(pmd_t pmd)
{
#ifdef HMK_HAVE_SOFTLEAF
	softleaf_t leaf = softleaf_from_pmd(pmd);

	return softleaf_is_migration(leaf) && !softleaf_is_migration_write(leaf);
#else
	return is_pmd_migration_entry(pmd) && !is_writable_migration_entry(pmd_to_swp_entry(pmd));
#endif
}

/*
 * Series from here on have not been through the torture: docs/torture.md, rows "newest",
 * last on 7.2.
 */
#define HMK_TESTED_BEFORE	KERNEL_VERSION(7, 3, 0)

/* Whether this kernel is older than KERNEL_VERSION(). */
static inline bool hmk_kernel_is_before(u32 version)
{
	return LINUX_VERSION_CODE < version;
}

/* Is some of it known to be bad memory? The flag of a large folio lies in its second page. */
static inline bool hmk_folio_poisoned(struct folio *folio)
{
	return folio_test_hwpoison(folio) ||
	       (folio_test_large(folio) && folio_test_has_hwpoisoned(folio));
}

/* References beside those of mappings: the page cache's or swap cache's, private data's. */
static inline int hmk_folio_cache_refs(struct folio *folio)
{
	return folio_mapping(folio) ? folio_nr_pages(folio) + folio_test_private(folio) : 0;
}

/**
 * hmk_folio_partly_mapped() - has some of a large folio been unmapped for good?
 * @folio: referenced by the caller.
 *
 * Such a folio waits on a list to be split. From 6.12 on every new huge page is on
 * that list, and a flag says which of them is.
 *
 * Return: true when it has, as far as the kernel has noted.
 */
static inline bool hmk_folio_partly_mapped(struct folio *folio)
{
	if (!folio_test_large(folio) || !folio_test_anon(folio))
		return false;
#ifdef HMK_HAVE_FOLIO_TEST_PARTIALLY_MAPPED
	return folio_test_partially_mapped(folio);
#else
	return !list_empty(page_deferred_list(&folio->page));
#endif
}

/**
 * hmk_folio_lost_part() - is some of a large folio mapped, and some of it nowhere?
 * @folio: locked; its mappings are back.
 *
 * What is unmapped while migration entries stand for it had no mapping to take away, so
 * the kernel notes nothing.
 *
 * Return: true when some of it is mapped nowhere.
 */
static inline bool hmk_folio_lost_part(struct folio *folio)
{
	long mapped = 0;

	if (!folio_test_large(folio) || !folio_test_anon(folio) || folio_entire_mapcount(folio))
		return false;
#ifdef HMK_HAVE_FOLIO_LARGE_MAPCOUNT
	mapped = folio_large_mapcount(folio);
#else
	for (long i = 0; i < folio_nr_pages(folio); i++)
		mapped += atomic_read(&folio_page(folio, i)->_mapcount) >= 0;
#endif
	return mapped && mapped < folio_nr_pages(folio);
}

/**
 * hmk_folio_shared() - is it mapped by somebody else as well?
 * @folio: referenced by the caller.
 * @page:  the page of @folio that our entry maps.
 *
 * As move_pages(2) judges it: by the page for single entries, by the whole for
 * a PMD. A child after fork() counts as somebody else.
 *
 * Return: true when more than one mapping is found.
 */
static inline bool hmk_folio_shared(struct folio *folio, struct page *page)
{
	if (!folio_test_large(folio))
		return atomic_read(&folio->_mapcount) > 0;
	return folio_entire_mapcount(folio) + atomic_read(&page->_mapcount) + 1 > 1;
}

#endif

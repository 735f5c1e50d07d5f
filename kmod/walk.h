/* SPDX-License-Identifier: GPL-2.0-only */
/* Page-table leaves, found and locked without the kernel's unexported walker. */
#ifndef HMK_WALK_H
#define HMK_WALK_H

#include <linux/hmk.h>
#include <linux/mm.h>
#include <linux/page_idle.h>

/* One present leaf entry, its page-table lock held. */
struct hmk_leaf {
	unsigned long addr;	/* first address it maps */
	unsigned int shift;	/* PAGE_SHIFT or PMD_SHIFT */
	union {
		pte_t *pte;
		pmd_t *pmd;
		unsigned long *bits;	/* the accessed and dirty bits sit alike in both */
	};
	spinlock_t *ptl;
	struct page *page;	/* NULL: zero page, special or device memory */
};

/**
 * hmk_leaf_lock() - find the leaf that maps one address.
 * @mm:   mmap lock held for reading.
 * @addr: user address inside a VMA that is neither hugetlb nor PFN-mapped.
 * @leaf: filled in.
 *
 * Return: true with the page-table lock held, end with hmk_leaf_unlock();
 * false when nothing present maps @addr.
 */
bool hmk_leaf_lock(struct mm_struct *mm, unsigned long addr, struct hmk_leaf *leaf);
void hmk_leaf_unlock(struct hmk_leaf *leaf);

/**
 * hmk_table_lock() - find and lock the table of 512 entries that maps one address.
 * @mm:   mmap lock held for reading.
 * @addr: user address inside a VMA that takes part.
 * @ptlp: receives its lock, for hmk_table_unlock().
 *
 * Return: the entry of @addr, or NULL where there is no such table.
 */
pte_t *hmk_table_lock(struct mm_struct *mm, unsigned long addr, spinlock_t **ptlp);
void hmk_table_unlock(spinlock_t *ptl);

/*
 * The page that an entry maps; NULL without one, or when it is nobody's: as hmk_leaf.page. An
 * entry that is not special has one, as vm_normal_page() takes it.
 */
static inline struct page *hmk_pte_page(pte_t pte)
{
	unsigned long pfn = pte_pfn(pte);

	return pte_present(pte) && !pte_special(pte) && !is_zero_pfn(pfn) ? pfn_to_page(pfn) : NULL;
}

typedef void (*hmk_leaf_fn)(const struct hmk_leaf *leaf, void *arg);

/**
 * hmk_walk_leaves() - call @fn for each present leaf that starts in or covers a range.
 * @mm:    mmap lock held for reading.
 * @start: page aligned, inside one VMA.
 * @end:   page aligned, inside the same VMA.
 * @fn:    runs under the page-table lock: must not sleep.
 * @arg:   handed to @fn.
 */
void hmk_walk_leaves(struct mm_struct *mm, unsigned long start, unsigned long end,
		     hmk_leaf_fn fn, void *arg);

/**
 * hmk_is_table() - is this address mapped by a table of 512 entries?
 * @mm:   mmap lock held for reading.
 * @addr: user address.
 *
 * Return: false where nothing is mapped, where a huge page is, or was until
 * somebody began to move it. Anonymous memory keeps a table it has until the
 * mmap lock is given back.
 */
bool hmk_is_table(struct mm_struct *mm, unsigned long addr);

/**
 * hmk_left_read_only() - was what is on its way read-only when it was unmapped?
 * @mm:   mmap lock held for reading.
 * @addr: where it was mapped.
 *
 * Return: true for a migration entry made of an entry without the write bit.
 */
bool hmk_left_read_only(struct mm_struct *mm, unsigned long addr);

/**
 * hmk_next_entry() - first address at or after @addr with, or without, a page table or huge page.
 * @mm:        mmap lock held for reading.
 * @addr:      where to start.
 * @end:       where to give up.
 * @populated: what to look for.
 * @left:      entries it may look at, counted down.
 *
 * Skips empty upper levels at a stride, so a sparse mapping of terabytes costs
 * one look per empty table; within a table it reads one entry after the other.
 *
 * Return: an address whose PMD entry is so, rounded down to no less than @addr;
 * @end when there is none; how far it came when @left is 0.
 */
unsigned long hmk_next_entry(struct mm_struct *mm, unsigned long addr, unsigned long end,
			     bool populated, u32 *left);

/**
 * hmk_node_of() - the node of a page as regions, samples and tables have it.
 * @page: a page that is present.
 *
 * The one place where a node number comes in: what a later array is indexed with lies
 * below HMK_MAX_NODES, whatever the kernel was configured for.
 *
 * Return: below HMK_MAX_NODES, or NUMA_NO_NODE for a node beyond.
 */
static inline int hmk_node_of(const struct page *page)
{
	int node = page_to_nid(page);

	return node < HMK_MAX_NODES ? node : NUMA_NO_NODE;
}

/**
 * hmk_clear_young() - clear the accessed bit, which the kernel goes on to know.
 * @bits: of the entry, its lock held.
 * @page: what it maps.
 *
 * Return: whether it was accessed.
 */
static inline bool hmk_clear_young(unsigned long *bits, struct page *page)
{
	if (!test_bit(_PAGE_BIT_ACCESSED, bits) || !test_and_clear_bit(_PAGE_BIT_ACCESSED, bits))
		return false;
	folio_set_young(page_folio(page));
	return true;
}

/**
 * hmk_page_counts() - is this a page of the region's kind?
 * @page: what an entry maps, its lock held; NULL where it is nobody's.
 * @kind: HMK_KIND_*
 *
 * A private file mapping has pages of the file, which do not move, beside those that
 * were written and are anonymous since.
 *
 * Return: true when it is watched and counted.
 */
static inline bool hmk_page_counts(struct page *page, u8 kind)
{
	return page && (kind != HMK_KIND_ANON || PageAnon(page));
}

static inline bool hmk_leaf_counts(const struct hmk_leaf *leaf, u8 kind)
{
	return hmk_page_counts(leaf->page, kind);
}

/**
 * hmk_vma_takes_part() - may this VMA be profiled and moved at all?
 * @vma: mmap lock held.
 *
 * Return: false for hugetlb, PFN-mapped, mixed and I/O mappings.
 */
static inline bool hmk_vma_takes_part(const struct vm_area_struct *vma)
{
	return !(vma->vm_flags & (VM_HUGETLB | VM_PFNMAP | VM_MIXEDMAP | VM_IO));
}

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include "compat/mm.h"
#include "walk.h"

/*
 * Entries change while we look, locked or not: the CPU sets bits of any level. So each is
 * read once, and what lies below is found by what was read.
 *
 * Return: the entry of the third level; NULL without one, and then *@next is where the hole ends.
 * Inline, for the scan of each sample comes by and has no use for @next.
 */
static __always_inline pmd_t *pmd_or_hole(struct mm_struct *mm, unsigned long addr,
					  unsigned long end, unsigned long *next)
{
	pgd_t pgd = READ_ONCE(*pgd_offset(mm, addr));
	p4d_t p4d;
	pud_t pud;

	*next = pgd_addr_end(addr, end);
	if (pgd_none(pgd) || pgd_bad(pgd))
		return NULL;
	p4d = READ_ONCE(*p4d_offset(&pgd, addr));
	*next = p4d_addr_end(addr, end);
	if (p4d_none(p4d) || p4d_bad(p4d))
		return NULL;
	pud = READ_ONCE(*pud_offset(&p4d, addr));
	*next = pud_addr_end(addr, end);
	if (pud_none(pud) || pud_bad(pud))
		return NULL;	/* a 1 GiB leaf is "bad" as a table */
	return pmd_offset(&pud, addr);
}

static pmd_t *pmd_of(struct mm_struct *mm, unsigned long addr)
{
	unsigned long unused;

	return pmd_or_hole(mm, addr, addr + PAGE_SIZE, &unused);
}

static bool is_table(pmd_t seen)
{
	return pmd_present(seen) && !pmd_trans_huge(seen) && !pmd_bad(seen);
}

bool hmk_is_table(struct mm_struct *mm, unsigned long addr)
{
	pmd_t *pmd = pmd_of(mm, addr);

	return pmd && is_table(READ_ONCE(*pmd));
}

/* What is mapped belongs to a file or an anon_vma; only the huge zero page belongs to nobody. */
static struct page *huge_page_of(unsigned long pfn)
{
	struct page *page = pfn_valid(pfn) ? pfn_to_page(pfn) : NULL;

	return page && page_folio(page)->mapping ? page : NULL;
}

static bool pmd_leaf_lock(struct mm_struct *mm, pmd_t *pmd, unsigned long addr,
			  struct hmk_leaf *leaf)
{
	spinlock_t *ptl = pmd_lock(mm, pmd);
	pmd_t seen = READ_ONCE(*pmd);

	if (!pmd_present(seen) || !pmd_trans_huge(seen)) {
		spin_unlock(ptl);
		return false;
	}
	leaf->addr = addr & PMD_MASK;
	leaf->shift = PMD_SHIFT;
	leaf->pmd = pmd;
	leaf->ptl = ptl;
	leaf->page = huge_page_of(pmd_pfn(seen));
	__release(ptl);	/* the caller's now: sparse knows no lock that is taken or not */
	return true;
}

/*
 * Map and lock a table of 512 entries. RCU keeps the table's page while we look:
 * tables of file mappings are freed without the mmap lock (6.5 and later), and
 * so are emptied ones on newer kernels. Returns NULL when it has gone, without
 * RCU; otherwise both the lock and RCU are held.
 */
static pte_t *table_lock(struct mm_struct *mm, pmd_t *pmd, unsigned long addr,
			 spinlock_t **ptlp)
{
	pmd_t seen;
	pte_t *pte;

	rcu_read_lock();
	seen = READ_ONCE(*pmd);
	if (!is_table(seen))
		goto gone;
	pte = pte_offset_kernel(&seen, addr);
	*ptlp = pte_lockptr(mm, &seen);
	spin_lock(*ptlp);
	if (pmd_same(seen, READ_ONCE(*pmd))) {
		__release(*ptlp);	/* as above */
		__release(RCU);
		return pte;
	}
	spin_unlock(*ptlp);
gone:
	rcu_read_unlock();
	return NULL;
}

void hmk_table_unlock(spinlock_t *ptl)
{
	__acquire(RCU);
	__acquire(ptl);
	spin_unlock(ptl);
	rcu_read_unlock();
}

pte_t *hmk_table_lock(struct mm_struct *mm, unsigned long addr, spinlock_t **ptlp)
{
	pmd_t *pmd = pmd_of(mm, addr);

	return pmd ? table_lock(mm, pmd, addr, ptlp) : NULL;
}

static bool pte_leaf(pte_t *pte, unsigned long addr, spinlock_t *ptl, struct hmk_leaf *leaf)
{
	pte_t seen = READ_ONCE(*pte);

	if (!pte_present(seen))
		return false;
	leaf->addr = addr & PAGE_MASK;
	leaf->shift = PAGE_SHIFT;
	leaf->pte = pte;
	leaf->ptl = ptl;
	leaf->page = hmk_pte_page(seen);
	return true;
}

bool hmk_leaf_lock(struct mm_struct *mm, unsigned long addr, struct hmk_leaf *leaf)
{
	pmd_t *pmd = pmd_of(mm, addr);
	spinlock_t *ptl;
	pte_t *pte;

	if (!pmd)
		return false;
	if (pmd_trans_huge(READ_ONCE(*pmd)))
		return pmd_leaf_lock(mm, pmd, addr, leaf);
	pte = table_lock(mm, pmd, addr, &ptl);
	if (!pte)
		return false;
	if (pte_leaf(pte, addr, ptl, leaf))
		return true;
	hmk_table_unlock(ptl);
	return false;
}

bool hmk_left_read_only(struct mm_struct *mm, unsigned long addr)
{
	pmd_t *pmd = pmd_of(mm, addr), seen;
	spinlock_t *ptl;
	pte_t *pte;
	bool left;

	if (!pmd)
		return false;
	seen = READ_ONCE(*pmd);
	if (!is_table(seen))
		return hmk_pmd_left_read_only(seen);
	pte = table_lock(mm, pmd, addr, &ptl);
	if (!pte)
		return false;
	left = hmk_pte_left_read_only(READ_ONCE(*pte));
	hmk_table_unlock(ptl);
	return left;
}

static void huge_unlock(spinlock_t *ptl)
{
	__acquire(ptl);
	spin_unlock(ptl);
}

void hmk_leaf_unlock(struct hmk_leaf *leaf)
{
	if (leaf->shift == PAGE_SHIFT)
		hmk_table_unlock(leaf->ptl);
	else
		huge_unlock(leaf->ptl);
}

static void walk_table(struct mm_struct *mm, pmd_t *pmd, unsigned long addr,
		       unsigned long end, hmk_leaf_fn fn, void *arg)
{
	struct hmk_leaf leaf;
	spinlock_t *ptl;
	pte_t *pte;

	pte = table_lock(mm, pmd, addr, &ptl);
	if (!pte)
		return;
	for (; addr < end; addr += PAGE_SIZE, pte++) {
		if (pte_leaf(pte, addr, ptl, &leaf))
			fn(&leaf, arg);
	}
	hmk_table_unlock(ptl);
}

void hmk_walk_leaves(struct mm_struct *mm, unsigned long start, unsigned long end,
		     hmk_leaf_fn fn, void *arg)
{
	unsigned long addr, next;

	for (addr = start; addr < end; addr = next) {
		pmd_t *pmd = pmd_of(mm, addr);
		struct hmk_leaf leaf;

		next = pmd_addr_end(addr, end);
		if (!pmd)
			continue;
		if (pmd_trans_huge(READ_ONCE(*pmd)) && pmd_leaf_lock(mm, pmd, addr, &leaf)) {
			fn(&leaf, arg);
			hmk_leaf_unlock(&leaf);
			continue;
		}
		walk_table(mm, pmd, addr, next, fn, arg);
	}
}

static unsigned long next_in_table(pmd_t *pmd, unsigned long addr, unsigned long end,
				   bool populated, u32 *left)
{
	for (; addr < end && *left; addr = pmd_addr_end(addr, end), pmd++, --*left) {
		if (pmd_none(READ_ONCE(*pmd)) != populated)
			break;
	}
	return addr;
}

unsigned long hmk_next_entry(struct mm_struct *mm, unsigned long addr, unsigned long end,
			     bool populated, u32 *left)
{
	while (addr < end && *left) {
		unsigned long next;
		pmd_t *pmd = pmd_or_hole(mm, addr, end, &next);

		if (pmd) {
			addr = next_in_table(pmd, addr, next, populated, left);
		} else {
			--*left;
			if (populated)
				addr = next;
		}
		if (addr < next)
			break;
	}
	return addr;
}

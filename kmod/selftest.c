// SPDX-License-Identifier: GPL-2.0-only
/* Tried on a few pages of our own before any program's memory is touched. */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mmap_lock.h>
#include <linux/nodemask.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat/mm.h"
#include "compat/stream.h"
#include "compat/symbols.h"
#include "move.h"
#include "selftest.h"

#define BASE_PAGES	4u
#define HUGE_PAGES	(PMD_SIZE / PAGE_SIZE)

/* Later series are not trusted unseen. */
static unsigned int hmk_tested_before = HMK_TESTED_BEFORE;
#if IS_ENABLED(HMK_TEST_SWITCHES)
module_param_named(tested_before, hmk_tested_before, uint, 0444);
#endif

/* Memory of whoever loads the module. */
struct area {
	const char *untried;	/* why the own path is off where none of it could be moved */
	u32 pages;
	u32 flags;		/* HMK_MOVE_* */
	unsigned long addr;
	u64 moved;		/* in all, by the own path */
};

/* A guard page follows what vmalloc() returns. */
static const char *selftest_copy(void)
{
	char *page = vmalloc(PAGE_SIZE), *to = (char *)__get_free_page(GFP_KERNEL);
	const char *wrong = NULL;

	if (page && to) {
		memset(page, 0xa5, PAGE_SIZE);
		if (hmk_stream_copy(to, page) || memcmp(to, page, PAGE_SIZE))
			wrong = "a page was not copied";
		else if (!hmk_stream_copy(to, page + PAGE_SIZE))
			wrong = "a copy from unreadable memory did not fail";
	}
	free_page((unsigned long)to);
	vfree(page);
	return wrong;
}

/* Return: what was wrong; @a->pages is 0 when it is not the page that was wanted. */
static const char *selftest_isolate(struct area *a)
{
	const char *wrong = NULL;
	struct folio *folio;
	struct page *page;

	if (get_user_pages_fast(a->addr, 1, FOLL_WRITE, &page) != 1)
		return NULL;	/* nothing was tried */
	folio = page_folio(page);
	if (a->pages == HUGE_PAGES && folio_nr_pages(folio) != HUGE_PAGES)
		a->pages = 0;	/* small ones instead */
	if (hmk_has(HMK_FEAT_LRU_DRAIN))
		hmk_call(lru_add_drain_all)();
	if (!a->pages || !folio_test_lru(folio)) {
		folio_put(folio);	/* somebody else has it, or nothing empties batches */
		return NULL;
	}
	if (!hmk_isolated(hmk_call(folio_isolate_lru)(folio)))
		wrong = "folio_isolate_lru() refused a page";
	else if (folio_test_lru(folio))
		wrong = "folio_isolate_lru() isolated nothing";
	else
		hmk_call(folio_putback_lru)(folio);
	folio_put(folio);
	return wrong;
}

static int selftest_stop(const struct hmk_run *run)
{
	return 0;
}

static void selftest_moved(struct hmk_run *run, u32 i)
{
}

static const char *selftest_contents(const struct area *a, const char *right, char *found)
{
	u32 i;

	for (i = 0; i < a->pages; i++) {
		if (copy_from_user(found, (void __user *)(a->addr + i * PAGE_SIZE), PAGE_SIZE) ||
		    memcmp(found, right, PAGE_SIZE))
			return "a moved page had other contents";
	}
	return NULL;
}

/* To each node there is. */
static const char *selftest_move(struct area *a, const char *right, char *found)
{
	struct hmk_range range = { .start = a->addr, .length = a->pages * PAGE_SIZE };
	const char *wrong = NULL;

	for_each_node_state(range.node, N_MEMORY) {
		struct hmk_range_result result = { 0 };
		struct hmk_run run = {
			.mm = current->mm, .ranges = &range, .results = &result, .nr_ranges = 1,
			.flags = a->flags, .stop = selftest_stop, .moved = selftest_moved,
		};
		u64 there;

		if (!node_isset(range.node, current->mems_allowed) || hmk_move_ranges(&run))
			continue;
		there = result.pages_clean + result.pages_recopied + result.pages_sync;
		a->moved += there;
		if (there + result.pages_already + result.refused[HMK_REFUSED_BUSY] +
		    result.refused[HMK_REFUSED_PINNED] + result.refused[HMK_REFUSED_NO_ROOM] !=
		    a->pages)
			return "a move lost count of its pages";
		wrong = selftest_contents(a, right, found);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static bool selftest_fill(const struct area *a, const char *right)
{
	u32 i;

	for (i = 0; i < a->pages; i++) {
		if (copy_to_user((void __user *)(a->addr + i * PAGE_SIZE), right, PAGE_SIZE))
			return false;
	}
	return true;
}

/* So that the first write makes it one huge page. */
static void selftest_want_huge(unsigned long addr)
{
	struct vm_area_struct *vma;

	mmap_write_lock(current->mm);
	vma = find_vma(current->mm, addr);
	if (vma && vma->vm_start <= addr)
		hmk_vm_flags_mod(vma, VM_HUGEPAGE, VM_NOHUGEPAGE);
	mmap_write_unlock(current->mm);
}

static const char *selftest_area(struct area *a, const char *right, char *found)
{
	bool huge = a->pages == HUGE_PAGES;
	unsigned long bytes = a->pages * PAGE_SIZE * (1 + huge), at;
	const char *wrong = NULL;

	at = vm_mmap(NULL, 0, bytes, PROT_READ | PROT_WRITE,
		     MAP_ANONYMOUS | (a->flags & HMK_MOVE_SHARED ? MAP_SHARED : MAP_PRIVATE), 0);
	if (IS_ERR_VALUE(at))
		return NULL;
	a->addr = huge ? ALIGN(at, PMD_SIZE) : at;
	if (huge)
		selftest_want_huge(at);
	if (!selftest_fill(a, right))
		a->pages = 0;
	else
		wrong = selftest_isolate(a);
	if (a->pages && !wrong)
		wrong = selftest_move(a, right, found);
	vm_munmap(at, bytes);
	return wrong;
}

static const char *selftest_areas(const char *right, char *found)
{
	struct area area[] = {
		{ .untried = "untested kernel, and no private page could be moved",
		  .pages = BASE_PAGES },
		{ .untried = "untested kernel, and no shared page could be moved",
		  .pages = BASE_PAGES, .flags = HMK_MOVE_SHARED },
		{ .untried = "untested kernel, and no huge page could be moved",
		  .pages = HUGE_PAGES },
	};
	const char *wrong = NULL;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(area) && !wrong; i++) {
		wrong = selftest_area(&area[i], right, found);
		if (!wrong && !area[i].moved && !hmk_kernel_is_before(hmk_tested_before))
			wrong = area[i].untried;
	}
	return wrong;
}

const char *hmk_selftest(void)
{
	const char *wrong = selftest_copy();
	char *right, *found;
	u32 i;

	if (wrong || !hmk_has(HMK_FEAT_MOVE_OWN))
		return wrong;
	right = kmalloc(PAGE_SIZE, GFP_KERNEL);
	found = kmalloc(PAGE_SIZE, GFP_KERNEL);
	if (!right || !found || !current->mm) {
		wrong = "there was no memory to try it on";
	} else {
		for (i = 0; i < PAGE_SIZE; i++)
			right[i] = i * 31 + i / 256;
		wrong = selftest_areas(right, found);
	}
	kfree(found);
	kfree(right);
	return wrong;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Tried on a few pages of our own before any program's memory is touched. */
#include <linux/mm.h>
#include <linux/mman.h>
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

#define SELFTEST_PAGES	4u

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

static const char *selftest_isolate(unsigned long addr)
{
	const char *wrong = NULL;
	struct folio *folio;
	struct page *page;

	if (get_user_pages_fast(addr, 1, FOLL_WRITE, &page) != 1)
		return NULL;	/* nothing was tried */
	folio = page_folio(page);
	if (hmk_has(HMK_FEAT_LRU_DRAIN))
		hmk_call(lru_add_drain_all)();
	if (!folio_test_lru(folio)) {
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

static const char *selftest_contents(unsigned long addr, const char *right)
{
	char *found = kmalloc(PAGE_SIZE, GFP_KERNEL);
	const char *wrong = NULL;
	u32 i;

	for (i = 0; found && i < SELFTEST_PAGES && !wrong; i++) {
		if (copy_from_user(found, (void __user *)(addr + i * PAGE_SIZE), PAGE_SIZE) ||
		    memcmp(found, right, PAGE_SIZE))
			wrong = "a moved page had other contents";
	}
	kfree(found);
	return wrong;
}

static const char *selftest_move(unsigned long addr, const char *right)
{
	struct hmk_range range = { .start = addr, .length = SELFTEST_PAGES * PAGE_SIZE };
	const char *wrong = NULL;

	for_each_node_state(range.node, N_MEMORY) {
		struct hmk_range_result result = { 0 };
		struct hmk_run run = {
			.mm = current->mm, .ranges = &range, .results = &result, .nr_ranges = 1,
			.stop = selftest_stop, .moved = selftest_moved,
		};
		u64 there;

		if (!node_isset(range.node, current->mems_allowed) || hmk_move_ranges(&run))
			continue;
		there = result.pages_clean + result.pages_recopied + result.pages_sync +
			result.pages_already;
		if (there + result.refused[HMK_REFUSED_BUSY] + result.refused[HMK_REFUSED_PINNED] +
		    result.refused[HMK_REFUSED_NO_ROOM] != SELFTEST_PAGES)
			wrong = "a move lost count of its pages";
		wrong = wrong ?: selftest_contents(addr, right);
		if (wrong)
			break;
	}
	return wrong;
}

const char *hmk_selftest(void)
{
	const char *wrong = selftest_copy();
	unsigned long addr;
	char *right;
	u32 i;

	if (wrong || !current->mm || !hmk_has(HMK_FEAT_MOVE_OWN))
		return wrong;
	addr = vm_mmap(NULL, 0, SELFTEST_PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (IS_ERR_VALUE(addr))
		return NULL;
	right = kmalloc(PAGE_SIZE, GFP_KERNEL);
	for (i = 0; right && i < PAGE_SIZE; i++)
		right[i] = i * 31 + i / 256;
	for (i = 0; right && i < SELFTEST_PAGES; i++) {
		if (copy_to_user((void __user *)(addr + i * PAGE_SIZE), right, PAGE_SIZE))
			goto out;
	}
	if (right)
		wrong = selftest_isolate(addr);
	if (right && !wrong)
		wrong = selftest_move(addr, right);
out:
	kfree(right);
	vm_munmap(addr, SELFTEST_PAGES * PAGE_SIZE);
	return wrong;
}

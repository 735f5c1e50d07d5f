// SPDX-License-Identifier: GPL-2.0-only
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "compat/mm.h"
#include "compat/stream.h"
#include "copy.h"

#define COPY_STEP	16u	/* records a thread takes at a time */
#define USUAL_THREADS	4u	/* where nobody says how many */
#define GIVE_BACK_EVERY	32u	/* pages: half of what a list draws at least */

struct workqueue_struct *hmk_ticket_wq;
static struct workqueue_struct *hmk_copy_wq;

int hmk_copy_init(void)
{
	hmk_ticket_wq = alloc_workqueue("hmk_move", WQ_UNBOUND, 0);
	if (!hmk_ticket_wq)
		return -ENOMEM;
	hmk_copy_wq = alloc_workqueue("hmk_copy", WQ_UNBOUND, 0);
	if (!hmk_copy_wq) {
		destroy_workqueue(hmk_ticket_wq);
		return -ENOMEM;
	}
	return 0;
}

void hmk_copy_exit(void)
{
	destroy_workqueue(hmk_copy_wq);
	destroy_workqueue(hmk_ticket_wq);
}

void hmk_queue_near(struct workqueue_struct *wq, struct work_struct *work, int target, int source)
{
	int node = target;

	if (node < 0 || !node_state(node, N_CPU))
		node = source;
	queue_work_node(node, wq, work);
}

struct folio *hmk_folio_alloc(struct folio *src, int node)
{
	unsigned int order = folio_order(src);
	struct page *page;
	gfp_t gfp;

	if (order) {
		gfp = (GFP_TRANSHUGE_LIGHT | __GFP_THISNODE | __GFP_NOWARN) & ~__GFP_RECLAIM;
		return __folio_alloc_node(gfp, order, node);
	}
	gfp = (GFP_HIGHUSER_MOVABLE | __GFP_THISNODE | __GFP_NOMEMALLOC |
	       __GFP_NORETRY | __GFP_NOWARN) & ~__GFP_RECLAIM;
	page = alloc_pages_node(node, gfp, 0);
	return page ? page_folio(page) : NULL;
}

/* Return: 0 or -EHWPOISON, and then @dst is worth nothing. */
static int copy_page_of(struct page *dst, struct page *src, bool past_cache)
{
	char *to = kmap_local_page(dst), *from = kmap_local_page(src);
	bool failed = past_cache ? hmk_stream_copy(to, from) :
				   copy_mc_to_kernel(to, from, PAGE_SIZE);

	kunmap_local(from);
	kunmap_local(to);
	return failed ? -EHWPOISON : 0;
}

/* As mm/ does it: whoever maps the page learns of it now, not at the next access. */
static int copy_failed(struct page *src)
{
	if (IS_ENABLED(CONFIG_MEMORY_FAILURE))
		memory_failure_queue(page_to_pfn(src), 0);
	return -EHWPOISON;
}

int hmk_folio_copy(struct folio *dst, struct folio *src, u32 flags, bool may_yield)
{
	long i, nr = folio_nr_pages(src);

	if (hmk_folio_poisoned(src))
		return -EHWPOISON;
	if (IS_ENABLED(HMK_TEST_SWITCHES) && flags & HMK_MOVE_TEST_POISON && folio_pfn(src) & 512)
		return -EHWPOISON;
	for (i = 0; i < nr; i++) {
		if (copy_page_of(folio_page(dst, i), folio_page(src, i), nr > 1))
			return copy_failed(folio_page(src, i));
		if (may_yield && nr > 1)	/* between base pages the caller does */
			cond_resched();
	}
	if (nr > 1)
		wmb();	/* no lock orders stores past the cache: they come before the mapping */
	return 0;
}

struct copy_job {
	struct hmk_chunk *chunk;
	atomic_t next;
};

struct copy_helper {
	struct work_struct work;
	struct copy_job *job;
};

static void copy_some(struct copy_job *job)
{
	struct hmk_chunk *c = job->chunk;
	u32 from, i;

	while ((from = atomic_fetch_add(COPY_STEP, &job->next)) < c->nr) {
		for (i = from; i < min(from + COPY_STEP, c->nr); i++) {
			struct hmk_page *pg = &c->page[i];

			/* The commit tries once more, and says why. */
			if (pg->precopy && pg->dst &&
			    hmk_folio_copy(pg->dst, pg->src, c->flags, true))
				pg->precopy = false;
		}
		cond_resched();
	}
}

static void copy_helper(struct work_struct *work)
{
	copy_some(container_of(work, struct copy_helper, work)->job);
}

/* Beside the caller. A chunk of one huge page is one record: it is not worth a helper. */
static u32 helpers_for(const struct hmk_chunk *c)
{
	u32 threads = c->copy_threads ? c->copy_threads : USUAL_THREADS;

	return min3(c->nr / (2 * COPY_STEP), num_online_cpus() - 1, threads - 1);
}

static void copy_in_parallel(struct hmk_chunk *c, int source)
{
	struct copy_job job = { .chunk = c, .next = ATOMIC_INIT(0) };
	struct copy_helper helper[HMK_MAX_COPY_THREADS - 1];
	u32 i, nr = helpers_for(c);

	for (i = 0; i < nr; i++) {
		INIT_WORK_ONSTACK(&helper[i].work, copy_helper);
		helper[i].job = &job;
		hmk_queue_near(hmk_copy_wq, &helper[i].work, c->node, source);
	}
	copy_some(&job);
	for (i = 0; i < nr; i++) {
		/* All is copied: one that has not begun need not. */
		cancel_work_sync(&helper[i].work);
		destroy_work_on_stack(&helper[i].work);
	}
}

/*
 * How many pages the node can give and still be above the low watermark of all its zones, and
 * what a zone keeps for others (lowmem_reserve) beyond that.
 * Below it the next allocation of anybody wakes kswapd, for what only we have asked
 * for. hmkd plans for the high one: what lies between is for moves that cross.
 * What lies in a CPU's list is not counted: of which kind and size is not told. It is taken
 * from first, though, and then what is free is no less for the next chunk.
 */
static unsigned long room_on(int node)
{
	struct zone *zone = NODE_DATA(node)->node_zones, *end = zone + MAX_NR_ZONES;
	unsigned long room = 0;

	for (; zone < end; zone++) {
		unsigned long free, kept;

		if (!populated_zone(zone))
			continue;
		free = zone_page_state(zone, NR_FREE_PAGES);
		kept = low_wmark_pages(zone) + zone->lowmem_reserve[ZONE_MOVABLE];
		room += free > kept ? free - kept : 0;
	}
	return room;
}

/*
 * From 6.7 on the list of a CPU draws twice as many pages each time it is empty, up to 2,016,
 * and half as many for each that is given back meanwhile (nr_pcp_alloc()). A chunk of 512
 * would take a node 8 MiB below its watermark that way, so now and then one is.
 */
static struct folio *alloc_calmly(struct folio *src, int node, u32 i)
{
	struct folio *dst = hmk_folio_alloc(src, node);

	if (!dst || i % GIVE_BACK_EVERY || folio_test_large(src))
		return dst;
	folio_put(dst);
	return hmk_folio_alloc(src, node);
}

void hmk_copy_ahead(struct hmk_chunk *c)
{
	int source = folio_nid(c->page[0].src);
	unsigned long room = room_on(c->node);
	bool any = false;
	u32 i;

	for (i = 0; i < c->nr; i++) {
		struct hmk_page *pg = &c->page[i];
		unsigned long nr = folio_nr_pages(pg->src);

		pg->dst = nr <= room ? alloc_calmly(pg->src, c->node, i) : NULL;
		if (!pg->dst) {
			hmk_drop(c, pg, HMK_REFUSED_NO_ROOM, -ENOMEM);
			continue;
		}
		room -= nr;
		any |= pg->precopy;
	}
	if (any)
		copy_in_parallel(c, source);
}

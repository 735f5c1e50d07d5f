/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * move_memory_regions(): pre-copy while the application runs, then commit page
 * by page or batch by batch (HK-44 .. HK-55).
 *
 *   range -> chunks of at most 512 pages, each:
 *     collect   write-protect the entries, take the pages     mmap lock, no waiting
 *     copy      allocate and pre-copy in helper threads       no lock, application runs
 *     commit    unmap, copy again what was written, map       mmap lock, stall of a batch
 */
#ifndef HMK_MOVE_H
#define HMK_MOVE_H

#include <linux/mm.h>
#include <linux/hmk.h>

#define HMK_CHUNK_PAGES	512u		/* most records of a chunk */

/* One folio on its way. */
struct hmk_page {
	struct folio *src;	/* referenced by us until its commit */
	struct folio *dst;	/* NULL until allocated and after it was used up */
	unsigned long addr;	/* where our target maps it */
	u32 status_at;		/* first index into the chunk's status */
	u16 nr_pages;		/* of them that lie in the chunk */
	bool writable;		/* its entry was, before we took that away */
	bool precopy;		/* clean since it was write-protected: copied ahead */
	/* Of the own path's commit: */
	bool mapped, shared;	/* where we saw it; by somebody else, too */
	bool looks_written;	/* since the pre-copy, or never copied ahead */
	bool mlocked;
	struct folio *old;	/* moved away from: freed when nobody waits any more */
};

/*
 * A request under way: one or two workers take its ranges in order. Whoever makes it
 * embeds it and knows from where it comes; the engine asks only this.
 */
struct hmk_run {
	struct mm_struct *mm;			/* held by mm_count */
	struct pid *pid;			/* whose it is: its first thread's policy counts */
	const struct hmk_range *ranges;		/* checked */
	struct hmk_range_result *results;	/* one per range, zeroed */
	u32 nr_ranges;
	u32 flags;		/* HMK_MOVE_* */
	u32 chunk_pages;	/* 0: HMK_CHUNK_PAGES */
	u32 copy_threads;	/* of all its workers together; 0: as copy.c thinks */
	/* Asked before each chunk, and again before it is committed: 0 or why it ends here. */
	int (*stop)(const struct hmk_run *run);
	/* Asked when range @i begins: 0 or why it is refused; the others go on. May be NULL. */
	int (*begin)(const struct hmk_run *run, u32 i);
	/*
	 * The classes of @nr pages from @start on, each plus one, 0 where it is not known. May be
	 * NULL where no range has flags.
	 */
	void (*classes)(const struct hmk_run *run, unsigned long start, u32 nr, u8 *class);
	/* Range @i was tried and has ended. */
	void (*moved)(struct hmk_run *run, u32 i);
	atomic_t next;		/* range to take */
	int err;		/* of whom it met first: it ends all */
};

struct hmk_chunk {
	const struct hmk_run *run;
	struct mm_struct *mm;
	unsigned long start, end;
	int node;		/* -1: only ask where the pages are */
	u8 class;		/* 0: all pages, else those of this one, as in @classes */
	int from;		/* with @class: where pages have to be */
	u32 flags;		/* HMK_MOVE_* */
	unsigned long vm_flags;	/* of the VMA, while the commit holds its lock */
	bool own;		/* commit by the own path, else by migrate_vma */
	bool may_precopy;
	bool drained;		/* the LRU batches, since a page was found in one */
	u8 copy_threads;	/* its share of the run's; 0: as copy.c thinks */
	u8 nr_sync, sync_left;	/* chunks in a row that are not copied ahead; of them to come */
	u32 nr;
	u32 nr_protected;	/* entries that lost a write or dirty bit */
	unsigned int stride;	/* shift of the smallest of them */
	u32 off_lru;		/* pages that sit in some CPU's LRU batch, or are isolated */
	u8 classes[HMK_CHUNK_PAGES];	/* of its pages, plus one */
	struct folio *whole;	/* the large one that was met last, and its class */
	u8 whole_class;
	u16 order[HMK_CHUNK_PAGES];	/* of the commit */
	struct hmk_page page[HMK_CHUNK_PAGES];
	s32 status[HMK_CHUNK_PAGES];
	struct hmk_range_result *res;
};

/* move.c */
int hmk_move_ranges(struct hmk_run *run);

/* collect.c */
void hmk_collect(struct hmk_chunk *c, struct vm_area_struct *vma);
void hmk_drop(struct hmk_chunk *c, struct hmk_page *pg, unsigned int why, int status);
void hmk_moved(struct hmk_chunk *c, struct hmk_page *pg, bool recopied);

/* move_own.c, move_vma.c: commit what was collected; both empty the records */
void hmk_commit_own(struct hmk_chunk *c);
void hmk_commit_vma(struct hmk_chunk *c);

#endif

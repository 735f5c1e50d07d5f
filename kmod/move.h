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
#define HMK_BATCH_PAGES	32u		/* unmapped together in the own path */

struct hmk_session;

/* One folio on its way. */
struct hmk_page {
	struct folio *src;	/* referenced by us until its commit */
	struct folio *dst;	/* NULL until allocated and after it was used up */
	unsigned long addr;	/* where our target maps it */
	u32 status_at;		/* first index into the chunk's status */
	u16 nr_pages;		/* of them that lie in the chunk */
	bool writable;		/* its entry was, before we took that away */
	bool precopy;		/* clean since it was write-protected: copied ahead */
};

struct hmk_chunk {
	struct hmk_session *session;
	struct mm_struct *mm;	/* users held, once by all who move for this request */
	const bool *cancel;	/* set when its ticket is to stop */
	unsigned long start, end;
	int node;		/* -1: only ask where the pages are */
	u32 flags;		/* HMK_MOVE_* */
	unsigned long vm_flags;	/* of the VMA, while the commit holds its lock */
	bool own;		/* commit by the own path, else by migrate_vma */
	bool may_precopy;
	u8 nr_sync, sync_left;	/* chunks in a row that are not copied ahead; of them to come */
	u32 nr;
	u32 nr_protected;	/* entries that lost a write or dirty bit */
	struct hmk_page page[HMK_CHUNK_PAGES];
	s32 status[HMK_CHUNK_PAGES];
	struct hmk_range_result *res;
};

/* move.c */
long hmk_move(struct hmk_session *s, void __user *arg);

/* A request under way: one or two workers take its ranges in order. */
struct hmk_run {
	struct hmk_session *session;
	const struct hmk_move *move;
	const struct hmk_range *ranges;		/* checked */
	struct hmk_range_result *results;	/* one per range, zeroed */
	const bool *cancel;	/* of the ticket; NULL: its caller waits */
	atomic_t next;		/* range to take */
	int err;		/* of whom it met first: it ends all */
};

int hmk_move_ranges(struct hmk_run *run);

/* collect.c */
void hmk_collect(struct hmk_chunk *c, struct vm_area_struct *vma);
void hmk_drop(struct hmk_chunk *c, struct hmk_page *pg, unsigned int why, int status);
void hmk_moved(struct hmk_chunk *c, struct hmk_page *pg, bool recopied);

/* move_own.c, move_vma.c: commit what was collected; both empty the records */
void hmk_commit_own(struct hmk_chunk *c);
void hmk_commit_vma(struct hmk_chunk *c);

/* ticket.c */
long hmk_ticket_queue(struct hmk_session *s, const struct hmk_move *m,
		      struct hmk_range *ranges);
long hmk_result(struct hmk_session *s, void __user *arg);
void hmk_ticket_work(struct work_struct *work);
void hmk_tickets_free(struct hmk_session *s);
bool hmk_ticket_event(struct hmk_session *s, struct hmk_event *ev);
void hmk_ticket_untold(struct hmk_session *s, u64 cookie);
bool hmk_ticket_pending(struct hmk_session *s);

#endif

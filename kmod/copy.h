/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocation of target pages and the helper threads that copy into them. */
#ifndef HMK_COPY_H
#define HMK_COPY_H

#include "move.h"

int hmk_copy_init(void);
void hmk_copy_exit(void);

/* Runs tickets; unbound, so that they do not sit on the application's CPU. */
extern struct workqueue_struct *hmk_ticket_wq;

/**
 * hmk_queue_near() - queue on a CPU of @target, else of @source, else on any.
 * @wq:     unbound.
 * @work:   to queue; nothing happens when it is queued already.
 * @target: node where the copies go; memory without CPUs is nobody's place.
 * @source: node they come from, or NUMA_NO_NODE.
 */
void hmk_queue_near(struct workqueue_struct *wq, struct work_struct *work, int target, int source);

/**
 * hmk_folio_alloc() - a target for one source.
 * @src:  decides the size.
 * @node: and no other.
 *
 * Never reclaims and never wakes the OOM killer: a move is not worth it.
 *
 * Return: an uncharged folio with one reference, or NULL.
 */
struct folio *hmk_folio_alloc(struct folio *src, int node);

/**
 * hmk_folio_copy() - copy all pages of a folio.
 * @dst:       fresh.
 * @src:       of the same size.
 * @flags:     HMK_MOVE_* of the request, for test switches.
 * @may_yield: give up the CPU between pages; not while somebody waits for @src.
 *
 * A large one goes past the cache, of which it would take much and need little.
 * Memory that cannot be read ends the copy, not the machine.
 *
 * Return: 0, or -EHWPOISON and then @dst is worth nothing.
 */
int hmk_folio_copy(struct folio *dst, struct folio *src, u32 flags, bool may_yield);

/**
 * hmk_copy_ahead() - give every record a target and pre-copy what may be.
 * @c: collected chunk, not empty; no lock held, the application runs.
 *
 * Records without a target are dropped with "no room". The copies run in
 * several helper threads (HK-49) and have ended on return.
 */
void hmk_copy_ahead(struct hmk_chunk *c);

#endif

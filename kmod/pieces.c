// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/slab.h>
#include <hmk/core/region.h>

#include "pace.h"
#include "pieces.h"
#include "session.h"

static struct kmem_cache *hmk_piece_cache;

int __init hmk_pieces_init(void)
{
	hmk_piece_cache = KMEM_CACHE(hmk_piece, 0);
	return hmk_piece_cache ? 0 : -ENOMEM;
}

void hmk_pieces_exit(void)
{
	kmem_cache_destroy(hmk_piece_cache);
}

void hmk_pieces_create(struct hmk_pieces *ps)
{
	xa_init(&ps->all);
}

static void pieces_drop(struct hmk_pieces *ps, struct hmk_piece *piece)
{
	xa_erase(&ps->all, piece->index);	/* nobody looks at it from here on */
	kmem_cache_free(hmk_piece_cache, piece);
	ps->nr--;
}

/* None is left, and nothing else: it needs no end of its own. */
void hmk_pieces_clear(struct hmk_pieces *ps)
{
	struct hmk_piece *piece;
	unsigned long index;

	xa_for_each(&ps->all, index, piece) {
		pieces_drop(ps, piece);
		hmk_pause(ps->nr);
	}
}

/* Return: of all that is kept, the array's own nodes (one for 64 pieces) included. */
u64 hmk_pieces_bytes(const struct hmk_pieces *ps)
{
	return (u64)ps->nr * (sizeof(struct hmk_piece) + sizeof(struct xa_node) / 64);
}

static struct hmk_piece *pieces_add(struct hmk_pieces *ps, unsigned long index)
{
	struct hmk_piece *piece = kmem_cache_zalloc(hmk_piece_cache, GFP_KERNEL);

	if (!piece)
		return NULL;
	piece->index = index;
	piece->asked = true;
	memset(piece->page, HMK_DENSE_ABSENT, sizeof(piece->page));
	if (xa_err(xa_store(&ps->all, index, piece, GFP_KERNEL))) {
		kmem_cache_free(hmk_piece_cache, piece);
		return NULL;
	}
	ps->nr++;
	return piece;
}

static unsigned long pieces_first(const struct hmk_span *span)
{
	return span->start >> PMD_SHIFT;
}

static unsigned long pieces_end(const struct hmk_span *span)
{
	return (span->end + PMD_SIZE - 1) >> PMD_SHIFT;
}

/* How many there would be of what is mapped; two spans may share one. */
u32 hmk_pieces_count(const struct hmk_span *spans, u32 nr)
{
	unsigned long at = 0;
	u64 pieces = 0;
	u32 i;

	for (i = 0; i < nr; hmk_pause(++i)) {
		unsigned long first = max(pieces_first(&spans[i]), at);

		at = max(pieces_end(&spans[i]), first);
		pieces += at - first;
	}
	return min_t(u64, pieces, U32_MAX);
}

/* Pieces of what is mapped, and of nothing else. Both are in the order of addresses. */
void hmk_pieces_match(struct hmk_pieces *ps, const struct hmk_span *spans, u32 nr)
{
	struct hmk_piece *piece;
	unsigned long index, n;
	u32 i = 0, at = 0;

	xa_for_each(&ps->all, index, piece) {
		while (i < nr && pieces_end(&spans[i]) <= index)
			i++;
		if (i == nr || pieces_first(&spans[i]) > index)
			pieces_drop(ps, piece);
		hmk_pause(++at);
	}
	for (i = 0; i < nr; i++) {
		for (n = pieces_first(&spans[i]); n < pieces_end(&spans[i]); n++) {
			if (!xa_load(&ps->all, n) && !pieces_add(ps, n))
				return;		/* what has none is not read, and told as it was */
			hmk_pause(++at);
		}
	}
}

/* Return: NULL when all have been gone over. */
struct hmk_piece *hmk_round_next(struct hmk_round *round)
{
	struct xarray *all = &round->of->all;
	struct hmk_piece *piece = xa_find(all, &round->at, round->last, XA_PRESENT);

	if (!piece && round->last == ULONG_MAX && round->from) {
		round->last = round->from - 1;
		round->at = 0;
		piece = xa_find(all, &round->at, round->last, XA_PRESENT);
	}
	round->at++;
	return piece;
}

/* Those of a region are to be read first. */
void hmk_pieces_ask(struct hmk_pieces *ps, const struct hmk_region *r)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 at = 0;

	xa_for_each_range(&ps->all, index, piece, r->start >> PMD_SHIFT,
			  (r->end - 1) >> PMD_SHIFT) {
		piece->asked = true;
		hmk_pause(++at);
	}
}

/**
 * hmk_pieces_touched() - pages of a range were moved.
 * @ps:    of the session; its interval thread.
 * @start: address.
 * @end:   address above.
 */
void hmk_pieces_touched(struct hmk_pieces *ps, u64 start, u64 end)
{
	struct hmk_piece *piece;
	unsigned long index;
	u32 at = 0;

	xa_for_each_range(&ps->all, index, piece, start >> PMD_SHIFT, (end - 1) >> PMD_SHIFT) {
		piece->moved = true;
		hmk_pause(++at);
	}
}

/**
 * hmk_pieces_part() - the pages from an address on that lie in one piece.
 * @ps:  of the session.
 * @at:  page address.
 * @end: page address above: where they end at the latest.
 *
 * Return: at least one page; the next part begins behind them.
 */
struct hmk_piece_part hmk_pieces_part(struct hmk_pieces *ps, u64 at, u64 end)
{
	u64 next = min((at | (PMD_SIZE - 1)) + 1, end);

	return (struct hmk_piece_part){
		.piece = xa_load(&ps->all, at >> PMD_SHIFT),
		.first = (at >> PAGE_SHIFT) % HMK_DENSE_PAGES,
		.nr = (next - at) >> PAGE_SHIFT,
	};
}

/**
 * hmk_pieces_classes() - of which classes pages are.
 * @ps:    of the session.
 * @start: address of the first page.
 * @nr:    number of pages.
 * @class: @nr classes, each plus one as HMK_RANGE_CLASS() has it; 0 where it is not known.
 *
 * Their hotness may change meanwhile: it says what it is now.
 */
void hmk_pieces_classes(struct hmk_pieces *ps, unsigned long start, u32 nr, u8 *class)
{
	const struct hmk_piece *piece = NULL;
	u32 i;

	xa_lock(&ps->all);
	for (i = 0; i < nr; i++) {
		unsigned long pfn = (start >> PAGE_SHIFT) + i;
		u32 at = pfn % HMK_DENSE_PAGES;

		if (!i || !at)
			piece = xa_load(&ps->all, pfn / HMK_DENSE_PAGES);
		class[i] = piece ? 1 + hmk_dense_class(READ_ONCE(piece->page[at]),
						       READ_ONCE(piece->rung)) : 0;
	}
	xa_unlock(&ps->all);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The entries of one page table, or of one huge page, cleared and read as a whole. */
#include <linux/mm.h>

#include "piece.h"
#include "session.h"
#include "walk.h"

static void piece_leave(struct hmk_piece *piece, unsigned long from, unsigned long to)
{
	for (; from < to; from += PAGE_SIZE)
		hmk_dense_leave(&piece->page[(from >> PAGE_SHIFT) % HMK_DENSE_PAGES]);
}

/* Return: false when there is no place left: one of five nodes is not told. */
static bool piece_note_node(struct hmk_piece *piece, u32 i, int node)
{
	const u32 shift = i % 4 * 2;
	u32 place;

	for (place = 0; place < piece->nr_nodes && piece->node[place] != node; place++)
		;
	if (place == HMK_PIECE_NODES || node == NUMA_NO_NODE)
		return false;
	if (place == piece->nr_nodes)
		piece->node[piece->nr_nodes++] = node;
	piece->place[i / 4] = (piece->place[i / 4] & ~(3u << shift)) | place << shift;
	return true;
}

enum pass_kind { PASS_CLEAR, PASS_READ, PASS_NOTE };

/* What a pass does with the entries of one VMA in one piece. */
struct pass {
	struct hmk_piece *piece;
	enum pass_kind kind;
	u32 seen;		/* of a read */
	bool all;		/* of its pages count: none is a private mapping's of a file */
};

static void pass_note_page(const struct pass *pass, u32 i, struct page *page)
{
	u8 *heat = &pass->piece->page[i];

	if (!page || !piece_note_node(pass->piece, i, hmk_node_of(page)))
		hmk_dense_leave(heat);
	else if (pass->kind == PASS_CLEAR)
		hmk_dense_clear(heat);
}

static struct page *pass_page(const struct pass *pass, struct page *page)
{
	return pass->all || hmk_page_counts(page, HMK_KIND_ANON) ? page : NULL;
}

static void pass_huge(const struct pass *pass, const struct hmk_leaf *leaf, unsigned long from,
		      unsigned long to)
{
	struct page *page = pass_page(pass, leaf->page);
	bool young = test_bit(_PAGE_BIT_ACCESSED, leaf->bits);

	if (pass->kind == PASS_CLEAR && page)
		hmk_clear_young(leaf->bits, page);
	for (; from < to; from += PAGE_SIZE) {
		u32 i = (from >> PAGE_SHIFT) % HMK_DENSE_PAGES;

		if (pass->kind != PASS_READ)
			pass_note_page(pass, i, page);
		else if (young && hmk_dense_waits(pass->piece->page[i]))
			hmk_dense_see(&pass->piece->page[i], pass->seen);
	}
}

static void pass_note_table(const struct pass *pass, pte_t *pte, unsigned long from,
			    unsigned long to)
{
	for (; from < to; from += PAGE_SIZE, pte++) {
		pte_t seen = READ_ONCE(*pte);
		struct page *page = pass_page(pass, hmk_pte_page(seen));

		pass_note_page(pass, (from >> PAGE_SHIFT) % HMK_DENSE_PAGES, page);
		if (pass->kind == PASS_CLEAR && page && pte_young(seen))
			hmk_clear_young((unsigned long *)pte, page);
	}
}

/* A read leaves the bit: see scan_read() of scan.c. */
static void pass_read_table(const struct pass *pass, const pte_t *pte, unsigned long from,
			    unsigned long to)
{
	u8 *page = &pass->piece->page[(from >> PAGE_SHIFT) % HMK_DENSE_PAGES];

	for (; from < to; from += PAGE_SIZE, pte++, page++) {
		pte_t seen = READ_ONCE(*pte);

		if (hmk_dense_waits(*page) && pte_present(seen) && pte_young(seen))
			hmk_dense_see(page, pass->seen);
	}
}

static void pass_table(struct mm_struct *mm, const struct pass *pass, unsigned long from,
		       unsigned long to)
{
	struct hmk_leaf leaf;
	spinlock_t *ptl;	/* of the table */
	pte_t *pte = hmk_table_lock(mm, from, &ptl);

	if (pte && pass->kind == PASS_READ)
		pass_read_table(pass, pte, from, to);
	else if (pte)
		pass_note_table(pass, pte, from, to);
	if (pte) {
		hmk_table_unlock(ptl);
		return;
	}
	if (!hmk_leaf_lock(mm, from, &leaf)) {
		if (pass->kind != PASS_READ)
			piece_leave(pass->piece, from, to);
		return;
	}
	if (leaf.shift == PMD_SHIFT)
		pass_huge(pass, &leaf, from, to);
	else if (pass->kind != PASS_READ)	/* became a table just now: next time */
		piece_leave(pass->piece, from, to);
	hmk_leaf_unlock(&leaf);
}

static void piece_pass(struct mm_struct *mm, struct pass *pass)
{
	struct hmk_piece *piece = pass->piece;
	unsigned long at = (unsigned long)piece->index << PMD_SHIFT, end = at + PMD_SIZE;

	if (pass->kind != PASS_READ)
		piece->nr_nodes = 0;
	while (at < end) {
		struct vm_area_struct *vma = find_vma(mm, at);
		unsigned long from = vma ? clamp(vma->vm_start, at, end) : end;
		unsigned long to = vma ? clamp(vma->vm_end, from, end) : end;
		int kind = vma ? hmk_discover_kind(vma) : -1;

		if (kind < 0)
			from = to;
		if (pass->kind != PASS_READ)
			piece_leave(piece, at, from);
		pass->all = kind != HMK_KIND_ANON || vma_is_anonymous(vma);
		if (from < to)
			pass_table(mm, pass, from, to);
		at = to;
	}
}

/**
 * hmk_piece_clear() - clear a piece's pages, and note which there are, and on which node.
 * @mm:    mmap lock held for reading.
 * @piece: of it.
 */
void hmk_piece_clear(struct mm_struct *mm, struct hmk_piece *piece)
{
	struct pass pass = { .piece = piece, .kind = PASS_CLEAR };

	piece_pass(mm, &pass);
	piece->moved = false;
}

/**
 * hmk_piece_read() - look which of the pages that were cleared were accessed since.
 * @mm:    as above.
 * @piece: of it.
 * @seen:  what an access means to hmk_dense_see().
 */
void hmk_piece_read(struct mm_struct *mm, struct hmk_piece *piece, u32 seen)
{
	struct pass pass = { .piece = piece, .kind = PASS_READ, .seen = seen };

	piece_pass(mm, &pass);
}

/**
 * hmk_piece_note() - note which pages there are, and on which node; hotness stays.
 * @mm:    as above.
 * @piece: of it.
 */
void hmk_piece_note(struct mm_struct *mm, struct hmk_piece *piece)
{
	struct pass pass = { .piece = piece, .kind = PASS_NOTE };

	piece_pass(mm, &pass);
	piece->moved = false;
}

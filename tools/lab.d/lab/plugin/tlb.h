/* SPDX-License-Identifier: MIT */
/*
 * The second-level TLB of a vCPU: entries of 4 KiB and 2 MiB share its places, 12 ways, LRU. It is asked at each
 * miss of L1 and sits in a struct cache whose "lines" are pairs of a virtual and a physical page: a page that
 * moves needs a new walk, and processes need not be told apart, as on a core that tags entries with theirs.
 *
 * QEMU tells a plugin neither the size of a page nor where its tables are. Inferred: 2 MiB where the virtual and
 * the physical address agree below 2 MiB, which a 4 KiB page does once in 512. Tables have lines of their own in
 * the caches, of 8 entries as real ones, above all physical memory (TABLES).
 */
#ifndef HMK_LAB_TLB_H
#define HMK_LAB_TLB_H

#include <stdbool.h>
#include <stdint.h>

#define TLB_WAYS 12
#define SMALL_SHIFT 12
#define HUGE_SHIFT 21
#define TABLES (1u << 30) /* number of the first line of page tables */

static inline bool tlb_is_huge(uint64_t vaddr, uint64_t paddr)
{
	return !((vaddr ^ paddr) & ((1 << HUGE_SHIFT) - (1 << SMALL_SHIFT)));
}

/* 31 bits that stand for this pair of pages of 1 << shift bytes. */
static inline uint32_t tlb_entry(uint64_t vaddr, uint64_t paddr, unsigned int shift)
{
	return ((vaddr >> shift) * 0x9e3779b97f4a7c15ull ^ (paddr >> shift) * 0xd6e8feb86659fd93ull ^ shift) >> 33;
}

/* The line with the entry that maps `vaddr` by pages of 1 << shift bytes. */
static inline uint32_t tlb_table_line(uint64_t vaddr, unsigned int shift)
{
	uint32_t of_level = shift == HUGE_SHIFT ? TABLES : TABLES | TABLES >> 1;

	return of_level | (vaddr >> (shift + 3)) * 0x9e3779b97f4a7c15ull >> 36;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The vocabulary of the pure core: plain C that is compiled into hmk.ko, into
 * the simulator and into the unit tests, and calls nothing of any of them.
 * <linux/types.h> exists on both sides, so there is no typedef layer.
 */
#ifndef HMK_CORE_TYPES_H
#define HMK_CORE_TYPES_H

#include <linux/types.h>

#if !defined(__LP64__) && !defined(CONFIG_64BIT)
#error "the core divides 64-bit numbers with '/': 64-bit machines only"
#endif

#ifdef __cplusplus
#define HMK_CORE_ASSERT(cond) static_assert(cond, #cond)
extern "C" {
#else
#define HMK_CORE_ASSERT(cond) _Static_assert(cond, #cond)
#endif

#define HMK_CORE_PAGE_SHIFT	12
#define HMK_CORE_BASE_REGION	(1ull << 21)	/* span of one last-level table (HK-2) */
#define HMK_CORE_Q16_ONE	(1u << 16)
#define HMK_CORE_MAX_SCANS	16u
#define HMK_CORE_MAX_QUOTA	32u		/* samples of one region */

/* A populated address range inside one VMA: what discovery hands over. */
struct hmk_span {
	__u64 start, end;	/* bytes, page aligned */
	__u8  kind;		/* HMK_KIND_* of the uapi */
	__u8  leaf_shift;	/* largest leaf seen; 12 when unknown */
	__u16 reserved0;
	__u32 reserved1;
};

/*
 * One region: the unit of profiling, decision and migration (HK-1). The array
 * of a session is in address order, without overlap; 64 bytes each, which is
 * 0.003 % of 2 MiB (HK-31).
 */
struct hmk_region {
	__u64 start, end;
	__u32 hi_q16;		/* mean count of the last interval (HK-9) */
	__u32 prev_hi_q16;	/* of the interval before: variance is |hi - prev| (A-5) */
	__u32 whi_q16;		/* smoothed (HK-33) */
	__u32 generation;	/* new whenever the borders change */
	__u32 resident_pages;	/* 4 KiB pages present: counted, or guessed (residency.c) */
	__u32 away_pages;	/* of these, not on @node */
	__u16 accesses;		/* sum of the counts of this interval */
	__u16 trust;		/* samples behind @whi_q16, older ones counting less; in 1/16 */
	__s16 node;		/* holds most of the pages; -1 unknown */
	__u16 quota;		/* samples it is given */
	__u16 flags;		/* HMK_REGION_* */
	__u16 writes;		/* samples written since they came or moved: nobody clears it */
	__u8  count_min;	/* smallest and largest count among its samples */
	__u8  count_max;
	__u8  leaf_shift;
	__u8  kind;
	__u8  age;		/* intervals profiled, saturating */
	__u8  rung;		/* of the ladder, where its windows begin (ladder.h) */
	__s16 away_node;	/* holds most of @away_pages, or some by samples; -1 unknown */
};

HMK_CORE_ASSERT(sizeof(struct hmk_region) == 64);

/*
 * One leaf watched in an interval. They lie in the order of their regions: as
 * many as its quota for each that is not stale, none for one that is. (While the
 * module watches them they begin with those of the region whose turn came first.)
 */
struct hmk_sample {
	__u64 addr;
	__u8  count;		/* its region's rung + reads that found it accessed */
	__u8  dirty;		/* its entry was dirty at the last look */
	__s16 node;		/* -1 unknown */
	__u32 turn;		/* not its own: which sample is looked at in this place */
};

HMK_CORE_ASSERT(sizeof(struct hmk_sample) == 16);

#define HMK_REGION_NEW		(1u << 0)	/* never judged: WHI_0 = HI_0 */
#define HMK_REGION_STALE	(1u << 1)	/* not sampled in this interval */
#define HMK_REGION_CENSUS	(1u << 3)	/* residency unknown or changed: count it again */
#define HMK_REGION_JUST_SPLIT	(1u << 4)	/* one structure operation per interval (HK-17) */
#define HMK_REGION_VMA_START	(1u << 5)	/* first of its span: never joined to its left */
#define HMK_REGION_SCOUTED	(1u << 6)	/* one sample of its quota is a scout */
#define HMK_REGION_BEYOND	(1u << 7)	/* its windows were too long or too short to tell */
#define HMK_REGION_RISING	(1u << 8)	/* hotter than its past, and not by chance */
#define HMK_REGION_FALLING	(1u << 9)	/* colder than its past */
#define HMK_REGION_AGAIN	(1u << 10)	/* one more look decides: it goes first */
#define HMK_REGION_ODD		(1u << 11)	/* a count is one that chance rarely gives */
/* Where in it the odd sample was that has cut it out: a quarter + 1, or 0. */
#define HMK_REGION_QUARTER_SHIFT	12
#define HMK_REGION_QUARTER	(7u << HMK_REGION_QUARTER_SHIFT)
#define HMK_REGION_MIXED	(1u << 15)	/* its pages differ by more than chance (dense.h) */

#ifdef __cplusplus
}
#endif

#endif /* HMK_CORE_TYPES_H */

/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * HM-Keeper: profile and move the memory of a running process.
 *
 * A session is one open file of /dev/hmk. It is bound to one address space by
 * HMK_IOC_ATTACH and ends with close(): profiling stops, tickets that have not
 * started are dropped, a move that has started finishes its chunk. Nothing else
 * is needed to be safe, so a client may die at any moment.
 *
 *   fd = open("/dev/hmk", O_RDWR | O_CLOEXEC);
 *   ioctl(fd, HMK_IOC_ATTACH, &attach);     bind to a process
 *   ioctl(fd, HMK_IOC_START, 0);            run the interval clock
 *   table = mmap(..., attach.table_bytes, PROT_READ, MAP_SHARED, fd, 0);
 *   poll(fd) ; read(fd, &event, sizeof(event));
 *   ioctl(fd, HMK_IOC_MOVE, &move);
 *
 * Rules of every call
 *   - @size is the caller's sizeof of the struct. A newer caller's extra bytes
 *     must be zero (-E2BIG otherwise); an older caller's missing bytes read as
 *     zero and are not written back.
 *   - Unknown flags and non-zero reserved fields are refused with -EINVAL.
 *   - A refused call leaves the session as it was.
 *   - Times are nanoseconds of CLOCK_MONOTONIC. Ranges are half-open and in
 *     bytes; "pages" are 4096 bytes whatever the size of the leaf entry.
 *     _q16 is fixed point with 16 fraction bits, _bp is 1/10000.
 *
 * One errno table for all calls
 *   EFAULT      a user pointer cannot be read or written
 *   EINVAL      unknown flag, non-zero reserved field, value out of its range,
 *               range unaligned, empty, wrapped or outside user space; the
 *               target is a kernel thread or a zombie (no address space)
 *   E2BIG       struct from the future with a field we lack, or more ranges
 *               than HMK_MAX_RANGES
 *   ESRCH       no such process, or the target's address space is gone
 *   EPERM       the caller may not trace the target, at every call and mmap() but
 *               GET_INFO, whoever opened the session; or may not move the memory
 *               of another process (CAP_SYS_NICE), or is not allowed shared
 *               pages; or may not move, and asks for SPLIT_HUGE, NO_BUDGET, a
 *               budget above HMK_BUDGET_THREAD_BP or a weight above the default;
 *               nothing about the target is revealed
 *   EACCES      a target node lies outside the target's cpuset: of a request, or
 *               (of a range) of a ticket when the range begins
 *   ENODEV      a target node does not exist or has no memory
 *   EBADF       session opened read-only, or @pidfd is no pidfd
 *   EBUSY       second ATTACH or START; cookie in use; two ranges overlap
 *   EAGAIN      ticket queue full, or result not ready: try again
 *   ENOENT      no ticket with that cookie
 *   ENOTCONN    the call needs ATTACH first
 *   ENOMEM      no kernel memory; everything undone
 *   ECANCELED   (of a range) its ticket was stopped by HMK_RESULT_CANCEL
 *   EINTR       a fatal signal arrived; ranges done so far are reported
 *   EOPNOTSUPP  this kernel cannot do it: see HMK_IOC_GET_INFO; MOVE of another
 *               process's memory, and what else needs that right, without
 *               HMK_FEAT_LSM_CHECK; START of a target
 *               whose memory a virtual machine or device uses behind its page
 *               table (an mmu notifier): those accesses would look cold
 *   ENOTTY      unknown command
 */
#ifndef _UAPI_LINUX_HMK_H
#define _UAPI_LINUX_HMK_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define HMK_ABI_VERSION		2
#define HMK_DEVICE_PATH		"/dev/hmk"
#define HMK_IOC_MAGIC		0xB9

#define HMK_PAGE_SIZE		4096u
#define HMK_MAX_RANGES		65536u	/* per HMK_IOC_MOVE */
#define HMK_MAX_TICKETS		64u	/* per session, finished ones included */
#define HMK_MAX_NODES		64u	/* that are told apart; MOVE takes every node there is */
#define HMK_MAX_COPY_THREADS	16u

/* ---- what this kernel can do ------------------------------------------ */

/* Bit numbers of hmk_info.features; hmk_info.why has one code per bit. */
enum {
	HMK_FEAT_SCAN = 0,		/* accessed bits of 4K and 2M leaves */
	HMK_FEAT_FLUSH_RANGE,		/* ranged TLB flush; else IPI to the CPUs of the mm */
	HMK_FEAT_LRU_DRAIN,		/* pages in per-CPU LRU batches can be moved */
	HMK_FEAT_MOVE_OWN,		/* own move path: THP whole, stall of one chunk */
	HMK_FEAT_MOVE_BATCH,		/* own path with one TLB shootdown per batch */
	HMK_FEAT_MOVE_VMA,		/* migrate_vma path: anonymous base pages */
	HMK_FEAT_MOVE_SHMEM,		/* shared memory can be moved */
	HMK_FEAT_MOVE_PAGE_TABLES,	/* page-table pages move along (HK-51) */
	HMK_FEAT_PTRACE_CHECK,		/* permission by ptrace_may_access; else CAP_SYS_PTRACE */
	HMK_FEAT_PIDFD,			/* target may be named by a pidfd */
	HMK_FEAT_YOUNG,			/* the kernel's own aging keeps what we clear */
	HMK_FEAT_CPUSET,		/* target nodes are checked against the cpuset */
	HMK_FEAT_TEST_SWITCHES,		/* built with switches that break it, for tests */
	HMK_FEAT_SPLIT_HUGE,		/* huge pages whose parts differ can be split */
	HMK_FEAT_MOVE_PAIRED,		/* HMK_MOVE_PAIRED and HMK_RESULT_CANCEL are known */
	HMK_FEAT_LSM_CHECK,		/* security modules can be asked: others' memory moves */
	HMK_FEAT_DENSE,			/* HMK_SWITCH_DENSE and HMK_RANGE_CLASS are known */
	HMK_FEAT_COPY_THREADS,		/* hmk_move.copy_threads is known */
	HMK_FEAT_NR
};

enum {
	HMK_WHY_ON = 0,		/* feature is on */
	HMK_WHY_SYMBOL,		/* a kernel symbol was not found: see hmk_info.missing */
	HMK_WHY_CONFIG,		/* the kernel was configured without it */
	HMK_WHY_BUILD,		/* the module was built without it */
	HMK_WHY_NOT_YET,	/* not implemented in this version */
	HMK_WHY_SELFTEST	/* it was tried at load and did not do what it must */
};

struct hmk_info {
	__u32 size;
	__u32 abi_version;
	__u64 features;		/* bit n: HMK_FEAT_n works */
	__u8  why[64];		/* HMK_WHY_* per feature bit */
	char  missing[256];	/* kernel symbols not found, separated by spaces */
	__u64 max_ranges;
	__u64 interval_min_ns, interval_max_ns;
	__u32 budget_max_bp;
	__u32 num_scans_max;
	__u32 record_size;	/* of the table */
	__u32 reserved;
};

/* ---- parameters (HK-7 .. HK-33, HK-68) ---------------------------------- */

/* Bits of hmk_params.mask: which members are given. Others keep their value. */
#define HMK_PARAM_INTERVAL	(1ull << 0)
#define HMK_PARAM_BUDGET	(1ull << 1)
#define HMK_PARAM_NUM_SCANS	(1ull << 2)
#define HMK_PARAM_ALPHA		(1ull << 3)
#define HMK_PARAM_TAU1		(1ull << 4)
#define HMK_PARAM_TAU2		(1ull << 5)
#define HMK_PARAM_TAU_STEP	(1ull << 6)
#define HMK_PARAM_TOP_K		(1ull << 7)
#define HMK_PARAM_SCOUTS	(1ull << 8)
#define HMK_PARAM_FLUSH		(1ull << 9)
#define HMK_PARAM_SWITCHES	(1ull << 10)
#define HMK_PARAM_SCAN_COST	(1ull << 11)
#define HMK_PARAM_MAX_REGION	(1ull << 12)
#define HMK_PARAM_WEIGHT	(1ull << 13)
#define HMK_PARAM_SEED		(1ull << 14)
#define HMK_PARAM_ALL		((1ull << 15) - 1)

enum { HMK_FLUSH_NONE = 0, HMK_FLUSH_ROUND = 1 };

/* hmk_params.switches: ablations of the evaluation (HK-68), and an option. */
#define HMK_SWITCH_FIXED_REGIONS	(1u << 0)	/* no merge, no split */
#define HMK_SWITCH_RANDOM_SAMPLES	(1u << 1)	/* quota spread at random */
#define HMK_SWITCH_NO_BUDGET		(1u << 2)	/* overhead not controlled */
#define HMK_SWITCH_SPLIT_HUGE		(1u << 3)	/* needs HMK_FEAT_SPLIT_HUGE */
/* num_scans windows of one length, cleared at each read: chapter 8's, hotness as HK-9 has it */
#define HMK_SWITCH_EQUAL_WINDOWS	(1u << 4)
/*
 * Read pages one by one: all of them instead of samples while half of the budget pays for that,
 * else pieces of 2 MiB in turns, beside samples, if all have had their turn within 16 intervals.
 * Not with EQUAL_WINDOWS, nor with more than HMK_DENSE_SCANS reads.
 */
#define HMK_SWITCH_DENSE		(1u << 5)
#define HMK_SWITCH_ALL			((1u << 6) - 1)
#define HMK_DENSE_SCANS			3u

/*
 * A budget is CPU time, of all threads and CPUs together. One thread is to use half of an interval
 * at most; each further half is for one more, that helps to clear and read.
 */
#define HMK_BUDGET_THREAD_BP		5000u
#define HMK_BUDGET_MAX_BP		80000u

struct hmk_params {
	__u64 mask;		/* HMK_PARAM_* of the members given */
	__u64 interval_ns;	/* 50 ms .. 10 min; default 10 s (HK-10); or as the budget needs */
	__u32 budget_bp;	/* CPU time of an interval, 1 .. 80000; default 500 (HK-25) */
	__u32 num_scans;	/* reads of a sample, 1 .. 16; default 3 (HK-8) */
	__u32 alpha_q16;	/* 1 .. 65536; default 32768 (HK-33); of equal windows */
	__u32 tau1_q16;		/* 0: 0.4; with equal windows num_scans/3 (HK-14) */
	__u32 tau2_q16;		/* 0: twice tau1's default */
	__u32 tau_step_q16;	/* 0: tau1/4 */
	__u32 top_k;		/* 1 .. 64; default 5 (HK-21); of equal windows */
	__u32 scout_bp;		/* share of the samples; 0 .. 5000; default 1000; as top_k */
	__u32 flush;		/* HMK_FLUSH_*; default ROUND */
	__u32 switches;		/* HMK_SWITCH_* */
	__u32 scan_cost_ns;	/* 0: calibrated and tracked (HK-27, HK-30) */
	__u32 weight;		/* share of the budget among sessions, 1 .. 10000; default 100 */
	__u64 max_region;	/* bytes; 2 MiB .. 1 TiB; default 256 MiB */
	__u64 seed;		/* of the sample choice; 0: from the kernel's random pool */
};

#define HMK_ATTACH_PID		(1u << 0)	/* @pidfd holds a PID of the caller's namespace */

struct hmk_attach {
	__u32 size;
	__u32 flags;		/* HMK_ATTACH_* */
	__s32 pidfd;
	__u32 reserved;
	struct hmk_params params;
	__u64 table_bytes;	/* out: length to mmap at offset 0 */
};

/* HMK_IOC_SET: each member named by @params.mask changes at the next interval. */
struct hmk_set {
	__u32 size;
	__u32 reserved;
	struct hmk_params params;	/* in: as above; out: all values in force */
};

/* ---- the table ------------------------------------------------------------
 * One header page, then two buffers. The only reader is hmk/table_reader.h:
 *
 *   do {
 *           s = load_acquire(header.seq);           0: nothing published yet
 *           buffer = base + header.buffer_offset[s & 1];
 *           copy the interval and its records out of the buffer;
 *           fence(acquire);
 *   } while (load_relaxed(header.seq) != s);
 *
 * The writer fills buffer (s + 1) & 1 and then publishes s + 1, so a reader
 * always finds one whole interval. HMK_TABLE_MOVED says that the table has
 * grown: unmap it, ask HMK_IOC_STATS for table_bytes and map again.
 */
#define HMK_TABLE_MAGIC		0x4c42544b4d48ull	/* "HMKTBL" */
#define HMK_TABLE_LAYOUT	2	/* 1 had no rates */
#define HMK_TABLE_MOVED		(1u << 0)

struct hmk_table_header {
	__u64 magic;
	__u32 layout;
	__u32 header_size;
	__u32 interval_size;
	__u32 record_size;
	__u32 capacity;			/* records per buffer */
	__u32 flags;			/* HMK_TABLE_* */
	__u64 table_bytes;
	__u64 buffer_offset[2];
	__u64 seq;			/* last published interval; 0 none */
};

#define HMK_INTERVAL_DEGRADED	(1u << 0)	/* not all regions could be paid for */
#define HMK_INTERVAL_TRUNCATED	(1u << 1)	/* more regions than records */
#define HMK_INTERVAL_LATE	(1u << 2)	/* groups were late, or rounds cut (HK-11) */

struct hmk_interval {
	__u64 seq;
	__u64 start_ns, end_ns;
	__u64 profile_ns;	/* CPU time of its thread, and of CPUs its flushes stopped */
	__u64 budget_ns;	/* what it was allowed to use: its share by weight */
	__u32 nr_regions;	/* records that follow */
	__u32 nr_samples;
	__u32 num_ps;		/* sample budget of Eq. 8.1 */
	__u32 num_scans;	/* reads of a sample */
	__u32 tau1_q16;		/* in force now */
	__u32 flags;		/* HMK_INTERVAL_* */
	__u32 merges, splits;
	__u32 scan_cost_ns;	/* tracked mean cost of one scan of one sample */
	__u32 hotness_max;	/* of the records' hotness: windows of the ladder, or num_scans */
	__u64 resident_pages;	/* sum over the records */
};

#define HMK_RECORD_STALE	(1u << 2)	/* not sampled in this interval */

/*
 * With HMK_SWITCH_DENSE a region whose pages differ has one record for each class of its pages
 * and node instead of one for all, next to each other, the hottest class first. All have its
 * borders, @generation and @samples; each has the hotness and the rate of its pages, and says
 * how many they are: @resident_pages, all on @node. A class is hotness in half windows,
 * rounded to the nearest.
 */
#define HMK_RECORD_CLASS_SHIFT	8
#define HMK_RECORD_CLASS_MASK	(0x3fu << HMK_RECORD_CLASS_SHIFT)	/* class + 1; 0: all */
#define HMK_CLASSES		33u	/* 0 .. twice the most windows */

/*
 * Hotness counts windows, the longest of a ladder first: each is an eighth of the one before
 * (a quarter with num_scans 4 and 5, half with more), the first the interval's. So it is a
 * logarithm of the rate. With HMK_SWITCH_EQUAL_WINDOWS all windows have one length, and it is
 * a count. @rate_q8 means the same in both: how often a leaf entry is accessed, pulled towards
 * the mean of all memory the fewer samples say so. Rank by it.
 */

/* Of a private file mapping only pages that were written count: they are anonymous. */
enum { HMK_KIND_ANON = 0, HMK_KIND_SHMEM };

struct hmk_record {
	__u64 start, length;	/* bytes; identity is start and generation */
	__u32 hi_q16;		/* hotness of this interval, 0 .. hotness_max (HK-9) */
	__u32 whi_q16;		/* smoothed hotness (HK-33) */
	__s16 rate_q8;		/* log2 of the accesses per second and leaf, 8 fraction bits */
	__u16 rate_dev_q8;	/* its standard deviation, in the same unit */
	__u32 resident_pages;	/* present at the last census */
	__u32 away_pages;	/* of these, not on @node */
	__s32 node;		/* holds most of them; -1 unknown, or HMK_MAX_NODES or more */
	__u32 generation;	/* new whenever the borders change */
	__u16 samples;		/* its quota in this interval */
	__u16 writes;		/* samples written since they came or moved: a hint (HK-58) */
	__u8  leaf_shift;	/* 12, 21 or 30: largest leaf seen */
	__u8  kind;		/* HMK_KIND_* */
	__u16 flags;		/* HMK_RECORD_* */
	__s32 away_node;	/* holds most of @away_pages; -1 without, or as in @node */
};

/* ---- moving ---------------------------------------------------------------- */

#define HMK_MOVE_TICKET		(1u << 0)	/* return at once; poll() and RESULT by @cookie */
#define HMK_MOVE_SYNC_COPY	(1u << 1)	/* never pre-copy */
#define HMK_MOVE_SHARED		(1u << 2)	/* also pages mapped by others (CAP_SYS_NICE) */
#define HMK_MOVE_FORCE_VMA	(1u << 3)	/* take the migrate_vma path */
#define HMK_MOVE_DRY_RUN	(1u << 4)	/* check the request, move nothing */
/*
 * With TICKET: two ranges under way at a time, taken in their order, so that one is
 * promoted while the next is demoted. When a range begins, at most one before it has
 * not ended: what makes room should come two ahead of what needs it.
 */
#define HMK_MOVE_PAIRED		(1u << 5)
/*
 * Also memory that the program has bound to other nodes (MPOL_BIND by mbind(2), or of its
 * first thread by set_mempolicy(2)); without it such pages stay, as -EPERM. Needs no more right.
 */
#define HMK_MOVE_BOUND		(1u << 6)
/* Only with HMK_FEAT_TEST_SWITCHES: break the move on purpose, to prove a test. */
#define HMK_MOVE_TEST_POISON	(1u << 27)	/* every second 2 MiB cannot be read */
#define HMK_MOVE_TEST_LATE_COUNT (1u << 28)	/* own path: count references only after the copy */
#define HMK_MOVE_TEST_WRITE_BIT	(1u << 29)	/* with FORCE_VMA: believe the write bit alone */
#define HMK_MOVE_TEST_NO_FLUSH	(1u << 30)

/*
 * Of a range, what HMK_SWITCH_DENSE has found to be of one class and is on one node; other
 * pages count as absent. A page larger than an entry maps moves as one, and is of the class
 * of its hottest part. Where pages are not read one by one none is of any class. Ranges of
 * different classes or nodes may overlap.
 */
#define HMK_RANGE_CLASS(class)	((class) + 1u)
#define HMK_RANGE_FROM(node)	(((node) + 1u) << 8)
#define HMK_RANGE_CLASS_MASK	0xffu
#define HMK_RANGE_FROM_MASK	0xff00u

/* One range to move. Node -1 asks where its pages are (needs @status). */
struct hmk_range {
	__u64 start, length;	/* multiples of 4096; at most 1 TiB */
	__s32 node;
	__u32 flags;		/* 0, or HMK_RANGE_CLASS() | HMK_RANGE_FROM() */
	/* __s32 per page, as move_pages(2) writes them, or 0; not with HMK_MOVE_TICKET */
	__u64 status;
};

/* Why a page stayed where it was: index of hmk_range_result.refused. */
enum {
	HMK_REFUSED_PINNED = 0,	/* somebody holds a reference: I/O, RDMA, a racing fault */
	HMK_REFUSED_SHARED,	/* mapped by another process, no HMK_MOVE_SHARED */
	HMK_REFUSED_BUSY,	/* locked, isolated or changing; worth another try */
	HMK_REFUSED_NO_ROOM,	/* the target node has no free page */
	HMK_REFUSED_KIND,	/* a kind of page this path does not take */
	HMK_REFUSED_GONE,	/* unmapped before its turn came */
	HMK_REFUSED_POLICY,	/* bound to other nodes by MPOL_BIND, no HMK_MOVE_BOUND */
	HMK_REFUSED_POISONED,	/* its memory cannot be read, or was marked as bad */
	HMK_REFUSED_NR = 8
};

struct hmk_range_result {
	__s32 error;		/* 0, or why the whole range was refused: -errno */
	__u32 paths;		/* bit n: HMK_FEAT_MOVE_n was used */
	__u64 pages_clean;	/* pre-copied and committed as they were */
	__u64 pages_recopied;	/* written during the pre-copy, copied again */
	__u64 pages_sync;	/* copied while unmapped, never pre-copied */
	__u64 pages_already;	/* on the target node before */
	__u64 pages_absent;	/* nothing mapped there, or not of the range's class */
	__u64 refused[HMK_REFUSED_NR];
	__u32 chunks;
	__u32 chunks_switched;	/* chunks a write switched to synchronous (HK-47) */
	__u64 prepare_ns;	/* write-protect and flush */
	__u64 copy_ns;		/* pre-copy, beside the running application */
	__u64 commit_ns;	/* pages unmapped: what the application can wait for */
	__u64 commit_max_ns;	/* longest of one chunk */
};

struct hmk_move {
	__u32 size;
	__u32 flags;		/* HMK_MOVE_* */
	__u64 cookie;		/* the caller's name for the ticket; unique per session */
	__u64 ranges;		/* struct hmk_range[nr_ranges], not overlapping */
	__u64 results;		/* struct hmk_range_result[nr_ranges] or 0; not with TICKET */
	__u32 nr_ranges;
	__u32 chunk_pages;	/* commit unit; 0: chosen per path; at most 512 */
	/*
	 * At most so many threads copy ahead at a time, 1 .. HMK_MAX_COPY_THREADS, and no more
	 * than there are CPUs; 0: as many as the module thinks. Both ranges of PAIRED share
	 * them: with 1 its ranges go one by one. A huge page is copied by one thread.
	 */
	__u32 copy_threads;
	__u32 reserved;
};

/*
 * Stop a ticket instead: it ends at once when it has not begun, else after the
 * chunks under way, and is told and fetched as any other. Ranges that did not come
 * to their end have the error -ECANCELED. @results and @nr_ranges are 0.
 */
#define HMK_RESULT_CANCEL	(1u << 0)

/* Fetch a finished ticket and forget it. */
struct hmk_result {
	__u32 size;
	__u32 flags;		/* HMK_RESULT_* */
	__u64 cookie;
	__u64 results;		/* struct hmk_range_result[nr_ranges] */
	__u32 nr_ranges;	/* as given to MOVE */
	__u32 reserved;
};

/* ---- events: read(2) returns whole ones, poll(2) says POLLIN; POLLERR: EPERM */

enum {
	HMK_EVENT_INTERVAL = 1,	/* @value = seq of the table; older ones are folded */
	HMK_EVENT_TICKET,	/* @value = cookie of a finished ticket */
	HMK_EVENT_GONE,		/* the target's address space has ended; last event */
	HMK_EVENT_STOPPED	/* profiling ended by itself, @value = HMK_STOPPED_* */
};

enum {
	HMK_STOPPED_NOTIFIER = 1 /* a virtual machine or device: see EOPNOTSUPP */
};

struct hmk_event {
	__u32 size;
	__u32 kind;
	__u64 value;
	__u64 time_ns;
};

/* ---- counters of a session (HK-70) ----------------------------------------- */

struct hmk_stats {
	__u32 size;
	__u32 reserved;
	__u64 table_bytes;
	__u64 intervals;
	__u64 profile_ns;	/* CPU time of profiling since ATTACH */
	__u64 wall_ns;		/* wall time of the intervals */
	__u64 scans;		/* leaf entries tested */
	__u64 flushes;		/* TLB flushes caused by profiling */
	__u64 regions, samples;	/* now */
	__u64 merges, splits, quota_moves;
	__u64 late_intervals, degraded_intervals;
	__u64 state_bytes;	/* memory the module uses for this session */
	__u64 resident_pages[HMK_MAX_NODES];	/* per node, from the censuses */
	__u64 moved_pages[HMK_MAX_NODES];	/* per target node */
	struct hmk_range_result moved;		/* sums over all moves */
	/* HMK_SWITCH_SPLIT_HUGE; what is neither split nor left could not be split or has gone. */
	__u64 huge_examined;	/* huge pages whose mapping was split to see their parts */
	__u64 huge_split;	/* their parts differed: base pages now */
	__u64 huge_left;	/* their parts were alike: khugepaged may map them as one */
	__u64 groups;		/* of samples: cleared, flushed and read together */
	__u64 late_groups;	/* of these, read after more than twice a window: dropped */
	__u64 flush_ns;		/* CPU time of the flushes, on all CPUs they stopped */
};

#define HMK_IOC_GET_INFO	_IOWR(HMK_IOC_MAGIC, 0x00, struct hmk_info)
#define HMK_IOC_ATTACH		_IOWR(HMK_IOC_MAGIC, 0x01, struct hmk_attach)
#define HMK_IOC_SET		_IOWR(HMK_IOC_MAGIC, 0x02, struct hmk_set)
#define HMK_IOC_START		_IO(HMK_IOC_MAGIC, 0x03)
#define HMK_IOC_STOP		_IO(HMK_IOC_MAGIC, 0x04)
#define HMK_IOC_MOVE		_IOWR(HMK_IOC_MAGIC, 0x05, struct hmk_move)
#define HMK_IOC_RESULT		_IOWR(HMK_IOC_MAGIC, 0x06, struct hmk_result)
#define HMK_IOC_STATS		_IOWR(HMK_IOC_MAGIC, 0x07, struct hmk_stats)

/* ---- layout, asserted on both sides ---------------------------------------- */

#if defined(__cplusplus)
#define HMK_LAYOUT_ASSERT(cond) static_assert(cond, #cond)
#else
#define HMK_LAYOUT_ASSERT(cond) _Static_assert(cond, #cond)
#endif

HMK_LAYOUT_ASSERT(sizeof(struct hmk_info) == 376);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_params) == 80);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_attach) == 104);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_set) == 88);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_table_header) == 64);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_interval) == 88);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_record) == 56);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_range) == 32);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_range_result) == 152);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_move) == 48);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_result) == 32);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_event) == 24);
HMK_LAYOUT_ASSERT(sizeof(struct hmk_stats) == 1344);

#endif /* _UAPI_LINUX_HMK_H */

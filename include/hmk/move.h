/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libhmk: move memory while its owner runs.
 *
 *   void *pages[] = { buffer, buffer + 4096 };
 *   int nodes[] = { 1, 1 }, status[2];
 *   move_memory_regions(pid, 2, pages, nodes, status, MPOL_MF_MOVE);
 */
#ifndef HMK_MOVE_H
#define HMK_MOVE_H

#ifdef __cplusplus
extern "C" {
#endif

#define HMK_MOVE_MAX_PAGES	(1ul << 28)	/* of one call: 1 TiB */

/**
 * move_memory_regions() - move_pages(2) that copies beside the running application.
 * @pid:    process; 0 is the caller.
 * @count:  number of pages, at most HMK_MOVE_MAX_PAGES.
 * @pages:  an address inside each page; neighbours in order move together.
 * @nodes:  target node of each page; NULL only asks where they are.
 * @status: out, written exactly once per page: the node it is on, or -errno.
 * @flags:  MPOL_MF_MOVE or MPOL_MF_MOVE_ALL of <numaif.h>.
 *
 * Arguments and status values are those of move_pages(2) (HK-44). Through
 * hmk.ko pages are copied ahead and nothing moves unless every node is valid.
 * Pages that hmk.ko does not take (file pages, hugetlb), and every call where
 * /dev/hmk cannot be used, go through move_pages(2) itself.
 *
 * Status besides nodes: -ENOENT not present, -EFAULT not mapped or the zero
 * page, -EACCES shared without MPOL_MF_MOVE_ALL, -EBUSY pinned, in use or named
 * twice, -ENOMEM no room on the target.
 *
 * Return: 0; the number of pages that found no room; or -1 with errno: EFAULT,
 * EINVAL, E2BIG, EACCES (node outside the cpuset), ENODEV, EPERM, ESRCH, ENOMEM.
 */
long move_memory_regions(int pid, unsigned long count, void **pages, const int *nodes,
			 int *status, int flags);

#define HMK_MOVE_MAX_THREADS	16u

/**
 * move_memory_regions_by() - the same, copied by so many threads.
 * @copy_threads: that copy at a time, the caller among them, 1 .. HMK_MOVE_MAX_THREADS, and
 *                no more than there are CPUs; 0: as hmk.ko thinks.
 *
 * A huge page is copied by one. Where the kernel moves, or an hmk.ko that cannot be told, it
 * copies as it does.
 *
 * Return: as move_memory_regions(); EINVAL also for more threads.
 */
long move_memory_regions_by(int pid, unsigned long count, void **pages, const int *nodes,
			    int *status, int flags, unsigned int copy_threads);

#ifdef __cplusplus
}
#endif

#endif /* HMK_MOVE_H */

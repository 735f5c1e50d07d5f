/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the program in the kernel counts for a process, and hmkd reads. */
#ifndef HMKD_BPF_WAITS_H
#define HMKD_BPF_WAITS_H

#include <linux/types.h>

#define HMK_WAIT_BUCKETS 24

/* Times in nanoseconds. Bucket n: waits of [2^n, 2^(n+1)) us; the first takes shorter, the last
 * longer ones. */
struct hmk_waits {
  __u64 count;
  __u64 total_ns;
  __u64 longest_ns;
  __u64 write_faults; /* writes to a present page that was not writable, copy-on-write included */
  __u64 buckets[HMK_WAIT_BUCKETS];
};

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* How long threads of the watched processes wait for pages under migration (HK-70). */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "waits.h"

#define PROTECTION_WRITE 3	/* x86 page-fault error code: present, write */

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);		/* tgid; entered by hmkd */
	__type(value, struct hmk_waits);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);		/* tid of who waits */
	__type(value, __u64);
} since SEC(".maps");

static struct hmk_waits *current_waits(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return bpf_map_lookup_elem(&processes, &tgid);
}

static int begin(void)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u64 now = bpf_ktime_get_ns();

	if (current_waits())
		bpf_map_update_elem(&since, &tid, &now, BPF_ANY);
	return 0;
}

static int end(void)
{
	__u32 tid = bpf_get_current_pid_tgid(), n = 0;
	struct hmk_waits *waits = current_waits();
	__u64 *start = bpf_map_lookup_elem(&since, &tid), ns;

	if (!start)
		return 0;
	ns = bpf_ktime_get_ns() - *start;
	bpf_map_delete_elem(&since, &tid);
	if (!waits)
		return 0;
	while (n < HMK_WAIT_BUCKETS - 1 && ns >= 2000ull << n)
		n++;
	__sync_fetch_and_add(&waits->count, 1);
	__sync_fetch_and_add(&waits->total_ns, ns);
	__sync_fetch_and_add(&waits->buckets[n], 1);
	if (ns > waits->longest_ns)
		waits->longest_ns = ns;
	return 0;
}

SEC("fentry/migration_entry_wait")
int base_begin(void *ctx) { return begin(); }

SEC("fexit/migration_entry_wait")
int base_end(void *ctx) { return end(); }

SEC("fentry/pmd_migration_entry_wait")
int huge_begin(void *ctx) { return begin(); }

SEC("fexit/pmd_migration_entry_wait")
int huge_end(void *ctx) { return end(); }

SEC("raw_tp/page_fault_user")
int fault(struct bpf_raw_tracepoint_args *ctx)
{
	struct hmk_waits *waits;

	if ((ctx->args[2] & PROTECTION_WRITE) != PROTECTION_WRITE)
		return 0;
	waits = current_waits();
	if (waits)
		__sync_fetch_and_add(&waits->write_faults, 1);
	return 0;
}

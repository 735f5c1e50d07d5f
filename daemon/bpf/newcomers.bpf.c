// SPDX-License-Identifier: GPL-2.0-only
/* Tells hmkd the PID of who has begun, ended, or become somebody that a rule may name. */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* Of the kernel's own; libbpf finds these members in the one that runs. */
struct task_struct {
	int pid, tgid;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} pids SEC(".maps");

__u64 lost;	/* PIDs that found no room */

static int tell(__u64 arg)
{
	struct task_struct *task = (void *)arg;
	int pid = BPF_CORE_READ(task, pid);

	if (pid == BPF_CORE_READ(task, tgid) && bpf_ringbuf_output(&pids, &pid, sizeof(pid), 0))
		__sync_fetch_and_add(&lost, 1);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int forked(struct bpf_raw_tracepoint_args *ctx) { return tell(ctx->args[1]); }

SEC("raw_tp/sched_process_exec")
int executed(struct bpf_raw_tracepoint_args *ctx) { return tell(ctx->args[0]); }

SEC("raw_tp/sched_process_exit")
int ended(struct bpf_raw_tracepoint_args *ctx) { return tell(ctx->args[0]); }

SEC("raw_tp/task_rename")
int renamed(struct bpf_raw_tracepoint_args *ctx) { return tell(ctx->args[0]); }

SEC("raw_tp/cgroup_attach_task")
int regrouped(struct bpf_raw_tracepoint_args *ctx) { return tell(ctx->args[2]); }

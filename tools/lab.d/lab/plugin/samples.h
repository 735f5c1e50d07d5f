/* SPDX-License-Identifier: MIT */
/*
 * One in so many loads that memory served, as records of perf_event_open(2): what a CPU would have sampled, for who reads such.
 *
 *	sample_load(&samples, &samples.vcpu[cpu], paddr, node);
 *
 * How many loads lie between two samples of a vCPU is drawn from 1 to 2 * every - 1, so that no rhythm of a program's is met. The
 * fields are those of struct load_sample; no plugin knows processes, so they are of PID 0. A latency is in ns for cycles.
 */
#ifndef HMK_LAB_SAMPLES_H
#define HMK_LAB_SAMPLES_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HIGH_MEMORY (4ull << 30) /* where the memory goes on that has no room below */

struct load_sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t period, cycles, source, address; /* of the guest's memory, as its kernel has it */
};

struct samples_vcpu {
	uint64_t left, random; /* loads until the next sample */
};

struct samples {
	FILE *file;
	uint64_t every; /* 0: none are taken */
	uint64_t low;	/* bytes of memory below 4 GiB; 0: the plugin is told true addresses */
	uint64_t *latency; /* by node */
	struct samples_vcpu *vcpu;
};

/* xorshift64 */
static inline uint64_t samples_gap(const struct samples *s, struct samples_vcpu *v)
{
	v->random ^= v->random << 13;
	v->random ^= v->random >> 7;
	v->random ^= v->random << 17;
	return 1 + v->random % (2 * s->every - 1);
}

/* 0 if there was memory for it. */
static inline int samples_begin(struct samples *s, unsigned int nr_vcpus)
{
	unsigned int cpu;

	s->vcpu = calloc(nr_vcpus, sizeof(*s->vcpu));
	for (cpu = 0; s->vcpu && cpu < nr_vcpus; cpu++) {
		s->vcpu[cpu].random = cpu + 1;
		s->vcpu[cpu].left = samples_gap(s, &s->vcpu[cpu]);
	}
	return !s->vcpu;
}

/* `start`: where the plugin sees its node begin, at twice the memory of the nodes before it (plugin.py). */
static inline uint64_t true_address(const struct samples *s, uint64_t paddr, uint64_t start)
{
	uint64_t at = paddr - start / 2;

	if (!s->low)
		return paddr;
	return at < s->low ? at : at - s->low + HIGH_MEMORY;
}

/* By the vCPU's own thread; one write a record, so that those of several do not mix. */
static inline void sample_load(struct samples *s, struct samples_vcpu *v, uint64_t address, unsigned int node)
{
	const union perf_mem_data_src from_memory = { .mem_op = PERF_MEM_OP_LOAD, .mem_lvl_num = PERF_MEM_LVLNUM_RAM };
	const struct load_sample sample = {
		.header = { .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = sizeof(sample) },
		.period = s->every, .cycles = s->latency[node], .source = from_memory.val, .address = address,
	};

	if (--v->left)
		return;
	v->left = samples_gap(s, v);
	fwrite(&sample, sizeof(sample), 1, s->file);
}

/* Begins anew: what was sampled before is gone. */
static inline void samples_forget(struct samples *s)
{
	flockfile(s->file); /* other vCPUs go on */
	fflush(s->file);
	if (ftruncate(fileno(s->file), 0))
		perror("hmk-lab: samples");
	rewind(s->file);
	funlockfile(s->file);
}

#endif

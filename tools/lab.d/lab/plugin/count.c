// SPDX-License-Identifier: MIT
/*
 * Counts the guest's memory accesses per NUMA node, behind modelled caches.
 *
 * An access first meets its vCPU's L1 (a direct-mapped filter by virtual line,
 * so that a hit costs next to nothing), then its L2, then one LLC that all
 * vCPUs share, both by physical line, so that a page that migrates is cold
 * again. What misses all is charged to the node that owns the physical
 * address; streams.h tells those apart that a prefetcher would have fetched.
 * A store makes its line dirty, and a dirty line that leaves the LLC is a
 * write-back to its node, charged to who made it leave. What L1 does not hold
 * asks the TLB (tlb.h); a walk looks its page-table lines up in L2 and LLC.
 * User or kernel is the half the *instruction* lies in, decided once
 * at translation: copy_to_user counts as kernel.
 *
 * Counting costs speed, so it starts at the first mark 0 and rests from mark
 * 15 to the next mark 0. Until that first mark nothing but marks is called back
 * for; qemu_plugin_reset() then has everything translated anew. Only then: a
 * second reset now and then hung QEMU 7.2, so a flag switches what follows. The
 * caches are empty when counting begins.
 *
 * Arguments: out=FILE vcpus=N node=NODE:START:SIZE (hexadecimal bytes, once per
 * range of addresses) l1=BYTES (a power of two) l2=BYTES llc=BYTES tlb=ENTRIES
 * pages=PREFIX samples=FILE every=N low=BYTES latency=NODE:NS.
 *
 * With pages=, user-mode misses of vCPU 0 are also counted per virtual 4 KiB
 * page (address >> 12), which of them were streamed, in how many visits they
 * came, and the lines of the page that were written back; mark 14 writes those
 * since the last mark 0 to PREFIX-<seq>.bin, seq being its line's, as pages.h says. A line that leaves the
 * LLC has only a physical address; it is of the page that last missed there.
 *
 * With samples=, one in `every` user-mode reads that miss all caches becomes a record in FILE (samples.h), which begins anew at
 * mark 0 and is whole at every other mark; `low` is the memory below 4 GiB where QEMU tells no true addresses.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "mark.h"
#include "pages.h"
#include "qemu_plugin_api.h"
#include "samples.h"
#include "streams.h"
#include "tlb.h"

#define MAX_NODES 16
#define MAX_RANGES (2 * MAX_NODES)
#define MAX_VCPUS 64
#define MAX_PHYSICAL ((uint64_t)TABLES << LINE_SHIFT) /* what a tag can tell apart: 64 GiB */
#define WRITTEN (1ull << 63) /* beside a line in L1: L2 knows it to be dirty */
#define FORMAT 2 /* of a mark's line; 1 had no such field and nothing of streams, write-backs and walks */
#define PAGE_SHIFT 12
#define PAGES_MARK 14
#define STOP_MARK 15

enum { USER, KERNEL, MODES };
enum { READ, WRITE, KINDS };
enum { SMALL, HUGE, PAGE_SIZES };
enum level { IN_L2, IN_LLC, IN_MEMORY, LEVELS };

/* One vCPU's; written by its own thread only, so plain increments are exact. */
struct counters {
	uint64_t instructions[MODES], accesses[MODES], l2_hits[MODES], llc_hits[MODES];
	uint64_t misses[MODES][KINDS][MAX_NODES];
	uint64_t streamed[MODES][MAX_NODES]; /* of these misses */
	uint64_t written_back[MODES][MAX_NODES];
	uint64_t walks[MODES][PAGE_SIZES], walk_lines[MODES][LEVELS];
	uint64_t elsewhere; /* ROM and other memory that no node owns */
};

struct vcpu {
	uint64_t *l1; /* the line that each place holds */
	struct cache l2, tlb;
	struct streams streams;
	struct counters now, base; /* base: at the last mark 0; readers subtract, the writer never stops */
} __attribute__((aligned(64)));

__attribute__((visibility("default"))) int qemu_plugin_version = HMK_PLUGIN_API;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
							       char **argv);

static struct {
	struct {
		uint64_t start, size;
		unsigned int node;
	} range[MAX_RANGES];
	unsigned int nr_ranges, nr_nodes, nr_vcpus;
	uint64_t l1_bytes, l2_bytes, llc_bytes, l1_mask, tlb_entries;
	struct cache llc;
	uint8_t *llc_lock; /* one per set */
	struct vcpu *vcpu;
	struct samples samples;
	uint64_t latency[MAX_NODES]; /* of a sample */
	struct pages pages;
	uint64_t *owner; /* the page that vCPU 0 last missed, by physical page; 0: none. Of vCPU 0's thread */
	const char *pages_prefix;
	pthread_mutex_t pages_lock; /* a mark on another vCPU reads while vCPU 0 counts */
	int out;
	unsigned int sequence;
	qemu_plugin_id_t id;
	bool translates_counting; /* since the first mark 0 */
	bool counting;	/* changed under `marking`, read by every callback */
	pthread_mutex_t marking;
} self = { .out = -1, .pages_lock = PTHREAD_MUTEX_INITIALIZER, .marking = PTHREAD_MUTEX_INITIALIZER };

/* The range that holds `paddr`, or -1. */
static int range_of(uint64_t paddr)
{
	unsigned int i;

	for (i = 0; i < self.nr_ranges; i++)
		if (paddr - self.range[i].start < self.range[i].size)
			return i;
	return -1;
}

/* The node that owns `paddr`, or -1. */
static int node_of(uint64_t paddr)
{
	int range = range_of(paddr);

	return range < 0 ? -1 : (int)self.range[range].node;
}

/* Whether what `v` does in `mode` is counted per page. */
static bool counts_pages(const struct vcpu *v, unsigned int mode)
{
	return self.pages_prefix && v == self.vcpu && mode == USER;
}

static void count_page_miss(uint64_t vaddr, uint64_t paddr, unsigned int node, bool streamed)
{
	const uint64_t *executed = self.vcpu->now.instructions;

	self.owner[paddr >> PAGE_SHIFT] = vaddr >> PAGE_SHIFT;
	pthread_mutex_lock(&self.pages_lock);
	pages_missed(&self.pages, vaddr >> PAGE_SHIFT,
		     (struct page_miss){ .node = node, .now = executed[USER] + executed[KERNEL], .streamed = streamed });
	pthread_mutex_unlock(&self.pages_lock);
}

static void count_page_write_back(uint64_t paddr)
{
	uint64_t page = self.owner[paddr >> PAGE_SHIFT];

	if (!page)
		return; /* the kernel's, or another vCPU's */
	pthread_mutex_lock(&self.pages_lock);
	pages_written_back(&self.pages, page);
	pthread_mutex_unlock(&self.pages_lock);
}

/* cache_use() of the LLC; a dirty line that leaves it is written back. */
static bool use_llc(struct vcpu *v, unsigned int mode, uint32_t line, uint32_t dirty)
{
	uint8_t *lock = &self.llc_lock[cache_set(&self.llc, line)];
	uint64_t paddr;
	uint32_t out;
	bool hit;
	int node;

	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		;
	hit = cache_use(&self.llc, line, LLC_WAYS, dirty, &out);
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
	if (out & DIRTY) {
		paddr = (uint64_t)cache_line(out) << LINE_SHIFT;
		node = node_of(paddr);
		if (node >= 0)
			v->now.written_back[mode][node]++;
		if (node >= 0 && counts_pages(v, mode))
			count_page_write_back(paddr);
	}
	return hit;
}

/* cache_use() of an L2; a dirty line that leaves it is the LLC's. */
static bool use_l2(struct vcpu *v, unsigned int mode, uint32_t line, uint32_t dirty)
{
	uint32_t out;
	bool hit = cache_use(&v->l2, line, L2_WAYS, dirty, &out);

	if (out & DIRTY)
		use_llc(v, mode, cache_line(out), DIRTY);
	return hit;
}

/* Where `line` was found; it is in L2 and, if it was not there before, in the LLC afterwards. */
static enum level fetch(struct vcpu *v, unsigned int mode, uint32_t line, uint32_t dirty)
{
	if (use_l2(v, mode, line, dirty))
		return IN_L2;
	return use_llc(v, mode, line, 0) ? IN_LLC : IN_MEMORY;
}

/* A walk reads the entry in the last table; of a small page's, the one before it too. Above, cores hold what they need. */
static void translate(struct vcpu *v, unsigned int mode, uint64_t vaddr, uint64_t paddr)
{
	bool huge = tlb_is_huge(vaddr, paddr);

	if (cache_hit(&v->tlb, tlb_entry(vaddr, paddr, huge ? HUGE_SHIFT : SMALL_SHIFT), TLB_WAYS))
		return;
	v->now.walks[mode][huge ? HUGE : SMALL]++;
	v->now.walk_lines[mode][fetch(v, mode, tlb_table_line(vaddr, HUGE_SHIFT), 0)]++;
	if (!huge)
		v->now.walk_lines[mode][fetch(v, mode, tlb_table_line(vaddr, SMALL_SHIFT), 0)]++;
}

static void forget_pages(void)
{
	pthread_mutex_lock(&self.pages_lock);
	pages_forget(&self.pages);
	pthread_mutex_unlock(&self.pages_lock);
}

static void write_pages(unsigned int sequence)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s-%u.bin", self.pages_prefix, sequence);
	f = fopen(name, "we");
	if (f) {
		pthread_mutex_lock(&self.pages_lock);
		pages_write(&self.pages, f);
		pthread_mutex_unlock(&self.pages_lock);
	}
	if (!f || fclose(f))
		perror(name);
}

static bool is_counting(void)
{
	return __atomic_load_n(&self.counting, __ATOMIC_RELAXED);
}

static void count_miss(struct vcpu *v, unsigned int mode, unsigned int kind, bool streamed, uint64_t vaddr,
		       uint64_t paddr)
{
	int range = range_of(paddr);
	unsigned int node;

	if (range < 0) {
		v->now.elsewhere++;
		return;
	}
	node = self.range[range].node;
	v->now.misses[mode][kind][node]++;
	v->now.streamed[mode][node] += streamed;
	if (self.samples.every && mode == USER && kind == READ)
		sample_load(&self.samples, &self.samples.vcpu[v - self.vcpu],
			    true_address(&self.samples, paddr, self.range[range].start), node);
	if (counts_pages(v, mode))
		count_page_miss(vaddr, paddr, node, streamed);
}

/* An access that L1 did not have. */
static void pass_l1(struct vcpu *v, unsigned int mode, bool store, uint64_t vaddr, uint64_t paddr)
{
	bool streamed = streams_reach(&v->streams, vaddr >> LINE_SHIFT);

	if (paddr >= MAX_PHYSICAL) {
		v->now.elsewhere++;
		return;
	}
	translate(v, mode, vaddr, paddr);
	switch (fetch(v, mode, paddr >> LINE_SHIFT, store ? DIRTY : 0)) {
	case IN_L2:
		v->now.l2_hits[mode]++;
		break;
	case IN_LLC:
		v->now.llc_hits[mode]++;
		break;
	default:
		count_miss(v, mode, store ? WRITE : READ, streamed, vaddr, paddr);
	}
}

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	struct vcpu *v = &self.vcpu[cpu];
	uint64_t line = vaddr >> LINE_SHIFT, *l1 = &v->l1[line & self.l1_mask], held, paddr;
	unsigned int mode = (uintptr_t)data;
	struct qemu_plugin_hwaddr *hw;
	bool store;

	if (!is_counting())
		return;
	v->now.accesses[mode]++;
	held = *l1;
	if (held == (line | WRITTEN))
		return;
	store = qemu_plugin_mem_is_store(info);
	if (held == line && !store)
		return;
	hw = qemu_plugin_get_hwaddr(info, vaddr);
	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return;
	*l1 = store ? line | WRITTEN : line;
	paddr = qemu_plugin_hwaddr_phys_addr(hw);
	if (held != line)
		pass_l1(v, mode, store, vaddr, paddr);
	else if (paddr < MAX_PHYSICAL)
		use_l2(v, mode, paddr >> LINE_SHIFT, DIRTY); /* the first store to a line that was read before */
}

static void on_block(unsigned int cpu, void *data)
{
	uintptr_t packed = (uintptr_t)data;

	if (is_counting())
		self.vcpu[cpu].now.instructions[packed & 1] += packed >> 1;
}

static void put_list(FILE *f, const char *name, const uint64_t *now, const uint64_t *then, unsigned int nr)
{
	unsigned int i;

	fprintf(f, "\"%s\":[", name);
	for (i = 0; i < nr; i++)
		fprintf(f, "%s%lu", i ? "," : "", now[i] - then[i]);
	fputs("],", f);
}

static void put_line(FILE *f, unsigned int mark)
{
	static const char *const mode_name[MODES] = { "user", "kernel" };
	unsigned int cpu, mode;

	fprintf(f, "{\"format\":%d,\"mark\":%u,\"seq\":%u,\"nodes\":%u,\"vcpus\":[", FORMAT, mark, self.sequence++,
		self.nr_nodes);
	for (cpu = 0; cpu < self.nr_vcpus; cpu++) {
		const struct counters *now = &self.vcpu[cpu].now, *then = &self.vcpu[cpu].base;

		fprintf(f, "%s{\"cpu\":%u,\"elsewhere\":%lu", cpu ? "," : "", cpu, now->elsewhere - then->elsewhere);
		for (mode = 0; mode < MODES; mode++) {
			fprintf(f, ",\"%s\":{", mode_name[mode]);
			put_list(f, "read", now->misses[mode][READ], then->misses[mode][READ], self.nr_nodes);
			put_list(f, "write", now->misses[mode][WRITE], then->misses[mode][WRITE], self.nr_nodes);
			put_list(f, "streamed", now->streamed[mode], then->streamed[mode], self.nr_nodes);
			put_list(f, "written_back", now->written_back[mode], then->written_back[mode], self.nr_nodes);
			put_list(f, "walks", now->walks[mode], then->walks[mode], PAGE_SIZES);
			put_list(f, "walk_lines", now->walk_lines[mode], then->walk_lines[mode], LEVELS);
			fprintf(f, "\"l2_hits\":%lu,\"llc_hits\":%lu,\"accesses\":%lu,\"instructions\":%lu}",
				now->l2_hits[mode] - then->l2_hits[mode],
				now->llc_hits[mode] - then->llc_hits[mode],
				now->accesses[mode] - then->accesses[mode],
				now->instructions[mode] - then->instructions[mode]);
		}
		fputc('}', f);
	}
	fputs("]}\n", f);
}

/* One write per line, so that a reader never sees half a line followed by another. */
static void write_mark(unsigned int mark)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return;
	put_line(f, mark);
	fclose(f);
	if (write(self.out, text, size) != (ssize_t)size)
		perror("hmk-lab: marks");
	free(text);
}

static void empty_caches(void)
{
	unsigned int cpu;

	cache_empty(&self.llc);
	for (cpu = 0; cpu < self.nr_vcpus; cpu++) {
		memset(self.vcpu[cpu].l1, 0, self.l1_bytes >> LINE_SHIFT << 3);
		memset(&self.vcpu[cpu].streams, 0, sizeof(self.vcpu[cpu].streams));
		cache_empty(&self.vcpu[cpu].l2);
		cache_empty(&self.vcpu[cpu].tlb);
	}
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
static void on_exit_line(qemu_plugin_id_t id, void *data);

static void register_callbacks(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_line, NULL);
}

static void on_mark(unsigned int cpu, void *data)
{
	unsigned int mark = (uintptr_t)data, i;
	bool first = mark == 0 && !__atomic_exchange_n(&self.translates_counting, true, __ATOMIC_RELAXED);

	(void)cpu;
	if (first)
		qemu_plugin_reset(self.id, register_callbacks); /* forgets all callbacks first */
	pthread_mutex_lock(&self.marking);
	if (mark == 0) {
		if (!self.counting)
			empty_caches();	/* nobody looks at them before the flag is set */
		if (self.pages_prefix)
			forget_pages();
		if (self.samples.every)
			samples_forget(&self.samples);
		for (i = 0; i < self.nr_vcpus; i++)
			self.vcpu[i].base = self.vcpu[i].now;
	} else {
		if (self.pages_prefix && mark == PAGES_MARK)
			write_pages(self.sequence); /* before the line that announces it */
		if (self.samples.every)
			fflush(self.samples.file);
		write_mark(mark);
	}
	if (mark == 0 || mark == STOP_MARK)
		__atomic_store_n(&self.counting, mark == 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&self.marking);
}

/* The number of the mark that `insn` is, or -1. */
static int mark_of(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[8];
	uint32_t displacement;

	if (qemu_plugin_insn_size(insn) != sizeof(bytes))
		return -1;
#if HMK_PLUGIN_API >= 3
	qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
#else
	memcpy(bytes, qemu_plugin_insn_data(insn), sizeof(bytes));
#endif
	memcpy(&displacement, bytes + 4, sizeof(displacement));
	if (memcmp(bytes, "\x0f\x1f\x84\x00", 4) || displacement >> 8 != HMK_MARK_MAGIC || (displacement & 0xff) > 15)
		return -1;
	return displacement & 0xff;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	uintptr_t mode = qemu_plugin_tb_vaddr(tb) >> 63 ? KERNEL : USER;
	bool counting = __atomic_load_n(&self.translates_counting, __ATOMIC_RELAXED);

	(void)id;
	if (counting)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(n << 1 | mode));
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		int mark = mark_of(insn);

		if (mark >= 0)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)mark);
		if (counting)
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW, (void *)mode);
	}
}

static void on_exit_line(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	pthread_mutex_lock(&self.marking);
	write_mark(255);
	pthread_mutex_unlock(&self.marking);
}

static int parse_range(const char *arg)
{
	unsigned int *node = &self.range[self.nr_ranges].node;

	if (self.nr_ranges == MAX_RANGES || sscanf(arg, "%u:%lx:%lx", node, &self.range[self.nr_ranges].start,
						   &self.range[self.nr_ranges].size) != 3 || *node >= MAX_NODES)
		return 1;
	if (self.nr_nodes <= *node)
		self.nr_nodes = *node + 1;
	self.nr_ranges++;
	return 0;
}

static int parse_latency(const char *arg)
{
	unsigned int node;
	uint64_t ns;

	if (sscanf(arg, "%u:%lu", &node, &ns) != 2 || node >= MAX_NODES)
		return 1;
	self.latency[node] = ns;
	return 0;
}

/* 0 if `arg` is understood. */
static int parse(const char *arg)
{
	if (!strncmp(arg, "out=", 4)) {
		self.out = open(arg + 4, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		return self.out < 0;
	}
	if (!strncmp(arg, "node=", 5))
		return parse_range(arg + 5);
	if (!strncmp(arg, "vcpus=", 6))
		return (self.nr_vcpus = atoi(arg + 6)) - 1 >= MAX_VCPUS;
	if (!strncmp(arg, "l1=", 3))
		return !(self.l1_bytes = strtoull(arg + 3, NULL, 10)) || self.l1_bytes & (self.l1_bytes - 1);
	if (!strncmp(arg, "l2=", 3))
		return !(self.l2_bytes = strtoull(arg + 3, NULL, 10));
	if (!strncmp(arg, "llc=", 4))
		return !(self.llc_bytes = strtoull(arg + 4, NULL, 10));
	if (!strncmp(arg, "tlb=", 4))
		return !(self.tlb_entries = strtoull(arg + 4, NULL, 10));
	if (!strncmp(arg, "pages=", 6))
		return !(self.pages_prefix = strdup(arg + 6));
	if (!strncmp(arg, "samples=", 8))
		return !(self.samples.file = fopen(arg + 8, "we"));
	if (!strncmp(arg, "every=", 6))
		return !(self.samples.every = strtoull(arg + 6, NULL, 10));
	if (!strncmp(arg, "low=", 4))
		return !(self.samples.low = strtoull(arg + 4, NULL, 16));
	if (!strncmp(arg, "latency=", 8))
		return parse_latency(arg + 8);
	return 1;
}

/* 0 if there was memory for all. */
static int allocate(void)
{
	unsigned int cpu;

	self.l1_mask = (self.l1_bytes >> LINE_SHIFT) - 1;
	self.llc = cache_new(self.llc_bytes, LLC_WAYS);
	self.llc_lock = calloc(self.llc.nr_sets, 1);
	self.vcpu = aligned_alloc(64, self.nr_vcpus * sizeof(*self.vcpu));
	if (!self.llc.tags || !self.llc_lock || !self.vcpu)
		return 1;
	memset(self.vcpu, 0, self.nr_vcpus * sizeof(*self.vcpu));
	for (cpu = 0; cpu < self.nr_vcpus; cpu++) {
		self.vcpu[cpu].l1 = calloc(self.l1_mask + 1, sizeof(*self.vcpu[cpu].l1));
		self.vcpu[cpu].l2 = cache_new(self.l2_bytes, L2_WAYS);
		self.vcpu[cpu].tlb = cache_new(self.tlb_entries << LINE_SHIFT, TLB_WAYS);
		if (!self.vcpu[cpu].l1 || !self.vcpu[cpu].l2.tags || !self.vcpu[cpu].tlb.tags)
			return 1;
	}
	if (self.pages_prefix) {
		pages_grow(&self.pages, 1 << 16);
		self.owner = calloc(MAX_PHYSICAL >> PAGE_SHIFT, sizeof(*self.owner)); /* the host gives what is written */
	}
	self.samples.latency = self.latency;
	return (self.pages_prefix && !self.owner) || (self.samples.every && samples_begin(&self.samples, self.nr_vcpus));
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (parse(argv[i])) {
			fprintf(stderr, "hmk-lab: plugin argument '%s' is not understood\n", argv[i]);
			return 1;
		}
	}
	if (!self.nr_vcpus || self.l1_bytes >> LINE_SHIFT == 0 || !self.l2_bytes || !self.llc_bytes ||
	    !self.tlb_entries || self.out < 0 || !self.samples.file != !self.samples.every || allocate()) {
		fprintf(stderr, "hmk-lab: plugin arguments are missing, or memory for what they ask for\n");
		return 1;
	}
	self.id = id;
	register_callbacks(id);
	return 0;
}

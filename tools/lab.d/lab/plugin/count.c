// SPDX-License-Identifier: MIT
/*
 * Counts the guest's memory accesses per NUMA node, behind modelled caches.
 *
 * An access first meets its vCPU's L1 (a direct-mapped filter by virtual line,
 * so that a hit costs next to nothing), then its L2, then one LLC that all
 * vCPUs share, both by physical line, so that a page that migrates is cold
 * again. What misses all is charged to the node that owns the physical
 * address. User or kernel is the half the *instruction* lies in, decided once
 * at translation: copy_to_user counts as kernel.
 *
 * Counting costs speed, so it starts at the first mark 0 and rests from mark
 * 15 to the next mark 0. Until that first mark nothing but marks is called back
 * for; qemu_plugin_reset() then has everything translated anew. Only then: a
 * second reset now and then hung QEMU 7.2, so a flag switches what follows. The
 * caches are empty when counting begins.
 *
 * Arguments: out=FILE vcpus=N node=NODE:START:SIZE (hexadecimal bytes, once per
 * range of addresses) l1=BYTES (a power of two) l2=BYTES llc=BYTES pages=PREFIX.
 *
 * With pages=, user-mode misses of vCPU 0 are also counted per virtual 4 KiB
 * page; mark 14 writes those since the last mark 0 to PREFIX-<seq>.bin, seq
 * being its line's: little-endian pairs of 64 bits, page (address >> 12), count.
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

#define MAX_NODES 16
#define MAX_RANGES (2 * MAX_NODES)
#define MAX_VCPUS 64
#define MAX_PHYSICAL (UINT32_MAX * (1ull << LINE_SHIFT)) /* what a tag can tell apart */
#define PAGE_SHIFT 12
#define PAGES_MARK 14
#define STOP_MARK 15

enum { USER, KERNEL, MODES };
enum { READ, WRITE, KINDS };

/* One vCPU's; written by its own thread only, so plain increments are exact. */
struct counters {
	uint64_t instructions[MODES], accesses[MODES], l2_hits[MODES], llc_hits[MODES];
	uint64_t misses[MODES][KINDS][MAX_NODES];
	uint64_t elsewhere; /* ROM and other memory that no node owns */
};

struct vcpu {
	uint64_t *l1; /* the line that each place holds */
	struct cache l2;
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
	uint64_t l1_bytes, l2_bytes, llc_bytes, l1_mask;
	struct cache llc;
	uint8_t *llc_lock; /* one per set */
	struct vcpu *vcpu;
	struct pages pages;
	const char *pages_prefix;
	pthread_mutex_t pages_lock; /* a mark on another vCPU reads while vCPU 0 counts */
	int out;
	unsigned int sequence;
	qemu_plugin_id_t id;
	bool translates_counting; /* since the first mark 0 */
	bool counting;	/* changed under `marking`, read by every callback */
	pthread_mutex_t marking;
} self = { .out = -1, .pages_lock = PTHREAD_MUTEX_INITIALIZER, .marking = PTHREAD_MUTEX_INITIALIZER };

static bool llc_hit(uint32_t line)
{
	uint8_t *lock = &self.llc_lock[cache_set(&self.llc, line)];
	bool hit;

	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		;
	hit = cache_hit(&self.llc, line, LLC_WAYS);
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
	return hit;
}

static void count_page(uint64_t page)
{
	pthread_mutex_lock(&self.pages_lock);
	pages_count(&self.pages, page);
	pthread_mutex_unlock(&self.pages_lock);
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

static void count_miss(unsigned int cpu, unsigned int mode, unsigned int kind, uint64_t vaddr, uint64_t paddr)
{
	struct counters *now = &self.vcpu[cpu].now;
	unsigned int i;

	for (i = 0; i < self.nr_ranges && paddr - self.range[i].start >= self.range[i].size; i++)
		;
	if (i == self.nr_ranges) {
		now->elsewhere++;
		return;
	}
	now->misses[mode][kind][self.range[i].node]++;
	if (self.pages_prefix && cpu == 0 && mode == USER)
		count_page(vaddr >> PAGE_SHIFT);
}

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	struct vcpu *v = &self.vcpu[cpu];
	uint64_t line = vaddr >> LINE_SHIFT, *l1 = &v->l1[line & self.l1_mask], paddr;
	unsigned int mode = (uintptr_t)data;
	struct qemu_plugin_hwaddr *hw;

	if (!is_counting())
		return;
	v->now.accesses[mode]++;
	if (*l1 == line)
		return;
	hw = qemu_plugin_get_hwaddr(info, vaddr);
	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return;
	*l1 = line;
	paddr = qemu_plugin_hwaddr_phys_addr(hw);
	if (paddr >= MAX_PHYSICAL)
		v->now.elsewhere++;
	else if (cache_hit(&v->l2, paddr >> LINE_SHIFT, L2_WAYS))
		v->now.l2_hits[mode]++;
	else if (llc_hit(paddr >> LINE_SHIFT))
		v->now.llc_hits[mode]++;
	else
		count_miss(cpu, mode, qemu_plugin_mem_is_store(info) ? WRITE : READ, vaddr, paddr);
}

static void on_block(unsigned int cpu, void *data)
{
	uintptr_t packed = (uintptr_t)data;

	if (is_counting())
		self.vcpu[cpu].now.instructions[packed & 1] += packed >> 1;
}

static void put_list(FILE *f, const char *name, const uint64_t *now, const uint64_t *then)
{
	unsigned int i;

	fprintf(f, "\"%s\":[", name);
	for (i = 0; i < self.nr_nodes; i++)
		fprintf(f, "%s%lu", i ? "," : "", now[i] - then[i]);
	fputs("],", f);
}

static void put_line(FILE *f, unsigned int mark)
{
	static const char *const mode_name[MODES] = { "user", "kernel" };
	unsigned int cpu, mode;

	fprintf(f, "{\"mark\":%u,\"seq\":%u,\"nodes\":%u,\"vcpus\":[", mark, self.sequence++, self.nr_nodes);
	for (cpu = 0; cpu < self.nr_vcpus; cpu++) {
		const struct counters *now = &self.vcpu[cpu].now, *then = &self.vcpu[cpu].base;

		fprintf(f, "%s{\"cpu\":%u,\"elsewhere\":%lu", cpu ? "," : "", cpu, now->elsewhere - then->elsewhere);
		for (mode = 0; mode < MODES; mode++) {
			fprintf(f, ",\"%s\":{", mode_name[mode]);
			put_list(f, "read", now->misses[mode][READ], then->misses[mode][READ]);
			put_list(f, "write", now->misses[mode][WRITE], then->misses[mode][WRITE]);
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
		cache_empty(&self.vcpu[cpu].l2);
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
		for (i = 0; i < self.nr_vcpus; i++)
			self.vcpu[i].base = self.vcpu[i].now;
	} else {
		if (self.pages_prefix && mark == PAGES_MARK)
			write_pages(self.sequence); /* before the line that announces it */
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
	if (!strncmp(arg, "pages=", 6))
		return !(self.pages_prefix = strdup(arg + 6));
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
		if (!self.vcpu[cpu].l1 || !self.vcpu[cpu].l2.tags)
			return 1;
	}
	if (self.pages_prefix)
		pages_grow(&self.pages, 1 << 16);
	return 0;
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
	if (!self.nr_vcpus || self.l1_bytes >> LINE_SHIFT == 0 || !self.l2_bytes || !self.llc_bytes || self.out < 0 ||
	    allocate()) {
		fprintf(stderr, "hmk-lab: plugin arguments are missing, or memory for what they ask for\n");
		return 1;
	}
	self.id = id;
	register_callbacks(id);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * Counts the guest's memory accesses per NUMA node, behind a modelled cache.
 *
 * An access first meets a filter per vCPU (keyed by virtual line, like an L1),
 * then one LLC that all vCPUs share (keyed by physical line, so a page that
 * migrates is cold again). What misses both is charged to the node that owns
 * the physical address. User or kernel is the half the *instruction* lies in,
 * decided once at translation: copy_to_user counts as kernel.
 *
 * Counting costs speed, so it starts at the first mark 0 and rests from mark
 * 15 to the next mark 0. A flag switches it: to translate without callbacks by
 * qemu_plugin_reset() would be faster still, but a second reset now and then
 * hung QEMU 7.2. The cache model is empty when counting begins.
 *
 * Arguments: out=FILE vcpus=N node=START:SIZE (hexadecimal bytes, once per
 * node, in order) llc=BYTES (default 4 MiB) pages=PREFIX.
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

#include "mark.h"
#include "qemu_plugin_api.h"

#define MAX_NODES 16
#define MAX_VCPUS 64
#define LINE_SHIFT 6
#define L1_LINES 512 /* 32 KiB, direct-mapped: a filter, a conflict only costs a look into the LLC */
#define LLC_WAYS 16
#define PAGE_SHIFT 12
#define PAGES_MARK 14
#define STOP_MARK 15

enum { USER, KERNEL, MODES };
enum { READ, WRITE, KINDS };

/* One vCPU's; written by its own thread only, so plain increments are exact. */
struct vcpu {
	uint64_t l1[L1_LINES];
	uint64_t instructions[MODES], accesses[MODES], llc_hits[MODES];
	uint64_t misses[MODES][KINDS][MAX_NODES];
	uint64_t elsewhere; /* ROM and other memory that no node owns */
} __attribute__((aligned(64)));

/* Ways are kept in order of use, latest first: true LRU. Tag 0 is "empty". */
struct llc_set {
	uint64_t tag[LLC_WAYS];
	int lock;
} __attribute__((aligned(64)));

/* A count of 0 is a free place. */
struct page_count {
	uint64_t page, count;
};

__attribute__((visibility("default"))) int qemu_plugin_version = HMK_PLUGIN_API;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
							       char **argv);

static struct {
	struct {
		uint64_t start, size;
	} node[MAX_NODES];
	unsigned int nr_nodes, nr_vcpus;
	uint64_t llc_bytes, nr_sets;
	struct llc_set *sets;
	struct vcpu *vcpu;
	struct vcpu *base; /* the counters at the last mark 0; readers subtract, writers never stop */
	struct {
		struct page_count *table; /* open addressing, a power of two of entries */
		uint64_t size, used;
		const char *prefix;
		pthread_mutex_t lock; /* a mark on another vCPU reads while vCPU 0 counts */
	} pages;
	int out;
	unsigned int sequence;
	bool counting;	/* changed under `marking`, read by every callback */
	pthread_mutex_t marking;
} self = { .llc_bytes = 4 << 20, .out = -1, .pages.lock = PTHREAD_MUTEX_INITIALIZER, .marking = PTHREAD_MUTEX_INITIALIZER };

static bool llc_hit(uint64_t line)
{
	/* Multiplicative hash: node bases are powers of two and would all meet in the same sets. */
	struct llc_set *set = &self.sets[((line * 0x9e3779b97f4a7c15ull) >> 24) % self.nr_sets];
	uint64_t tag = line + 1;
	unsigned int way;
	bool hit;

	while (__atomic_exchange_n(&set->lock, 1, __ATOMIC_ACQUIRE))
		;
	for (way = 0; way < LLC_WAYS - 1 && set->tag[way] != tag; way++)
		;
	hit = set->tag[way] == tag;
	memmove(&set->tag[1], &set->tag[0], way * sizeof(tag));
	set->tag[0] = tag;
	__atomic_store_n(&set->lock, 0, __ATOMIC_RELEASE);
	return hit;
}

static struct page_count *page_place(uint64_t page)
{
	uint64_t i = page * 0x9e3779b97f4a7c15ull >> 20;

	while (self.pages.table[i & (self.pages.size - 1)].count &&
	       self.pages.table[i & (self.pages.size - 1)].page != page)
		i++;
	return &self.pages.table[i & (self.pages.size - 1)];
}

static void grow_pages(uint64_t size)
{
	struct page_count *old = self.pages.table;
	uint64_t i, old_size = self.pages.size;

	self.pages.table = calloc(size, sizeof(*old));
	if (!self.pages.table) {
		fprintf(stderr, "hmk-lab: no memory to count %lu pages\n", size);
		abort(); /* a lost guest is seen, a lost count is not */
	}
	self.pages.size = size;
	for (i = 0; i < old_size; i++)
		if (old[i].count)
			*page_place(old[i].page) = old[i];
	free(old);
}

static void count_page(uint64_t page)
{
	struct page_count *place;

	pthread_mutex_lock(&self.pages.lock);
	place = page_place(page);
	if (!place->count++) {
		place->page = page;
		if (++self.pages.used > self.pages.size / 2)
			grow_pages(2 * self.pages.size);
	}
	pthread_mutex_unlock(&self.pages.lock);
}

static void forget_pages(void)
{
	pthread_mutex_lock(&self.pages.lock);
	memset(self.pages.table, 0, self.pages.size * sizeof(*self.pages.table));
	self.pages.used = 0;
	pthread_mutex_unlock(&self.pages.lock);
}

static void write_pages(unsigned int sequence)
{
	char name[4096];
	uint64_t i;
	FILE *f;

	snprintf(name, sizeof(name), "%s-%u.bin", self.pages.prefix, sequence);
	f = fopen(name, "we");
	if (!f) {
		perror(name);
		return;
	}
	pthread_mutex_lock(&self.pages.lock);
	for (i = 0; i < self.pages.size; i++)
		if (self.pages.table[i].count)
			fwrite(&self.pages.table[i], sizeof(self.pages.table[i]), 1, f);
	pthread_mutex_unlock(&self.pages.lock);
	if (fclose(f))
		perror(name);
}

static bool is_counting(void)
{
	return __atomic_load_n(&self.counting, __ATOMIC_RELAXED);
}

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	struct vcpu *v = &self.vcpu[cpu];
	unsigned int mode = (uintptr_t)data, kind, i;
	uint64_t line = vaddr >> LINE_SHIFT, paddr;
	struct qemu_plugin_hwaddr *hw;

	if (!is_counting())
		return;
	v->accesses[mode]++;
	if (v->l1[line % L1_LINES] == line)
		return;
	hw = qemu_plugin_get_hwaddr(info, vaddr);
	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return;
	v->l1[line % L1_LINES] = line;
	paddr = qemu_plugin_hwaddr_phys_addr(hw);
	if (llc_hit(paddr >> LINE_SHIFT)) {
		v->llc_hits[mode]++;
		return;
	}
	kind = qemu_plugin_mem_is_store(info) ? WRITE : READ;
	for (i = 0; i < self.nr_nodes; i++) {
		if (paddr - self.node[i].start < self.node[i].size) {
			v->misses[mode][kind][i]++;
			if (self.pages.prefix && cpu == 0 && mode == USER)
				count_page(vaddr >> PAGE_SHIFT);
			return;
		}
	}
	v->elsewhere++;
}

static void on_block(unsigned int cpu, void *data)
{
	uintptr_t packed = (uintptr_t)data;

	if (is_counting())
		self.vcpu[cpu].instructions[packed & 1] += packed >> 1;
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
		const struct vcpu *now = &self.vcpu[cpu], *then = &self.base[cpu];

		fprintf(f, "%s{\"cpu\":%u,\"elsewhere\":%lu", cpu ? "," : "", cpu, now->elsewhere - then->elsewhere);
		for (mode = 0; mode < MODES; mode++) {
			fprintf(f, ",\"%s\":{", mode_name[mode]);
			put_list(f, "read", now->misses[mode][READ], then->misses[mode][READ]);
			put_list(f, "write", now->misses[mode][WRITE], then->misses[mode][WRITE]);
			fprintf(f, "\"llc_hits\":%lu,\"accesses\":%lu,\"instructions\":%lu}",
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

static void empty_cache(void)
{
	unsigned int cpu;

	memset(self.sets, 0, self.nr_sets * sizeof(*self.sets));
	for (cpu = 0; cpu < self.nr_vcpus; cpu++)
		memset(self.vcpu[cpu].l1, 0, sizeof(self.vcpu[cpu].l1));
}

static void on_mark(unsigned int cpu, void *data)
{
	unsigned int mark = (uintptr_t)data;

	(void)cpu;
	pthread_mutex_lock(&self.marking);
	if (mark == 0 && !self.counting)
		empty_cache();	/* nobody looks at it before the flag is set */
	if (self.pages.prefix && mark == 0)
		forget_pages();
	if (self.pages.prefix && mark == PAGES_MARK)
		write_pages(self.sequence); /* before the line that announces it */
	if (mark == 0)
		memcpy(self.base, self.vcpu, self.nr_vcpus * sizeof(*self.base));
	else
		write_mark(mark);
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

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(n << 1 | mode));
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		int mark = mark_of(insn);

		if (mark >= 0)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)mark);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
						 (void *)mode);
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

static int parse(const char *arg)
{
	if (!strncmp(arg, "out=", 4)) {
		self.out = open(arg + 4, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		return self.out < 0;
	}
	if (!strncmp(arg, "node=", 5) && self.nr_nodes < MAX_NODES)
		return sscanf(arg + 5, "%lx:%lx", &self.node[self.nr_nodes].start,
			      &self.node[self.nr_nodes].size) != 2 || !++self.nr_nodes;
	if (!strncmp(arg, "vcpus=", 6))
		return (self.nr_vcpus = atoi(arg + 6)) - 1 >= MAX_VCPUS;
	if (!strncmp(arg, "llc=", 4))
		return !(self.llc_bytes = strtoull(arg + 4, NULL, 10));
	if (!strncmp(arg, "pages=", 6))
		return !(self.pages.prefix = strdup(arg + 6));
	return 1;
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
	self.nr_sets = self.llc_bytes >> LINE_SHIFT;
	self.nr_sets = self.nr_sets < LLC_WAYS ? 1 : self.nr_sets / LLC_WAYS;
	self.sets = aligned_alloc(64, self.nr_sets * sizeof(*self.sets));
	self.vcpu = aligned_alloc(64, MAX_VCPUS * sizeof(*self.vcpu));
	self.base = aligned_alloc(64, MAX_VCPUS * sizeof(*self.base));
	if (!self.sets || !self.vcpu || !self.base || !self.nr_vcpus || self.out < 0)
		return 1;
	memset(self.vcpu, 0, MAX_VCPUS * sizeof(*self.vcpu));
	memset(self.base, 0, MAX_VCPUS * sizeof(*self.base));
	if (self.pages.prefix)
		grow_pages(1 << 16);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_line, NULL);
	return 0;
}

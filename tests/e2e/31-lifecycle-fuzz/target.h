/* SPDX-License-Identifier: MIT */
/*
 * A program that keeps changing its address space and knows what each of its
 * pages must hold: 8 words spread over the page, derived from the page's tag.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared.h"

#define PAGE		4096ul
#define HUGE_PAGES	512u
#define WORDS		8u
#define CHILD_STEPS	40u
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

struct mapping {
	char *at;			/* NULL: unused */
	uint32_t pages;
	int is_shared;			/* survives DONTNEED, seen by a forked child */
	uint32_t tag[MAX_PAGES];	/* 0: never written, reads zero */
};

static struct mapping maps[MAPPINGS];
static uint32_t next_tag = 1;
static struct slot *mine;
static int is_child;

static uint64_t *word(char *page, uint32_t tag, unsigned int k)
{
	return (uint64_t *)page + k * (PAGE / 8 / WORDS) + tag % (PAGE / 8 / WORDS);
}

static uint64_t value(uint32_t tag, unsigned int k)
{
	return tag ? tag * 0x9e3779b97f4a7c15ull + k : 0;
}

static void publish(struct mapping *m)
{
	if (!mine)
		return;
	mine->at[m - maps].start = (uint64_t)m->at;
	mine->at[m - maps].length = m->at ? m->pages * PAGE : 0;
}

static void write_page(struct mapping *m, uint32_t i)
{
	m->tag[i] = next_tag++;
	for (unsigned int k = 0; k < WORDS; k++)
		*word(m->at + i * PAGE, m->tag[i], k) = value(m->tag[i], k);
}

static void verify(struct mapping *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		for (unsigned int k = 0; k < WORDS; k++) {
			const uint64_t seen = *word(m->at + i * PAGE, m->tag[i], k);

			if (seen != value(m->tag[i], k))
				die("page %p of %s holds %#lx, not %#lx (tag %u)",
				    (void *)(m->at + i * PAGE), is_child ? "a child" : "a target",
				    seen, value(m->tag[i], k), m->tag[i]);
		}
	}
}

static void verify_all(void)
{
	for (struct mapping *m = maps; m < maps + MAPPINGS; m++) {
		if (m->at)
			verify(m, 0, m->pages);
	}
}

static struct mapping *any(int is_used)
{
	const unsigned int first = (unsigned int)below(MAPPINGS);

	for (unsigned int n = 0; n < MAPPINGS; n++) {
		struct mapping *m = &maps[(first + n) % MAPPINGS];

		if (!!m->at == is_used)
			return m;
	}
	return NULL;
}

/* A stretch of a mapping, half-open, at least one page. */
static void stretch(const struct mapping *m, uint32_t *from, uint32_t *to)
{
	*from = (uint32_t)below(m->pages);
	*to = *from + 1 + (uint32_t)below(m->pages - *from);
	if (!below(4))
		*from = 0, *to = m->pages;
}

static void do_map(void)
{
	struct mapping *m = any(0);
	const int is_huge = !below(3);

	if (!m)
		return;
	m->pages = is_huge ? MAX_PAGES : 1 + (uint32_t)below(MAX_PAGES / 4);
	m->is_shared = !below(5);
	m->at = mmap(NULL, m->pages * PAGE, PROT_READ | PROT_WRITE,
		     (m->is_shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	if (m->at == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	if (is_huge)
		madvise(m->at, m->pages * PAGE, MADV_HUGEPAGE);
	memset(m->tag, 0, sizeof(m->tag));
	for (uint32_t i = 0; i < m->pages; i++) {
		if (below(4))
			write_page(m, i);
	}
	publish(m);
	did(DID_map);
}

/* Head, tail, middle or all of it. A middle without a free entry for the rest is left. */
static void do_unmap(struct mapping *m)
{
	struct mapping *rest;
	uint32_t from, to;

	stretch(m, &from, &to);
	rest = from && to < m->pages ? any(0) : NULL;
	if (from && to < m->pages) {
		if (!rest)
			return;
		*rest = (struct mapping){ .at = m->at + to * PAGE, .pages = m->pages - to,
					  .is_shared = m->is_shared };
		memcpy(rest->tag, m->tag + to, rest->pages * sizeof(*m->tag));
		publish(rest);
	}
	munmap(m->at + from * PAGE, (to - from) * PAGE);
	if (from) {
		m->pages = from;
	} else if (to < m->pages) {
		m->at += to * PAGE;
		m->pages -= to;
		memmove(m->tag, m->tag + to, m->pages * sizeof(*m->tag));
	} else {
		m->at = NULL;
	}
	publish(m);
	did(DID_unmap);
}

/* Grow, shrink or move. Over a border of two VMAs the kernel refuses with EFAULT. */
static void do_remap(struct mapping *m)
{
	const uint32_t most = m->is_shared ? m->pages : MAX_PAGES;
	const uint32_t pages = below(3) ? 1 + (uint32_t)below(most) : m->pages;
	const int flags = MREMAP_MAYMOVE | (pages == m->pages ? MREMAP_FIXED : 0);
	char *to = NULL, *at;

	if (flags & MREMAP_FIXED)
		to = mmap(NULL, pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	at = mremap(m->at, m->pages * PAGE, pages * PAGE, flags, to);
	if (at == MAP_FAILED) {
		if (errno != EFAULT)
			die("mremap: %s", strerror(errno));
		if (to)
			munmap(to, pages * PAGE);
		return;
	}
	for (uint32_t i = m->pages; i < pages; i++)
		m->tag[i] = 0;
	m->at = at;
	m->pages = pages;
	publish(m);
	did(DID_remap);
}

static void do_protect(struct mapping *m)
{
	uint32_t from, to;

	stretch(m, &from, &to);
	mprotect(m->at + from * PAGE, (to - from) * PAGE, PROT_READ);
	verify(m, from, to);
	if (mprotect(m->at + from * PAGE, (to - from) * PAGE, PROT_READ | PROT_WRITE))
		die("mprotect: %s", strerror(errno));
	did(DID_protect);
}

static void do_advise(struct mapping *m, int advice, enum kind kind)
{
	uint32_t from, to;

	stretch(m, &from, &to);
	if (madvise(m->at + from * PAGE, (to - from) * PAGE, advice) && advice == MADV_DONTNEED)
		die("MADV_DONTNEED: %s", strerror(errno));
	for (uint32_t i = from; i < to && advice == MADV_DONTNEED && !m->is_shared; i++)
		m->tag[i] = 0;
	did(kind);
}

static void do_write(struct mapping *m)
{
	uint32_t from, to;

	stretch(m, &from, &to);
	for (uint32_t i = from; i < to; i++)
		write_page(m, i);
	did(DID_write);
}

static void change(void)
{
	struct mapping *m = any(1);

	if (!m || !below(6)) {
		do_map();
		return;
	}
	switch (below(12)) {
	case 0: do_unmap(m); break;
	case 1: do_remap(m); break;
	case 2: do_protect(m); break;
	case 3: do_advise(m, MADV_DONTNEED, DID_dontneed); break;
	case 4: do_advise(m, MADV_HUGEPAGE, DID_hugepage); break;
	case 5: do_advise(m, MADV_NOHUGEPAGE, DID_nohugepage); break;
	case 6: do_advise(m, MADV_PAGEOUT, DID_pageout); break;
	case 7: do_advise(m, MADV_COLLAPSE, DID_collapse); break;
	case 8: verify(m, 0, m->pages); did(DID_verify); break;
	default: do_write(m); break;
	}
}

/* Parent and child go on changing, each its own copy; the child is a target, too. */
static void do_fork(struct slot *childs)
{
	int status;
	const pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		is_child = 1;
		rng ^= 0x9e3779b97f4a7c15ull;
		mine = childs;
		for (struct mapping *m = maps; m < maps + MAPPINGS; m++) {
			publish(m);
			if (m->is_shared)
				m->at = NULL;	/* stays mapped; the parent writes it */
		}
		mine->pid = getpid();
	}
	for (unsigned int n = 0; n < CHILD_STEPS; n++)
		change();
	verify_all();
	if (!pid)
		_exit(0);
	if (waitpid(pid, &status, 0) != pid || status)
		die("a forked child ended with status %#x", status);
	did(DID_fork);
}

/* Until told to stop, or at random by exit or exec. @slot's pid is set by who forked us. */
static void run_target(unsigned int slot, char *self, char *shared_fd)
{
	char number[16], seed[32];

	mine = &sh->slots[slot];
	memset((void *)mine->at, 0, sizeof(mine->at));
	while (!sh->stop) {
		const uint64_t dice = below(1000);

		if (dice < 10) {
			do_fork(&sh->slots[TARGETS + slot]);
		} else if (dice < 13) {
			verify_all();
			did(DID_exec);
			snprintf(number, sizeof(number), "%u", slot);
			snprintf(seed, sizeof(seed), "%lu", rng | 1);
			execl(self, self, "target", number, seed, shared_fd, NULL);
			die("exec: %s", strerror(errno));
		} else if (dice < 16) {
			did(DID_exit);
			break;
		} else {
			change();
		}
	}
	verify_all();
	_exit(0);
}

#endif

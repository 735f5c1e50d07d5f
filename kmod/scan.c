// SPDX-License-Identifier: GPL-2.0-only
/*
 * Was this leaf accessed? Clears the accessed bits of the chosen samples and looks
 * at them again (HK-5 .. HK-7). The kernel's own knowledge of "young" is kept in the
 * folio where it has room for it, so that reclaim is not misled.
 */
#include <linux/mm.h>
#include <hmk/core/quota.h>
#include <hmk/core/region.h>

#include "session.h"
#include "sweep.h"
#include "walk.h"

#define CHOICES		4	/* pages tried before a sample is given up */
#define LOOK_EVERY	8u	/* regions or samples between two looks at the clock */
#define UNREAD		0xff	/* count of a sample whose group has not been read to its end */

/* splitmix64 (Vigna): all the randomness the choice of samples needs. */
u64 hmk_random(struct hmk_profile *p)
{
	u64 z = (p->rng += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* While samples are watched: the region whose samples come so many regions after the first. */
struct hmk_region *hmk_scan_region(const struct hmk_profile *p, u32 n)
{
	const u32 first = p->watch.first, behind = p->now.nr - first;

	return &p->now.at[n < behind ? first + n : n - behind];
}

/*
 * A present page of the region: in the piece whose turn it is, else anywhere.
 * Return: false when none was met.
 */
static bool scan_choose_one(struct hmk_profile *p, const struct hmk_region *r, u32 k,
			    struct hmk_sample *sample)
{
	struct hmk_hold *h = &p->hold;
	struct hmk_leaf leaf;
	bool present;
	int i;

	for (i = 0; i < CHOICES; i++) {
		u64 addr = hmk_region_sample(r, &p->windows.ladder, k, r->quota,
					     i ? hmk_random(p) : p->seq, hmk_random(p));

		if (!hmk_hold_vma(h, addr) || !hmk_leaf_lock(h->mm, addr, &leaf))
			continue;
		present = hmk_leaf_counts(&leaf, r->kind);
		*sample = (struct hmk_sample){
			.addr = max_t(u64, leaf.addr, r->start),
			.count = p->params.switches & HMK_SWITCH_EQUAL_WINDOWS ? 0 : UNREAD,
			.dirty = test_bit(_PAGE_BIT_DIRTY, leaf.bits),
			.node = present ? hmk_node_of(leaf.page) : NUMA_NO_NODE,
		};
		hmk_leaf_unlock(&leaf);
		if (present)
			return true;
	}
	return false;
}

/* One leaf has one accessed bit: watched twice, the second would read zero. */
static bool scan_is_watched(const struct hmk_sample *first, const struct hmk_sample *sample)
{
	for (; first < sample; first++) {
		if (first->addr == sample->addr)
			return true;
	}
	return false;
}

/**
 * hmk_scan_cut() - watch the first samples only: the others cannot be paid for.
 * @p:       the chosen samples.
 * @samples: how many stay.
 *
 * The regions of the others are stale, and the first when regions take turns.
 */
void hmk_scan_cut(struct hmk_profile *p, u32 samples)
{
	p->samples.nr = samples;
	hmk_quota_cut_short(p->now.at, p->now.nr, p->watch.first, samples, &p->adapt.quota);
	p->flags |= HMK_INTERVAL_DEGRADED;
}

/* Of one region, behind those of the regions before it. */
static void scan_choose_region(struct hmk_profile *p, struct hmk_region *r)
{
	struct hmk_sample *first = &p->samples.at[p->samples.nr], *next = first;
	u32 k;

	for (k = 0; k < r->quota; k++) {
		if (scan_choose_one(p, r, k, next) && !scan_is_watched(first, next))
			next++;
	}
	r->quota = next - first;
	p->samples.nr += r->quota;
}

/* What is chosen is to be watched, and a ladder's longest window begins thereafter. */
static bool scan_can_choose(struct hmk_profile *p, u64 until_ns)
{
	if (hmk_ladder_climbs(&p->windows.ladder) && ktime_get_ns() > until_ns)
		return false;
	return hmk_charge_affords(p, p->samples.nr, (u64)p->samples.nr * p->cost.sample_ns);
}

/**
 * hmk_scan_choose() - pick the pages to watch in this interval.
 * @mm: grabbed by the caller.
 * @p:  each region's quota is how many at most, and then how many were found;
 *      @p->samples.at holds room for all. Ends early when the budget does.
 *
 * A region's samples are fresh present pages in every interval, spread evenly
 * (hmk_region_sample()), so that one odd page cannot stand for its region for
 * ever; the smoothing averages over them. Samples lie in the order of their regions,
 * from where the turn goes on: what cannot be paid for is always what had its turn last.
 */
void hmk_scan_choose(struct mm_struct *mm, struct hmk_profile *p)
{
	u64 begin = hmk_charge_used(p), until_ns = ktime_get_ns() + p->span_ns / 4;
	bool held = hmk_hold_begin(&p->hold, mm);
	u32 i;

	p->watch.first = hmk_region_at(p->now.at, p->now.nr, p->adapt.quota.turn_at);
	p->samples.nr = 0;
	for (i = 0; held && i < p->now.nr; i++) {
		struct hmk_region *r = hmk_scan_region(p, i);
		u32 looked = 1;

		if (!(r->flags & HMK_REGION_STALE)) {
			looked += CHOICES * r->quota;
			scan_choose_region(p, r);
		}
		held = hmk_hold_on(&p->hold, looked);
		if (!(i % LOOK_EVERY) && !scan_can_choose(p, until_ns))
			break;
	}
	if (held)
		hmk_hold_end(&p->hold);
	if (i < p->now.nr)
		hmk_scan_cut(p, p->samples.nr);
	p->watch.chosen = p->samples.nr;
	p->watch.choice_ns = hmk_charge_since(p, begin);
}

/* What a look tells beside accesses. */
static void scan_note(struct hmk_sample *sample, const struct hmk_leaf *leaf)
{
	sample->dirty = test_bit(_PAGE_BIT_DIRTY, leaf->bits);
	sample->node = hmk_node_of(leaf->page);
}

static void scan_look(struct hmk_sample *sample, const struct hmk_leaf *leaf, enum hmk_pass pass)
{
	bool young = hmk_clear_young(leaf->bits, leaf->page);

	if (pass == HMK_PASS_CLEAR)
		return;
	sample->count += young;
	scan_note(sample, leaf);
}

/**
 * hmk_scan_pass() - visit every sample once, of equal windows.
 * @mm:    grabbed by the caller.
 * @p:     the chosen samples.
 * @pass:  clear only, or count what was accessed since the last pass.
 * @later: passes to come in this interval.
 *
 * Ends early, for this and the later passes, when the budget cannot pay for all
 * samples: those at the end are dropped.
 * The TLB is not flushed here: the caller does it once per round, or not.
 *
 * Return: how many samples were present.
 */
u32 hmk_scan_pass(struct mm_struct *mm, struct hmk_profile *p, enum hmk_pass pass, u32 later)
{
	bool held = hmk_hold_begin(&p->hold, mm);
	struct hmk_leaf leaf;
	u32 i, seen = 0;

	for (i = 0; held && i < p->samples.nr; i++) {
		struct hmk_sample *sample = &p->samples.at[i];

		if (!(i % LOOK_EVERY) &&
		    !hmk_charge_affords(p, i, (u64)i * later * p->cost.look_ns))
			break;
		if (hmk_hold_vma(&p->hold, sample->addr) &&
		    hmk_leaf_lock(mm, sample->addr, &leaf)) {
			if (leaf.page) {
				scan_look(sample, &leaf, pass);
				seen++;
			}
			hmk_leaf_unlock(&leaf);
		}
		held = hmk_hold_on(&p->hold, 1);
	}
	if (held)
		hmk_hold_end(&p->hold);
	p->watch.visits += i;
	if (i < p->samples.nr)
		hmk_scan_cut(p, i);
	return seen;
}

/*
 * A read leaves the bit: what sets it is the first access, and the longer windows
 * begin where this one did. Return: whether that is known now.
 */
static bool scan_read(struct hmk_sample *sample, const struct hmk_leaf *leaf)
{
	scan_note(sample, leaf);
	return test_bit(_PAGE_BIT_ACCESSED, leaf->bits);
}

static u32 scan_group_look(struct hmk_sweep *sweep, struct hmk_sweeper *by, u32 i)
{
	struct hmk_sample *all = sweep->p->samples.at, *sample = &all[all[sweep->group + i].turn];
	const struct hmk_read *read = sweep->read;
	struct hmk_leaf leaf;

	if (sample->count != UNREAD)
		return !(i % LOOK_EVERY);
	if (hmk_hold_vma(&by->hold, sample->addr) &&
	    hmk_leaf_lock(by->hold.mm, sample->addr, &leaf)) {
		if (leaf.page && !read)
			hmk_clear_young(leaf.bits, leaf.page);
		else if (leaf.page && scan_read(sample, &leaf))
			sample->count = read->seen;
		else if (leaf.page && read->last)
			sample->count = read->seen - 1;
		hmk_leaf_unlock(&leaf);
	}
	by->counted += sample->count != UNREAD;
	by->visits++;
	return 1;
}

/**
 * hmk_scan_group() - clear the samples of a group, or read those not seen accessed yet.
 * @mm:    grabbed by the caller.
 * @p:     the chosen samples.
 * @group: the place of its first sample in the order by rung.
 * @nr:    number of them.
 * @read:  what the read means; NULL to clear.
 *
 * A page that is on its way or gone when it is read has no count. A read ends early when
 * the budget is used up; a quarter of the planned samples are counted whatever it says.
 *
 * Return: how many it came to: all, or those before the place where it ended.
 */
u32 hmk_scan_group(struct mm_struct *mm, struct hmk_profile *p, u32 group, u32 nr,
		   const struct hmk_read *read)
{
	struct hmk_sweep sweep = {
		.p = p, .mm = mm, .look = scan_group_look, .group = group, .nr = nr,
		.step = LOOK_EVERY, .read = read, .counted = ATOMIC_INIT(p->watch.counted),
	};

	nr = hmk_sweep(&sweep);
	p->watch.counted = atomic_read(&sweep.counted);
	p->watch.visits += sweep.visits;
	return nr;
}

/**
 * hmk_scan_forget() - take back what the reads of a group said.
 * @p:     the chosen samples.
 * @group: as for hmk_scan_group().
 * @nr:    number of them.
 */
void hmk_scan_forget(struct hmk_profile *p, u32 group, u32 nr)
{
	u32 i;

	for (i = group; i < group + nr; i++)
		p->samples.at[p->samples.at[i].turn].count = UNREAD;
}

/* Of one region, to @to. Return: how many of its samples were read. */
static u32 scan_keep_read(const struct hmk_sample *from, u32 nr, struct hmk_sample *to)
{
	u32 i, kept = 0;

	for (i = 0; i < nr; i++) {
		if (from[i].count != UNREAD)
			to[kept++] = from[i];
	}
	return kept;
}

/**
 * hmk_scan_settle() - only samples that were read count.
 * @p: all groups are closed.
 *
 * What becomes of the regions, and where the next turn begins: hmk_quota_watched().
 */
void hmk_scan_settle(struct hmk_profile *p)
{
	const struct hmk_sample *from = p->samples.at;
	struct hmk_sample *to = p->samples.at;
	struct hmk_quota_unread unread = {};
	u32 i, kept;

	for (i = 0; i < p->now.nr; i++) {
		struct hmk_region *r = hmk_scan_region(p, i);

		hmk_pause(i);
		kept = 0;
		if (!(r->flags & HMK_REGION_STALE)) {
			kept = scan_keep_read(from, r->quota, to);
			from += r->quota;
			to += kept;
		}
		hmk_quota_watched(&unread, r, kept);
	}
	p->samples.nr = to - p->samples.at;
	if (unread.nr)
		p->flags |= HMK_INTERVAL_DEGRADED;
	hmk_quota_settle(&unread, &p->adapt.quota);
}

static void scan_reverse(struct hmk_sample *first, struct hmk_sample *end)
{
	u32 i;

	for (i = 1; first < end && first < --end; first++, i++) {
		swap(*first, *end);
		hmk_pause(i);
	}
}

/**
 * hmk_scan_arrange() - put the samples into the order of the addresses, for the core.
 * @p: watched.
 */
void hmk_scan_arrange(struct hmk_profile *p)
{
	struct hmk_sample *end = p->samples.at + p->samples.nr, *last = p->samples.at;
	u32 i;

	for (i = p->watch.first; i < p->now.nr; i++) {
		if (!(p->now.at[i].flags & HMK_REGION_STALE))
			last += p->now.at[i].quota;
	}
	if (last == p->samples.at || last == end)
		return;
	scan_reverse(p->samples.at, last);
	scan_reverse(last, end);
	scan_reverse(p->samples.at, end);
}

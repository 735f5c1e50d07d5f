// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Who gets the samples. Sums first: whatever the steps below do, the last one
 * leaves the sum of all quotas at num_ps.
 */
#include <hmk/core/hotness.h>
#include <hmk/core/pause.h>
#include <hmk/core/quota.h>
#include <hmk/core/region.h>

#define MAX_U32		((__u32)~0u)
#define AGAIN_SAMPLES	3u		/* where one more look decides */

/* ---- the K largest variances (HK-21) ------------------------------------- */

/**
 * hmk_top_init() - start an empty list.
 * @top: the list.
 * @k:   how many it keeps, clamped to 1 .. HMK_QUOTA_MAX_TOP.
 */
void hmk_top_init(struct hmk_top *top, __u32 k)
{
	top->nr = 0;
	top->k = k < 1 ? 1 : k > HMK_QUOTA_MAX_TOP ? HMK_QUOTA_MAX_TOP : k;
}

/**
 * hmk_top_offer() - compare one more region with the K records.
 * @top:          the list.
 * @index:        the caller's name for the region.
 * @variance_q16: 0 is never recorded: nothing changed.
 *
 * One comparison for most regions, at most K moves for one that gets in. Of
 * equal ones the first offered stays.
 */
void hmk_top_offer(struct hmk_top *top, __u32 index, __u32 variance_q16)
{
	__u32 i = top->nr;

	if (!variance_q16)
		return;
	if (i == top->k && variance_q16 <= top->at[i - 1].variance_q16)
		return;
	if (i == top->k)
		i--;
	else
		top->nr++;
	for (; i && top->at[i - 1].variance_q16 < variance_q16; i--)
		top->at[i] = top->at[i - 1];
	top->at[i].index = index;
	top->at[i].variance_q16 = variance_q16;
}

/* ---- shares --------------------------------------------------------------- */

/*
 * Deals @all out over a @whole, part by part: what a part has coming is a whole number,
 * and the rest goes on to the next. One division for all parts; when they make up the
 * whole, all is dealt out. @all and @whole are below 2^32, a part of one region has at
 * most 2^32 pages.
 */
struct deal {
	__u64 each_q32;
	__u64 rest_q32;
};

static struct deal deal_begin(__u64 all, __u64 whole)
{
	/* Each is rounded down, by less than a unit each: what begins as rest makes up for it. */
	return (struct deal){ .each_q32 = whole ? (all << 32) / whole : 0, .rest_q32 = MAX_U32 };
}

static __u64 deal(struct deal *d, __u64 part)
{
	const __u64 sum = d->rest_q32 + part * d->each_q32;

	d->rest_q32 = sum & MAX_U32;
	return sum >> 32;
}

/* ---- quotas -------------------------------------------------------------- */

static __u32 quota_cap(const struct hmk_region *r)
{
	__u32 shift = r->leaf_shift < HMK_CORE_PAGE_SHIFT ? HMK_CORE_PAGE_SHIFT : r->leaf_shift;
	__u64 leaves = (hmk_region_bytes(r) + (1ull << shift) - 1) >> shift;

	if (leaves > HMK_CORE_MAX_QUOTA)
		return HMK_CORE_MAX_QUOTA;
	return leaves ? (__u32)leaves : 1;
}

/**
 * hmk_quota_cap() - the most samples a region can use.
 * @r: the region.
 *
 * A sample is a leaf, so a region of one huge page has use for one.
 *
 * Return: number of its leaves, in 1 .. HMK_CORE_MAX_QUOTA.
 */
__u32 hmk_quota_cap(const struct hmk_region *r)
{
	return quota_cap(r);
}

#define LEAST_MAX_REGION	(4ull << 20)

/**
 * hmk_quota_max_region() - how large a region may grow so that its samples cover it.
 * @bytes:  of all regions.
 * @num_ps: samples of all regions; 0 counts as 1.
 * @most:   however many samples there are.
 *
 * A region has HMK_CORE_MAX_QUOTA samples at most: a larger one than they cover at the
 * process's density would be seen less well than all others.
 *
 * Return: bytes, at least two pieces of 2 MiB unless @most is less.
 */
__u64 hmk_quota_max_region(__u64 bytes, __u32 num_ps, __u64 most)
{
	__u64 covered = bytes / (num_ps ? num_ps : 1) * HMK_CORE_MAX_QUOTA;

	if (covered < LEAST_MAX_REGION)
		covered = LEAST_MAX_REGION;
	return covered < most ? covered : most;
}

/**
 * hmk_quota_sum() - samples of all regions together.
 * @r:  regions.
 * @nr: number of them.
 *
 * Return: sum of their quotas.
 */
__u64 hmk_quota_sum(const struct hmk_region *r, __u32 nr)
{
	__u64 sum = 0;
	__u32 i;

	for (i = 0; i < nr; hmk_pause(++i))
		sum += r[i].quota;
	return sum;
}

/* How many samples more a region can take. */
static __u32 quota_gap(const struct hmk_region *r)
{
	__u32 cap = quota_cap(r);

	return r->quota < cap ? cap - r->quota : 0;
}

static void quota_add(struct hmk_region *r, __u32 samples)
{
	r->quota = (__u16)(r->quota + samples);
}

/*
 * Scouts come home, every region has a sample and none more than it can use.
 * Those with room for more are offered to @top. Return: sum of the quotas.
 */
static __u64 quota_recall(struct hmk_region *r, __u32 nr, struct hmk_top *top)
{
	__u64 sum = 0;
	__u32 i;

	for (i = 0; i < nr; hmk_pause(++i)) {
		__u32 cap = quota_cap(&r[i]);

		if (hmk_region_is(&r[i], HMK_REGION_SCOUTED) && r[i].quota > 1)
			r[i].quota--;
		hmk_region_clear(&r[i], HMK_REGION_SCOUTED);
		if (!r[i].quota)
			r[i].quota = 1;
		if (r[i].quota > cap)
			r[i].quota = (__u16)cap;
		if (r[i].quota < cap)
			hmk_top_offer(top, i, hmk_hotness_variance_q16(&r[i]));
		sum += r[i].quota;
	}
	return sum;
}

/* Freed samples to the regions that changed most, one each in turn (HK-22). */
static __u64 quota_reward(struct hmk_region *r, __u64 freed, const struct hmk_top *top)
{
	__u64 left = freed, before;
	__u32 i;

	do {
		before = left;
		for (i = 0; i < top->nr && left; i++) {
			if (quota_gap(&r[top->at[i].index])) {
				quota_add(&r[top->at[i].index], 1);
				left--;
			}
		}
	} while (left && left < before);
	return freed - left;
}

/* Shares @more samples by size, what does not fit one by one in turn. */
static __u64 quota_spread(struct hmk_region *r, __u32 nr, __u64 more, __u64 *address)
{
	__u64 pages = 0, left = more, before;
	struct deal shares;
	__u32 i, n, first;

	if (!more)
		return 0;
	for (i = 0; i < nr; hmk_pause(++i))
		pages += quota_gap(&r[i]) ? hmk_region_pages(&r[i]) : 0;
	shares = deal_begin(more, pages);
	for (i = 0; i < nr && pages; hmk_pause(++i)) {
		__u32 can = quota_gap(&r[i]);
		__u64 give;

		if (!can)
			continue;
		give = deal(&shares, hmk_region_pages(&r[i]));
		if (give > can)
			give = can;
		quota_add(&r[i], (__u32)give);
		left -= give;
	}
	do {
		before = left;
		first = hmk_region_at(r, nr, *address);
		for (n = 0, i = first; n < nr && left; hmk_pause(++n), i = i + 1 < nr ? i + 1 : 0) {
			if (!quota_gap(&r[i]))
				continue;
			quota_add(&r[i], 1);
			left--;
			*address = r[i].end;
		}
	} while (left && left < before);
	return more - left;
}

/*
 * Takes @excess samples back, in proportion to what is @above one each; that is enough.
 * Return: how many.
 */
static __u64 quota_take_back(struct hmk_region *r, __u32 nr, __u64 excess, __u64 above)
{
	struct deal shares = deal_begin(excess, above);
	__u64 left = excess;
	__u32 i;

	for (i = 0; i < nr && left; hmk_pause(++i)) {
		__u64 take;

		if (r[i].quota <= 1)
			continue;
		take = deal(&shares, r[i].quota - 1u);	/* no more than that */
		r[i].quota = (__u16)(r[i].quota - take);
		left -= take;
	}
	return excess - left;
}

/* One more sample for regions that have room, where the last call stopped. */
static __u32 quota_scout(struct hmk_region *r, __u32 nr, __u32 scouts, __u64 *address)
{
	__u32 n, sent = 0, i = hmk_region_at(r, nr, *address);

	for (n = 0; n < nr && sent < scouts; hmk_pause(++n), i = i + 1 < nr ? i + 1 : 0) {
		if (!quota_gap(&r[i]))
			continue;
		quota_add(&r[i], 1);
		hmk_region_set(&r[i], HMK_REGION_SCOUTED);
		*address = r[i].end;
		sent++;
	}
	return sent;
}

/*
 * The fewest samples of a region, if it can use them. A piece that one odd sample has cut
 * out takes three to be told from luck: together they say it an interval or two sooner.
 */
static __u32 quota_least(const struct hmk_region *r)
{
	return hmk_region_is(r, HMK_REGION_AGAIN) ? AGAIN_SAMPLES : 1;
}

/*
 * By size, but each has its least: those whose share is less than that have it, the others
 * share what is left. Return: sum of the quotas, about @num_ps.
 */
static __u64 quota_by_size(struct hmk_region *r, __u32 nr, __u32 num_ps)
{
	__u64 pages = 0, small_pages = 0, small = 0, sum = 0, of_one;
	struct deal shares;
	__u32 i;

	for (i = 0; i < nr; hmk_pause(++i))
		pages += hmk_region_pages(&r[i]);
	of_one = num_ps ? (pages + num_ps - 1) / num_ps : MAX_U32;	/* what one is for */
	for (i = 0; i < nr; hmk_pause(++i)) {
		const __u32 least = quota_least(&r[i]);

		if (hmk_region_pages(&r[i]) < least * of_one) {
			small += least;
			small_pages += hmk_region_pages(&r[i]);
		}
	}
	shares = deal_begin(num_ps > small ? num_ps - small : 0, pages - small_pages);
	for (i = 0; i < nr; hmk_pause(++i)) {
		const __u64 of_it = hmk_region_pages(&r[i]), cap = quota_cap(&r[i]);
		const __u32 least = quota_least(&r[i]);
		__u64 quota = of_it < least * of_one ? least : deal(&shares, of_it);

		quota = quota < cap ? quota : cap;
		r[i].quota = (__u16)(quota ? quota : 1);
		hmk_region_clear(&r[i], HMK_REGION_SCOUTED);
		sum += r[i].quota;
	}
	return sum;
}

/**
 * hmk_quota_assign() - give each region its samples of the next interval.
 * @r:     regions, after split and merge.
 * @nr:    number of them.
 * @freed: samples the merges set free.
 * @rule:  how many samples there are.
 * @state: of this session.
 * @res:   receives what was done.
 *
 * Afterwards the sum of all quotas is num_ps (HK-24), except that each region
 * has at least one sample (then @res says degraded, and the caller lets the
 * regions take turns, A-7) and none more than hmk_quota_cap() (then samples are
 * left over). A region with a scout has HMK_REGION_SCOUTED, its quota includes it.
 */
void hmk_quota_assign(struct hmk_region *r, __u32 nr, __u64 freed,
		      const struct hmk_quota_rule *rule,
		      struct hmk_quota_state *state,
		      struct hmk_quota_result *res)
{
	__u64 sum, scouts, base;
	struct hmk_top top;

	*res = (struct hmk_quota_result){ .degraded = nr > rule->num_ps };
	if (rule->by_size) {
		base = nr > rule->num_ps ? nr : rule->num_ps;
		sum = quota_by_size(r, nr, rule->num_ps);
		if (sum > base)
			sum -= quota_take_back(r, nr, sum - base, sum - nr);
		else
			sum += quota_spread(r, nr, base - sum, &state->spread_at);
		res->sum = sum;
		return;
	}
	hmk_top_init(&top, rule->top_k);
	sum = quota_recall(r, nr, &top);
	scouts = (__u64)rule->num_ps * (rule->scout_bp > 10000 ? 10000 : rule->scout_bp) / 10000;
	base = rule->num_ps - scouts;
	if (base < nr)
		base = nr;
	scouts = rule->num_ps > base ? rule->num_ps - base : 0;

	res->moved = quota_reward(r, freed, &top);
	sum += res->moved;
	if (sum > base)
		sum -= quota_take_back(r, nr, sum - base, sum - nr);
	else
		sum += quota_spread(r, nr, base - sum, &state->spread_at);
	res->scouts = quota_scout(r, nr, (__u32)scouts, &state->scout_at);
	sum += res->scouts;

	/* All that can be scouted is: the rest is spread as well. */
	if (sum < rule->num_ps && !res->degraded)
		sum += quota_spread(r, nr, rule->num_ps - sum, &state->spread_at);
	res->sum = sum;
}

/**
 * hmk_quota_fit() - take back samples of the longest windows that there is no room for.
 * @r:    regions with their quotas and rungs.
 * @nr:   number of them.
 * @most: samples of rung 0 there is room for.
 *
 * All of rung 0 are cleared in one group, whatever the budget pays for: hmk_ladder_group().
 * What did not fit would be whole regions. So each gives in proportion to what it has above
 * one sample, and only where there are more regions than room some wait for their turn.
 */
void hmk_quota_fit(struct hmk_region *r, __u32 nr, __u64 most)
{
	__u64 sum = 0, above = 0, rest = 0, excess;
	__u32 i;

	for (i = 0; i < nr; hmk_pause(++i)) {
		if (r[i].rung || !r[i].quota)
			continue;
		sum += r[i].quota;
		above += r[i].quota - 1u;
	}
	excess = sum > most ? sum - most : 0;
	if (excess > above)
		excess = above;
	for (i = 0; i < nr && excess; hmk_pause(++i)) {
		if (r[i].rung || r[i].quota < 2)
			continue;
		rest += excess * (r[i].quota - 1u);
		r[i].quota = (__u16)(r[i].quota - rest / above);
		rest %= above;
	}
}

/**
 * hmk_quota_take_turns() - which regions are watched: all, or some in turn.
 * @r:      regions with their quotas.
 * @nr:     number of them.
 * @num_ps: samples there are.
 * @state:  of this session.
 *
 * With more quota than samples as many regions as can be are watched: first those of
 * which one more look decides (HMK_REGION_AGAIN), then others from where the last turn
 * ended. What is left is HMK_REGION_STALE.
 *
 * Return: samples of the watched ones; less than hmk_quota_sum() when some wait.
 */
__u64 hmk_quota_take_turns(struct hmk_region *r, __u32 nr, __u32 num_ps,
			   struct hmk_quota_state *state)
{
	__u64 sum = hmk_quota_sum(r, nr), left = num_ps;
	int all = sum <= num_ps;
	__u32 i, n;

	for (i = 0; i < nr; hmk_pause(++i)) {
		hmk_region_clear(&r[i], HMK_REGION_STALE);
		if (all)
			continue;
		if (hmk_region_is(&r[i], HMK_REGION_AGAIN) && r[i].quota <= left)
			left -= r[i].quota;
		else
			hmk_region_set(&r[i], HMK_REGION_STALE);
	}
	if (all)
		return sum;
	i = hmk_region_at(r, nr, state->turn_at);
	for (n = 0; n < nr; hmk_pause(++n), i = i + 1 < nr ? i + 1 : 0) {
		if (hmk_region_is(&r[i], HMK_REGION_STALE)) {
			if (r[i].quota > left)
				break;
			left -= r[i].quota;
			hmk_region_clear(&r[i], HMK_REGION_STALE);
		}
		state->turn_at = r[i].end;
	}
	return num_ps - left;
}

/**
 * hmk_quota_cut_short() - only the first samples could be paid for.
 * @r:       regions; those not stale have their quota of the samples.
 * @nr:      number of them.
 * @at:      index of the region whose samples come first; behind the last comes region 0.
 * @samples: how many are left.
 * @state:   of this session: the next turn begins with the first region cut.
 *
 * A region that keeps none of its samples is HMK_REGION_STALE.
 */
void hmk_quota_cut_short(struct hmk_region *r, __u32 nr, __u32 at, __u64 samples,
			 struct hmk_quota_state *state)
{
	__u64 left = samples;
	int first = 1;
	__u32 i = at, n;

	for (n = 0; n < nr; hmk_pause(++n), i = i + 1 < nr ? i + 1 : 0) {
		if (hmk_region_is(&r[i], HMK_REGION_STALE))
			continue;
		if (r[i].quota <= left) {
			left -= r[i].quota;
			continue;
		}
		if (first)
			state->turn_at = r[i].start;
		first = 0;
		if (left)
			r[i].quota = (__u16)left;
		else
			hmk_region_set(&r[i], HMK_REGION_STALE);
		left = 0;
	}
}

/**
 * hmk_quota_watched() - what became of a region's samples.
 * @unread: of the interval.
 * @r:      the next in the order of turns; not stale: its quota is how many were chosen.
 * @read:   how many of them were read.
 *
 * One of which none was read is HMK_REGION_STALE: its windows were too short to be read in
 * time, or too dear for the budget, which pays for the longest first. It has longer ones next.
 */
void hmk_quota_watched(struct hmk_quota_unread *unread, struct hmk_region *r, __u32 read)
{
	if (hmk_region_is(r, HMK_REGION_STALE))
		unread->turns = 1;
	if (hmk_region_is(r, HMK_REGION_STALE) || !r->quota)
		return;
	if (read) {
		r->quota = (__u16)read;
		unread->tail = 0;
		return;
	}
	hmk_region_set(r, HMK_REGION_STALE);
	r->rung = (__u8)(r->rung - !!r->rung);
	if (!unread->nr++)
		unread->first_at = r->start;
	if (!unread->tail)
		unread->tail_at = r->start;
	unread->tail = 1;
}

/**
 * hmk_quota_settle() - where the next turn begins.
 * @unread: all regions were gone over.
 * @state:  of this session.
 *
 * With the first region that was not watched; where regions take turns already, with those at
 * the end of this turn only: for one whose page has gone none is repeated.
 */
void hmk_quota_settle(const struct hmk_quota_unread *unread, struct hmk_quota_state *state)
{
	if (unread->turns ? unread->tail : unread->nr)
		state->turn_at = unread->turns ? unread->tail_at : unread->first_at;
}

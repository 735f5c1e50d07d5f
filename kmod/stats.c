// SPDX-License-Identifier: GPL-2.0-only
/* Counters of a session (HK-70). */
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "session.h"
#include "stats.h"
#include "usercopy.h"

static void stats_add(struct hmk_range_result *sum, const struct hmk_range_result *r)
{
	u32 i;

	sum->paths |= r->paths;
	sum->pages_clean += r->pages_clean;
	sum->pages_recopied += r->pages_recopied;
	sum->pages_sync += r->pages_sync;
	sum->pages_already += r->pages_already;
	sum->pages_absent += r->pages_absent;
	for (i = 0; i < HMK_REFUSED_NR; i++)
		sum->refused[i] += r->refused[i];
	sum->chunks += r->chunks;
	sum->chunks_switched += r->chunks_switched;
	sum->prepare_ns += r->prepare_ns;
	sum->copy_ns += r->copy_ns;
	sum->commit_ns += r->commit_ns;
	sum->commit_max_ns = max(sum->commit_max_ns, r->commit_max_ns);
}

/**
 * hmk_stats_moved() - a range has been tried.
 * @s:     session.
 * @range: what was asked.
 * @r:     what came of it.
 */
void hmk_stats_moved(struct hmk_session *s, const struct hmk_range *range,
		     const struct hmk_range_result *r)
{
	spin_lock(&s->stats_lock);
	stats_add(&s->stats.moved, r);
	if (range->node >= 0 && range->node < HMK_MAX_NODES)
		s->stats.moved_pages[range->node] +=
			r->pages_clean + r->pages_recopied + r->pages_sync;
	spin_unlock(&s->stats_lock);
	if (range->node >= 0 && r->chunks)	/* none: never tried */
		hmk_session_touched(s, range->start, range->start + range->length);
}

/**
 * hmk_stats_get() - HMK_IOC_STATS.
 * @s:   session.
 * @arg: struct hmk_stats in user memory.
 *
 * Return: 0 or what the uapi header's table says.
 */
long hmk_stats_get(struct hmk_session *s, void __user *arg)
{
	struct hmk_stats *stats = kzalloc(sizeof(*stats), GFP_KERNEL);
	u32 size;
	long err;

	if (!stats)
		return -ENOMEM;
	err = hmk_copy_in(stats, sizeof(*stats), arg, 16);
	size = stats->size;
	if (!err && stats->reserved)
		err = -EINVAL;
	mutex_lock(&s->lock);
	if (!err && !s->mm)
		err = -ENOTCONN;
	if (!err) {
		spin_lock(&s->stats_lock);
		*stats = s->stats;
		spin_unlock(&s->stats_lock);
		stats->size = size;
		stats->table_bytes = hmk_table_bytes(s);
	}
	mutex_unlock(&s->lock);
	if (!err)
		err = hmk_copy_out(arg, stats, sizeof(*stats));
	kfree(stats);
	return err;
}

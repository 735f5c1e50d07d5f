// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Which group is cleared or read next, and when.
 */
#include <hmk/core/schedule.h>

#define LEAST_PART	8u	/* samples: a flush for fewer is dear */

/* Window after which a group is read for the @reads + 1st time: the shortest first. */
static __u64 schedule_window(const struct hmk_schedule *s, __u32 rung, __u32 reads)
{
	return s->ladder->window_ns[rung + s->ladder->num_scans - 1 - reads];
}

/* As many of a part's samples as can be cleared within its shortest window; one at least. */
static __u32 schedule_fit(const struct hmk_schedule *s, __u32 rung)
{
	const __u32 nr = hmk_ladder_group(s->ladder, rung, s->flush_ns, s->visit_ns[rung]);
	const __u32 parts = s->parts[rung] > s->begun[rung] ? s->parts[rung] - s->begun[rung] : 1;
	const __u32 part = (s->left[rung] + parts - 1) / parts;

	return nr < part ? nr : part;
}

/* When the next part of a rung begins, at the earliest. */
static __u64 schedule_turn(const struct hmk_schedule *s, __u32 rung)
{
	if (s->begun[rung] >= s->parts[rung])
		return s->from_ns;
	return s->from_ns + (s->end_ns - s->from_ns) / s->parts[rung] * s->begun[rung];
}

/*
 * From the first clear to the end of the last read. The windows of rung 0 are those of
 * the interval: what has passed of it already is missing there, up to a half.
 */
static __u64 schedule_takes(const struct hmk_schedule *s, __u32 rung, __u32 nr)
{
	const __u64 longest = s->ladder->window_ns[rung];
	/* Of halves: the last gap of a rung is as long as the next, less what beginning took. */
	const __u64 least = !rung ? longest / 2 :
			    s->ladder->ratio_shift > 1 ? longest : longest / 4 * 3;

	return 2ull * nr * s->visit_ns[rung] + s->flush_ns + least;
}

/**
 * hmk_schedule_deal() - into how many parts the samples of each rung are dealt.
 * @s:       the interval; @left is known.
 * @from_ns: it begins.
 * @most:    parts of all rungs together that can be paid for.
 *
 * As many as there is time for, with a quarter of it left for the reads of longer windows,
 * and none of a few samples only. Rung 0 has one: its windows are the interval's.
 */
void hmk_schedule_deal(struct hmk_schedule *s, __u64 from_ns, __u32 most)
{
	const __u32 top = hmk_ladder_top(s->ladder);
	__u32 rung, rungs = 0;

	for (rung = 1; rung <= top; rung++)
		rungs += !!s->left[rung];
	s->from_ns = from_ns;
	for (rung = 1; rung <= top && s->end_ns > from_ns; rung++) {
		const __u64 time = (s->end_ns - from_ns) / 4 * 3;
		__u64 parts = time / schedule_takes(s, rung, s->left[rung]);

		if (parts > most / (rungs ? rungs : 1))
			parts = most / (rungs ? rungs : 1);
		if (parts > s->left[rung] / LEAST_PART)
			parts = s->left[rung] / LEAST_PART;
		s->parts[rung] = parts ? (__u32)parts : 1;
	}
}

/**
 * hmk_schedule_next() - what to do now.
 * @s:      the interval.
 * @now_ns: the time.
 *
 * A read that is due comes first. Else a group is opened whose turn has come, of the longest
 * windows that end before the next read: they take most time, and shorter ones fit in between.
 *
 * Return: the step; of HMK_STEP_OPEN with how many samples of which rung.
 */
struct hmk_step hmk_schedule_next(const struct hmk_schedule *s, __u64 now_ns)
{
	const struct hmk_group *in = s->depth ? &s->open[s->depth - 1] : (void *)0;
	const __u64 limit = in ? in->due_ns : s->end_ns;
	const __u32 top = hmk_ladder_top(s->ladder);
	struct hmk_step step = { in ? HMK_STEP_WAIT : HMK_STEP_END, 0, 0, limit };
	int waits = 0;

	if (in && now_ns >= in->due_ns) {
		step.kind = HMK_STEP_READ;
		return step;
	}
	for (step.rung = in ? in->rung + 1u : 0; step.rung <= top; step.rung++) {
		if (!s->left[step.rung])
			continue;
		if (now_ns < schedule_turn(s, step.rung)) {
			if (schedule_turn(s, step.rung) < step.at_ns)
				step.at_ns = schedule_turn(s, step.rung);
			waits = 1;
			continue;
		}
		step.nr = schedule_fit(s, step.rung);
		if (now_ns + schedule_takes(s, step.rung, step.nr) <= limit) {
			step.kind = HMK_STEP_OPEN;
			return step;
		}
	}
	if (waits)
		step.kind = HMK_STEP_WAIT;
	return step;
}

/*
 * A read takes as long as clearing took, and in the same order: begun half of that
 * early, windows are half of that shorter for the first sample and longer for the last.
 */
static __u64 schedule_due(const struct hmk_schedule *s, const struct hmk_group *g)
{
	const __u64 limit = g > s->open ? g[-1].due_ns : s->end_ns;
	const __u64 window = schedule_window(s, g->rung, g->reads);
	const __u64 early = g->pass_ns < window ? g->pass_ns / 2 : window / 2;
	const __u64 due = g->flushed_ns + window - early;

	return due < limit ? due : limit;
}

/**
 * hmk_schedule_opened() - a group has been cleared and flushed.
 * @s:          the interval.
 * @rung:       of the step that said so.
 * @nr:         samples of it; at most as many as are left.
 * @began_ns:   before the first was cleared.
 * @flushed_ns: after the flush.
 */
void hmk_schedule_opened(struct hmk_schedule *s, __u32 rung, __u32 nr, __u64 began_ns,
			 __u64 flushed_ns)
{
	struct hmk_group *g = &s->open[s->depth++];

	g->nr = nr;
	g->rung = (__u8)rung;
	g->reads = 0;
	g->flushed_ns = flushed_ns;
	g->pass_ns = flushed_ns - began_ns;
	g->due_ns = schedule_due(s, g);
	s->left[rung] -= nr;
	s->begun[rung]++;
}

/**
 * hmk_schedule_read() - the innermost group has been read.
 * @s:      the interval.
 * @now_ns: after its last sample.
 *
 * The group is closed after its last read, or when it was late: read after more than
 * twice the window, so that what was seen says nothing about that window any more.
 *
 * Return: 1 when it was late, else 0.
 */
int hmk_schedule_read(struct hmk_schedule *s, __u64 now_ns)
{
	struct hmk_group *g = hmk_schedule_innermost(s);
	const int late = now_ns - g->flushed_ns > 2 * schedule_window(s, g->rung, g->reads);

	if (late || ++g->reads == s->ladder->num_scans)
		s->depth--;
	else
		g->due_ns = schedule_due(s, g);
	return late;
}

/**
 * hmk_schedule_owed_ns() - what the looks take that the open groups still need.
 * @s: the interval.
 *
 * Return: nanoseconds.
 */
__u64 hmk_schedule_owed_ns(const struct hmk_schedule *s)
{
	__u64 owed = 0;
	__u32 i;

	for (i = 0; i < s->depth; i++)
		owed += (__u64)s->open[i].nr * (s->ladder->num_scans - s->open[i].reads) *
			s->visit_ns[s->open[i].rung];
	return owed;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Which pieces an interval reads, and what that may cost. */
#ifndef HMK_TURNS_H
#define HMK_TURNS_H

#include <linux/types.h>

struct hmk_dense;
struct hmk_profile;
struct mm_struct;

void hmk_turns_probe(struct hmk_profile *p, struct mm_struct *mm);
u32 hmk_turns_most(const struct hmk_profile *p, u32 nr);
u64 hmk_turns_cost_ns(const struct hmk_profile *p);
void hmk_turns_choose(struct hmk_dense *d);
void hmk_turns_note(struct hmk_profile *p, struct mm_struct *mm);
void hmk_turns_end(struct hmk_dense *d);

#endif

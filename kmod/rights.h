/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may do what, and what the target has laid down about its own memory. */
#ifndef HMK_RIGHTS_H
#define HMK_RIGHTS_H

#include <linux/mm_types.h>
#include <linux/nodemask.h>
#include <linux/hmk.h>

struct cred;
struct hmk_session;
struct pid;
struct task_struct;

bool hmk_may_trace(struct task_struct *task);
int hmk_may_use(struct hmk_session *s);
int hmk_may_move(struct hmk_session *s, u32 flags, bool own, nodemask_t *allowed);
int hmk_may_run(struct hmk_session *s, u32 flags, bool own, const struct cred *cred);
bool hmk_cpuset_allows(struct pid *pid, int node);
int hmk_may_tune(struct pid *pid, const struct mm_struct *mm, const struct hmk_params *params);
bool hmk_bound_elsewhere(struct pid *pid, struct vm_area_struct *vma, int node);

#endif

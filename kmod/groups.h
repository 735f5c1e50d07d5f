/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_GROUPS_H
#define HMK_GROUPS_H

#include <linux/types.h>

struct hmk_session;

bool hmk_groups_watch(struct hmk_session *s);

#endif

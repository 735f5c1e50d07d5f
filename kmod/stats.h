/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_STATS_H
#define HMK_STATS_H

#include <linux/hmk.h>

struct hmk_session;

void hmk_stats_moved(struct hmk_session *s, const struct hmk_range *range,
		     const struct hmk_range_result *r);
long hmk_stats_get(struct hmk_session *s, void __user *arg);

#endif

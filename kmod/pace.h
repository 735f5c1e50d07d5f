/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_PACE_H
#define HMK_PACE_H

#include <linux/types.h>

struct hmk_session;

/* By the interval thread. */
bool hmk_sleep_until(u64 ns);
bool hmk_goes_on(struct hmk_session *s);

#endif

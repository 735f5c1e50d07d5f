/* SPDX-License-Identifier: GPL-2.0-only */
/* What moves have touched, from the movers to the interval thread. */
#ifndef HMK_TOUCHED_H
#define HMK_TOUCHED_H

#include <linux/spinlock.h>
#include <linux/types.h>

#define HMK_TOUCHED_MAX	256u

struct hmk_session;

struct hmk_touched {
	u64 start, end;
};

/* What the movers note down; beyond HMK_TOUCHED_MAX ranges the nearest take others in. */
struct hmk_moved {
	spinlock_t lock;	/* all of it */
	u32 nr;
	struct hmk_touched range[HMK_TOUCHED_MAX];
};

void hmk_session_touched(struct hmk_session *s, u64 start, u64 end);
void hmk_touched_take(struct hmk_session *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_REQUEST_H
#define HMK_REQUEST_H

struct hmk_session;

long hmk_move(struct hmk_session *s, void __user *arg);

#endif

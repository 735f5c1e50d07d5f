/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_CHARDEV_H
#define HMK_CHARDEV_H

int hmk_chardev_init(void);
void hmk_chardev_exit(void);

#endif

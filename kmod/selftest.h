/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_SELFTEST_H
#define HMK_SELFTEST_H

/**
 * hmk_selftest() - do the kernel functions of the own path do what we take them for?
 *
 * Their prototypes are private to mm/ and may change with any release. So a few pages
 * of whoever loads the module are isolated, put back, and moved to each node; copies
 * from memory that cannot be read must fail. Runs before the device exists.
 *
 * Return: NULL, or what was wrong.
 */
const char *hmk_selftest(void);

#endif

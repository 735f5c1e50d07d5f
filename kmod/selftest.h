/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HMK_SELFTEST_H
#define HMK_SELFTEST_H

/**
 * hmk_selftest() - do the kernel functions of the own path do what we take them for?
 *
 * Their prototypes are private to mm/ and may change with any release. So memory of whoever
 * loads the module, private, shared and huge, is isolated, put back, and moved to each node;
 * copies from memory that cannot be read must fail. On a series that has not been tested
 * (HMK_TESTED_BEFORE) each kind must have moved; on others a kind that could not be tried, as
 * on a machine of one node, is let pass. Runs before the device exists.
 *
 * Return: NULL, or why the own path is not to be used.
 */
const char *hmk_selftest(void);

#endif

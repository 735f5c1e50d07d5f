// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload, in mirror order. */
#define pr_fmt(fmt) "hmk: " fmt

#include <linux/module.h>

#include "chardev.h"
#include "compat/flush.h"
#include "compat/symbols.h"
#include "copy.h"
#include "pieces.h"
#include "selftest.h"
#include "sweep.h"

static bool hmk_symbols = true;
module_param_named(symbols, hmk_symbols, bool, 0444);
MODULE_PARM_DESC(symbols, "look up functions that are not exported; off: exported-only fallbacks");

static bool hmk_fail_selftest;
#if IS_ENABLED(HMK_TEST_SWITCHES)
module_param_named(fail_selftest, hmk_fail_selftest, bool, 0444);
#endif

static int __init hmk_init(void)
{
	const char *wrong;
	int err;

	hmk_symbols_resolve(hmk_symbols);
	if (!hmk_flush_works()) {
		pr_err("flush_tlb_mm_range() was not found, and with INVLPGB nothing else flushes; see compat/README.md\n");
		return -EOPNOTSUPP;
	}
	err = hmk_copy_init();
	if (err)
		return err;
	err = hmk_pieces_init();
	if (err)
		goto no_pieces;
	err = hmk_sweep_init();
	if (err)
		goto no_sweep;
	wrong = hmk_fail_selftest ? "it was told to fail" : hmk_selftest();
	if (wrong) {
		pr_warn("self-test: %s: pages are moved by migrate_vma only\n", wrong);
		hmk_symbols_distrust();
	}
	err = hmk_chardev_init();
	if (!err)
		return 0;
	hmk_sweep_exit();
no_sweep:
	hmk_pieces_exit();
no_pieces:
	hmk_copy_exit();
	return err;
}

static void __exit hmk_exit(void)
{
	hmk_chardev_exit();
	hmk_sweep_exit();
	hmk_pieces_exit();
	hmk_copy_exit();
}

module_init(hmk_init);
module_exit(hmk_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("HM-Keeper: profile and move the memory of running processes");
MODULE_VERSION("0.1.0");

// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload, in mirror order. */
#include <linux/module.h>

#include "chardev.h"
#include "compat/symbols.h"
#include "copy.h"

static bool hmk_symbols = true;
module_param_named(symbols, hmk_symbols, bool, 0444);
MODULE_PARM_DESC(symbols, "look up functions that are not exported; off: exported-only fallbacks");

static int __init hmk_init(void)
{
	int err;

	hmk_symbols_resolve(hmk_symbols);
	err = hmk_copy_init();
	if (err)
		return err;
	err = hmk_chardev_init();
	if (err)
		hmk_copy_exit();
	return err;
}

static void __exit hmk_exit(void)
{
	hmk_chardev_exit();
	hmk_copy_exit();
}

module_init(hmk_init);
module_exit(hmk_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("HM-Keeper: profile and move the memory of running processes");
MODULE_VERSION("0.1.0");

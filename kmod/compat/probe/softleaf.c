// SPDX-License-Identifier: GPL-2.0-only
/* Since 6.19 entries that are no mappings are read as soft leaves. */
#include <linux/swap.h>
#include <linux/leafops.h>

bool probe(pte_t pte);
bool probe(pte_t pte)
{
	return softleaf_is_migration_write(softleaf_from_pte(pte));
}

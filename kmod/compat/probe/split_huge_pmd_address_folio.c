// SPDX-License-Identifier: GPL-2.0-only
/*
 * In 6.1 and 6.12, no longer in 7.2, the caller names the folio that
 * split_huge_pmd_address() is to find mapped.
 */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma, struct folio *folio);
void probe(struct vm_area_struct *vma, struct folio *folio)
{
	split_huge_pmd_address(vma, 0, false, folio);
}

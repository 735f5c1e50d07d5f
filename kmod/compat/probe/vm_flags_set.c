// SPDX-License-Identifier: GPL-2.0-only
/* Since 6.3 vm_flags is read-only and changed by helpers (bc292ab00f6c). */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTDUMP);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Since 6.6 pte_mkwrite() asks the VMA, out of line; this is its inline part (2f0584f3f4bd). */
#include <linux/mm.h>

pte_t probe(pte_t pte);
pte_t probe(pte_t pte)
{
	return pte_mkwrite_novma(pte);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Since 6.10 a large folio counts all its mappings in one place (05c5323b2a34). */
#include <linux/mm.h>

int probe(struct folio *folio);
int probe(struct folio *folio)
{
	return folio_large_mapcount(folio);
}

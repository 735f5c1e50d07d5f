// SPDX-License-Identifier: GPL-2.0-only
/* Since 6.12 a flag says that part of a large folio was unmapped (8422acdc97ed). */
#include <linux/page-flags.h>

bool probe(struct folio *folio);
bool probe(struct folio *folio)
{
	return folio_test_partially_mapped(folio);
}

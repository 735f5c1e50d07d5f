// SPDX-License-Identifier: GPL-2.0-only
/* Since 6.9 a large folio is split to any order, by another name (c010d47f107f). */
#include <linux/mm.h>

int probe(struct page *page);
int probe(struct page *page)
{
	return split_huge_page_to_list_to_order(page, NULL, 0);
}

// SPDX-License-Identifier: MIT
/* The table reader is a C header: this compiles it as one. */
#include <hmk/core/budget.h>
#include <hmk/core/hotness.h>
#include <hmk/core/quota.h>
#include <hmk/core/region.h>
#include <hmk/table_reader.h>

int abi_read_nothing_in_c(void);

int abi_read_nothing_in_c(void)
{
	struct hmk_interval iv;
	size_t nr;

	return hmk_table_read(NULL, 0, &iv, NULL, 0, &nr);
}

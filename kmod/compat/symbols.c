// SPDX-License-Identifier: GPL-2.0-only
#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/hmk.h>

#include "compat/mm.h"
#include "compat/symbols.h"

/*
 * What a static call does until its symbol is resolved. Never reached: every caller
 * asks hmk_has() first.
 */
#define HMK_SYMBOL(name, ret, args, absent)					\
	ret hmk_absent_##name args { return (ret)(absent); }			\
	DEFINE_STATIC_CALL(hmk_##name, hmk_absent_##name);
HMK_SYMBOLS
#undef HMK_SYMBOL

/*
 * Called by the prototypes above, whatever the kernel's own are: where a public
 * header has them for modules, another one does not compile.
 */
#define HMK_AS_DECLARED(name)							\
	static_assert(__same_type(name, hmk_absent_##name), #name "() has another prototype here")
HMK_AS_DECLARED(lru_add_drain_all);
HMK_AS_DECLARED(try_to_migrate);
HMK_AS_DECLARED(ptrace_may_access);
HMK_AS_DECLARED(security_task_movememory);
HMK_AS_DECLARED(pidfd_pid);
HMK_AS_DECLARED(split_huge_pmd_address);
#ifdef HMK_HAVE_SPLIT_HUGE_PAGE_TO_ORDER
HMK_AS_DECLARED(split_huge_page_to_list_to_order);
#else
HMK_AS_DECLARED(split_huge_page_to_list);
#endif
static_assert(__same_type(remove_migration_ptes((struct folio *)0, (struct folio *)0, 0), void),
	      "remove_migration_ptes() has another prototype here");

/* kallsyms_lookup_name() itself is called the same way. */
static unsigned long hmk_absent_lookup(const char *name)
{
	return 0;
}
DEFINE_STATIC_CALL(hmk_lookup, hmk_absent_lookup);

enum {
#define HMK_SYMBOL(name, ret, args, absent) HMK_SYM_##name,
	HMK_SYMBOLS
#undef HMK_SYMBOL
	HMK_SYM_NR
};

static const char * const hmk_symbol_names[HMK_SYM_NR] = {
#define HMK_SYMBOL(name, ret, args, absent) #name,
	HMK_SYMBOLS
#undef HMK_SYMBOL
};

static struct {
	unsigned long found;		/* bit n: HMK_SYM_n */
	u64 features;
	u8 why[HMK_FEAT_NR];
} hmk_kernel;

bool hmk_has(unsigned int feature)
{
	return hmk_kernel.features & BIT_ULL(feature);
}

/* A disabled kprobe is never armed; registering it only yields the address. */
static bool lookup_available(void)
{
	struct kprobe kp = {
		.symbol_name = "kallsyms_lookup_name",
		.flags = KPROBE_FLAG_DISABLED,
	};

	if (register_kprobe(&kp))
		return false;
	static_call_update(hmk_lookup, (unsigned long (*)(const char *))kp.addr);
	unregister_kprobe(&kp);
	return true;
}

static void feature(unsigned int bit, bool on, u8 why)
{
	hmk_kernel.features &= ~BIT_ULL(bit);
	if (on)
		hmk_kernel.features |= BIT_ULL(bit);
	hmk_kernel.why[bit] = on ? HMK_WHY_ON : why;
}

static bool found(unsigned int symbol)
{
	return hmk_kernel.found & BIT(symbol);
}

static void derive_features(void)
{
	bool own = found(HMK_SYM_flush_tlb_mm_range) &&
		   found(HMK_SYM_lru_add_drain) &&
		   found(HMK_SYM_folio_isolate_lru) &&
		   found(HMK_SYM_folio_putback_lru) &&
		   found(HMK_SYM_try_to_migrate) &&
		   found(HMK_SYM_remove_migration_ptes);

	feature(HMK_FEAT_SCAN, true, 0);
	feature(HMK_FEAT_FLUSH_RANGE, found(HMK_SYM_flush_tlb_mm_range), HMK_WHY_SYMBOL);
	feature(HMK_FEAT_LRU_DRAIN, found(HMK_SYM_lru_add_drain_all), HMK_WHY_SYMBOL);
	feature(HMK_FEAT_MOVE_OWN, own, HMK_WHY_SYMBOL);
	feature(HMK_FEAT_MOVE_BATCH,
		own && HMK_TTU_BATCH_ALLOWED && found(HMK_SYM_try_to_unmap_flush),
		HMK_TTU_BATCH_ALLOWED ? HMK_WHY_SYMBOL : HMK_WHY_CONFIG);
	feature(HMK_FEAT_MOVE_VMA, IS_ENABLED(CONFIG_DEVICE_MIGRATION), HMK_WHY_CONFIG);
	feature(HMK_FEAT_MOVE_SHMEM, own, HMK_WHY_SYMBOL);
	feature(HMK_FEAT_MOVE_PAGE_TABLES, false, HMK_WHY_NOT_YET);
	feature(HMK_FEAT_PTRACE_CHECK, found(HMK_SYM_ptrace_may_access), HMK_WHY_SYMBOL);
	feature(HMK_FEAT_LSM_CHECK, !IS_ENABLED(CONFIG_SECURITY) ||
		found(HMK_SYM_security_task_movememory), HMK_WHY_SYMBOL);
	feature(HMK_FEAT_PIDFD, found(HMK_SYM_pidfd_pid), HMK_WHY_SYMBOL);
	feature(HMK_FEAT_YOUNG, IS_ENABLED(CONFIG_PAGE_IDLE_FLAG), HMK_WHY_CONFIG);
	feature(HMK_FEAT_CPUSET, true, 0);
	feature(HMK_FEAT_TEST_SWITCHES, IS_ENABLED(HMK_TEST_SWITCHES), HMK_WHY_BUILD);
	feature(HMK_FEAT_MOVE_PAIRED, true, 0);
	feature(HMK_FEAT_DENSE, true, 0);
	feature(HMK_FEAT_COPY_THREADS, true, 0);
	feature(HMK_FEAT_SPLIT_HUGE,
		found(HMK_SYM_split_huge_pmd_address) && found(HMK_SYM_SPLIT_PAGE),
		IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) ? HMK_WHY_SYMBOL : HMK_WHY_CONFIG);
}

void hmk_symbols_resolve(bool allow)
{
	if (allow && lookup_available()) {
		unsigned long addr;

#define HMK_SYMBOL(name, ret, args, absent)					\
		addr = static_call(hmk_lookup)(#name);				\
		if (addr) {							\
			static_call_update(hmk_##name, (ret (*) args)addr);	\
			hmk_kernel.found |= BIT(HMK_SYM_##name);		\
		}
		HMK_SYMBOLS
#undef HMK_SYMBOL
	}
	derive_features();
}

void hmk_symbols_distrust(void)
{
	feature(HMK_FEAT_MOVE_OWN, false, HMK_WHY_SELFTEST);
	feature(HMK_FEAT_MOVE_BATCH, false, HMK_WHY_SELFTEST);
	feature(HMK_FEAT_MOVE_SHMEM, false, HMK_WHY_SELFTEST);
}

void hmk_symbols_report(struct hmk_info *info)
{
	unsigned int i;

	info->features = hmk_kernel.features;
	memcpy(info->why, hmk_kernel.why, sizeof(hmk_kernel.why));
	for (i = 0; i < HMK_SYM_NR; i++) {
		if (found(i))
			continue;
		if (info->missing[0])
			strlcat(info->missing, " ", sizeof(info->missing));
		strlcat(info->missing, hmk_symbol_names[i], sizeof(info->missing));
	}
}

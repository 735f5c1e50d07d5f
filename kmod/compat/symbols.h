/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel functions that no module may link to, resolved at load by name.
 * One fact, one place: hmk_features says which of them can be called.
 */
#ifndef HMK_COMPAT_SYMBOLS_H
#define HMK_COMPAT_SYMBOLS_H

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/rmap.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "compat/mm.h"

struct hmk_info;

/* Its folio locked and referenced, by its first page: to base pages, or back to what it was. */
#ifdef HMK_HAVE_SPLIT_HUGE_PAGE_TO_ORDER
#define HMK_SYMBOL_SPLIT_PAGE							\
	HMK_SYMBOL(split_huge_page_to_list_to_order, int, (struct page *page,	\
		struct list_head *list, unsigned int new_order), -EBUSY)
#define HMK_SYM_SPLIT_PAGE HMK_SYM_split_huge_page_to_list_to_order
#define hmk_split_folio(folio)							\
	hmk_call(split_huge_page_to_list_to_order)(&(folio)->page, NULL, 0)
#else
#define HMK_SYMBOL_SPLIT_PAGE							\
	HMK_SYMBOL(split_huge_page_to_list, int, (struct page *page,		\
		struct list_head *list), -EBUSY)
#define HMK_SYM_SPLIT_PAGE HMK_SYM_split_huge_page_to_list
#define hmk_split_folio(folio)							\
	hmk_call(split_huge_page_to_list)(&(folio)->page, NULL)
#endif

/* mmap lock held; @folio is what is mapped there. */
#ifdef HMK_HAVE_SPLIT_HUGE_PMD_ADDRESS_FOLIO
#define HMK_SYMBOL_SPLIT_PMD							\
	HMK_SYMBOL(split_huge_pmd_address, void, (struct vm_area_struct *vma,	\
		unsigned long address, bool freeze, struct folio *folio), 0)
#define hmk_split_pmd(vma, addr, folio)						\
	hmk_call(split_huge_pmd_address)(vma, addr, false, folio)
#else
#define HMK_SYMBOL_SPLIT_PMD							\
	HMK_SYMBOL(split_huge_pmd_address, void, (struct vm_area_struct *vma,	\
		unsigned long address, bool freeze), 0)
#define hmk_split_pmd(vma, addr, folio)						\
	hmk_call(split_huge_pmd_address)(vma, addr, false)
#endif

/*
 * HMK_SYMBOL(name, return type, parameters, what it returns while it is absent:
 * a refusal). What a public header declares is compared with it by the compiler,
 * see symbols.c; all of them with what the running kernel's BTF says in
 * tests/lab/test_prototypes.py. remove_migration_ptes() takes bool, int or an
 * enum as its last argument depending on the release; 0 means the same in all.
 */
#define HMK_SYMBOLS								\
	HMK_SYMBOL(flush_tlb_mm_range, void, (struct mm_struct *mm,		\
		unsigned long start, unsigned long end,				\
		unsigned int stride_shift, bool freed_tables), 0)		\
	HMK_SYMBOL(lru_add_drain, void, (void), 0)				\
	HMK_SYMBOL(lru_add_drain_all, void, (void), 0)				\
	HMK_SYMBOL(folio_isolate_lru, int, (struct folio *folio),		\
		HMK_NOT_ISOLATED)						\
	HMK_SYMBOL(folio_putback_lru, void, (struct folio *folio), 0)		\
	HMK_SYMBOL(try_to_migrate, void, (struct folio *folio,			\
		enum ttu_flags flags), 0)					\
	HMK_SYMBOL(remove_migration_ptes, void, (struct folio *src,		\
		struct folio *dst, int flags), 0)				\
	HMK_SYMBOL(try_to_unmap_flush, void, (void), 0)				\
	HMK_SYMBOL(ptrace_may_access, bool, (struct task_struct *task,		\
		unsigned int mode), false)					\
	HMK_SYMBOL(security_task_movememory, int, (struct task_struct *task),	\
		-EPERM)								\
	HMK_SYMBOL(pidfd_pid, struct pid *, (const struct file *file),		\
		ERR_PTR(-EOPNOTSUPP))						\
	HMK_SYMBOL_SPLIT_PMD							\
	HMK_SYMBOL_SPLIT_PAGE

#define HMK_SYMBOL(name, ret, args, absent)					\
	ret hmk_absent_##name args;						\
	DECLARE_STATIC_CALL(hmk_##name, hmk_absent_##name);
HMK_SYMBOLS
#undef HMK_SYMBOL

#define hmk_call(name) static_call(hmk_##name)

/**
 * hmk_has() - does this feature work on this kernel?
 * @feature: HMK_FEAT_*
 *
 * Return: true when it does. Set once at load, never changes.
 */
bool hmk_has(unsigned int feature);

/**
 * hmk_symbols_resolve() - look all names up and derive the features.
 * @allow: false leaves every name unresolved, to test the fallbacks.
 */
void hmk_symbols_resolve(bool allow);

/* The own path failed its self-test: what rests on it is off. Before the device exists. */
void hmk_symbols_distrust(void);

/**
 * hmk_symbols_report() - fill in features, reasons and missing names.
 * @info: zeroed by the caller.
 */
void hmk_symbols_report(struct hmk_info *info);

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/hmk.h>
#include <asm/invpcid.h>
#include <asm/processor.h>
#include <asm/tlbflush.h>

#include "compat/flush.h"
#include "compat/symbols.h"

/*
 * Without the kernel's own function: raise the mm's generation, so that a CPU
 * that switches back to it flushes, and interrupt the CPUs that use it now.
 * Runs with interrupts off.
 */
static void flush_this_cpu(void *unused)
{
	unsigned long cr;

	if (cpu_feature_enabled(X86_FEATURE_INVPCID)) {
		invpcid_flush_all_nonglobals();
	} else if (cpu_feature_enabled(X86_FEATURE_PCID)) {
		/* Changing PGE drops the entries of every PCID. */
		asm volatile("mov %%cr4, %0" : "=r" (cr) : : "memory");
		asm volatile("mov %0, %%cr4" : : "r" (cr ^ X86_CR4_PGE) : "memory");
		asm volatile("mov %0, %%cr4" : : "r" (cr) : "memory");
	} else {
		asm volatile("mov %%cr3, %0" : "=r" (cr) : : "memory");
		asm volatile("mov %0, %%cr3" : : "r" (cr) : "memory");
	}
}

/*
 * With INVLPGB an address space may have an ASID of its own on all CPUs, and who
 * switches to it does not look at the generation: then only the kernel can flush.
 */
bool hmk_flush_works(void)
{
#ifdef X86_FEATURE_INVLPGB	/* since 6.15, as is the kernel's use of it */
	if (cpu_feature_enabled(X86_FEATURE_INVLPGB))
		return hmk_has(HMK_FEAT_FLUSH_RANGE);
#endif
	return true;
}

static void flush_by_interrupt(struct mm_struct *mm)
{
	atomic64_inc(&mm->context.tlb_gen);
	on_each_cpu_mask(mm_cpumask(mm), flush_this_cpu, NULL, true);
}

void hmk_flush_range(struct mm_struct *mm, unsigned long start, unsigned long end,
		     unsigned int stride)
{
	if (hmk_has(HMK_FEAT_FLUSH_RANGE))
		hmk_call(flush_tlb_mm_range)(mm, start, end, stride, false);
	else
		flush_by_interrupt(mm);
}

void hmk_flush_mm(struct mm_struct *mm)
{
	if (hmk_has(HMK_FEAT_FLUSH_RANGE))
		hmk_call(flush_tlb_mm_range)(mm, 0, TLB_FLUSH_ALL, 0, false);
	else
		flush_by_interrupt(mm);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Copying past the cache, surviving a memory error: no exported function does both. */
#ifndef HMK_COMPAT_STREAM_H
#define HMK_COMPAT_STREAM_H

#include <linux/highmem.h>
#include <linux/uaccess.h>

#ifdef CONFIG_X86_64
#include <asm/asm.h>
#include <asm/fpu/api.h>

#define HMK_STREAM_LOAD(offset, reg)						\
	"1: movdqa " #offset "(%[from]), %%" #reg "\n\t"			\
	_ASM_EXTABLE_TYPE(1b, 9f, EX_TYPE_DEFAULT_MCE_SAFE)

/*
 * SSE2, which every x86-64 has. 64 bytes a turn, the registers are the FPU's, so
 * nobody else runs here meanwhile: a page at a time. A load that meets poison ends
 * the page: each has an entry in the exception table, as copy_mc_to_kernel() has.
 *
 * @to and @from are pages. Return: 0, or -EHWPOISON when the source cannot be read.
 */
static inline int hmk_stream_copy(char *to, const char *from)
{
	unsigned int left = PAGE_SIZE / 64;

	kernel_fpu_begin();
	asm volatile("2:\n\t"
		     HMK_STREAM_LOAD(0, xmm0)
		     HMK_STREAM_LOAD(16, xmm1)
		     HMK_STREAM_LOAD(32, xmm2)
		     HMK_STREAM_LOAD(48, xmm3)
		     "movntdq %%xmm0, (%[to])\n\t"
		     "movntdq %%xmm1, 16(%[to])\n\t"
		     "movntdq %%xmm2, 32(%[to])\n\t"
		     "movntdq %%xmm3, 48(%[to])\n\t"
		     "add $64, %[from]\n\t"
		     "add $64, %[to]\n\t"
		     "dec %[left]\n\t"
		     "jnz 2b\n"
		     "9:"
		     : [from] "+r" (from), [to] "+r" (to), [left] "+r" (left)
		     : : "memory", "cc");
	kernel_fpu_end();
	return left ? -EHWPOISON : 0;
}
#else
static inline int hmk_stream_copy(char *to, const char *from)
{
	return copy_mc_to_kernel(to, from, PAGE_SIZE) ? -EHWPOISON : 0;
}
#endif

#endif

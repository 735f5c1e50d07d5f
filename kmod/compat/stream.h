/* SPDX-License-Identifier: GPL-2.0-only */
/* Copying past the cache: the kernel exports no function that does. */
#ifndef HMK_COMPAT_STREAM_H
#define HMK_COMPAT_STREAM_H

#include <linux/highmem.h>

#ifdef CONFIG_X86_64
#include <asm/fpu/api.h>

/*
 * SSE2, which every x86-64 has. 64 bytes a turn, the registers are the FPU's, so
 * nobody else runs here meanwhile: a page at a time.
 */
static inline void hmk_stream_page(struct page *dst, struct page *src)
{
	char *to = kmap_local_page(dst), *from = kmap_local_page(src), *end = from + PAGE_SIZE;

	kernel_fpu_begin();
	for (; from < end; from += 64, to += 64) {
		asm volatile("movdqa (%0), %%xmm0\n\t"
			     "movdqa 16(%0), %%xmm1\n\t"
			     "movdqa 32(%0), %%xmm2\n\t"
			     "movdqa 48(%0), %%xmm3\n\t"
			     "movntdq %%xmm0, (%1)\n\t"
			     "movntdq %%xmm1, 16(%1)\n\t"
			     "movntdq %%xmm2, 32(%1)\n\t"
			     "movntdq %%xmm3, 48(%1)"
			     : : "r" (from), "r" (to) : "memory");
	}
	kernel_fpu_end();
	kunmap_local(from - PAGE_SIZE);
	kunmap_local(to - PAGE_SIZE);
}
#else
static inline void hmk_stream_page(struct page *dst, struct page *src)
{
	copy_highpage(dst, src);
}
#endif

#endif

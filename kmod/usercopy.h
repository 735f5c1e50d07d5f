/* SPDX-License-Identifier: GPL-2.0-only */
/* Sized structs to and from user memory, as the uapi header promises. */
#ifndef HMK_USERCOPY_H
#define HMK_USERCOPY_H

#include <linux/mm.h>
#include <linux/uaccess.h>

/**
 * hmk_copy_in() - copy a sized struct from user memory.
 * @dst:  kernel struct.
 * @size: its size.
 * @src:  user struct; its first member is its size as the caller knows it.
 * @min:  smallest size that was ever valid.
 *
 * Return: 0; -EFAULT; -EINVAL when the caller's struct is too small; -E2BIG
 * when it has bytes beyond ours that are not zero.
 */
static inline long hmk_copy_in(void *dst, size_t size, const void __user *src, size_t min)
{
	u32 usize;

	if (get_user(usize, (const u32 __user *)src))
		return -EFAULT;
	if (usize < min)
		return -EINVAL;
	if (usize > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(dst, size, src, usize);
}

/* The caller's size came in with the struct: never write past what it knows. */
static inline long hmk_copy_out(void __user *dst, const void *src, size_t size)
{
	u32 usize = *(const u32 *)src;

	return copy_to_user(dst, src, min_t(size_t, usize, size)) ? -EFAULT : 0;
}

#endif

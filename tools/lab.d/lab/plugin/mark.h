/* SPDX-License-Identifier: MIT */
/*
 * Marks: an instruction that does nothing on any CPU and that the lab's
 * counting plugin recognises. Example, counting only what lies between:
 *
 *	HMK_MARK(0);	// counters to zero
 *	work();
 *	HMK_MARK(1);	// append a line with the counters to marks.jsonl
 *
 * N is a constant from 0 to 15. The instruction is NOP with an 8-byte
 * encoding and a displacement ("HMK", N) that no compiler emits.
 */
#ifndef HMK_LAB_MARK_H
#define HMK_LAB_MARK_H

#define HMK_MARK_MAGIC 0x484d4b

#define HMK_MARK_TEXT_(n) #n
#define HMK_MARK(n)                                                           \
	__asm__ __volatile__(".byte 0x0f, 0x1f, 0x84, 0x00\n\t"               \
			     ".long (0x484d4b << 8) | (" HMK_MARK_TEXT_(n) ")" \
			     ::: "memory")

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The table in which a program says what it knows of its own memory: a header of a page, then a slot
 * for each object. The program makes it, a sealed memfd, and hands it to hmkd over hints.sock; hmkd
 * reads the slots and takes nothing in them for true.
 *
 * State, not messages: the last word on an object counts, a thousand before it cost hmkd nothing,
 * and an hmkd that starts anew finds all of it.
 *
 * Over the socket (SOCK_STREAM) the program sends one byte with the memfd, and is answered with an
 * int: 0, or a negative errno before the connection ends. Any byte after that rings: there is
 * something new to read. The program rings when `asleep` was 1, and sets it to 0 as it does.
 */
#ifndef HMK_HINTS_ABI_H
#define HMK_HINTS_ABI_H

#include <linux/types.h>

#define HMK_HINTS_SOCKET	"/run/hmk/hints.sock"
#define HMK_HINTS_MAGIC		0x53544e49484b4d48ull	/* "HMKHINTS" */
#define HMK_HINTS_LAYOUT	1u
#define HMK_HINTS_SLOTS		16383u	/* objects at a time */
#define HMK_HINTS_HEADER	4096u	/* bytes before the first slot */
#define HMK_HINTS_LABEL		32u	/* bytes of a label, with a 0 at its end */

struct hmk_hints_header {
	__u64 magic;
	__u32 layout;
	__u32 slot_size;
	__u32 nr_slots;
	__u32 slots_used;	/* no object is in a slot from this one on */
	__u32 reserved[10];
	/* hmkd writes, apart from what the program does. */
	__u32 asleep;		/* 1: ring when there is something new */
	__u32 reserved_hmkd[15];
};

/* What is said of an object; bits 0 .. 7 of hmk_hint_slot.said. */
enum hmk_says {
	HMK_SAYS_NOTHING,
	HMK_SAYS_READ,		/* about to be read */
	HMK_SAYS_WRITE,		/* about to be written */
	HMK_SAYS_USE,		/* about to be read and written */
	HMK_SAYS_ARCHIVE,	/* not for a while */
	HMK_SAYS_RETIRED,	/* its contents are dead */
};

/* bits 8 .. 23: how often each page is gone through, in sixteenths; bits 24 .. 63: number of the word. */
#define HMK_SAID_PASSES_SHIFT	8
#define HMK_SAID_PASSES_UNIT	16u
#define HMK_SAID_NUMBER_SHIFT	24

struct hmk_hint_slot {
	__u32 seq;		/* odd while the members below change */
	__u32 reserved;
	__u64 start;		/* address */
	__u64 bytes;		/* 0: no object here */
	__u64 said;		/* changes by itself, in one store */
	char label[HMK_HINTS_LABEL];
};

#endif /* HMK_HINTS_ABI_H */

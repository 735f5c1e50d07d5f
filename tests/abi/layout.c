// SPDX-License-Identifier: MIT
#include <linux/hmk.h>
#include <stddef.h>

#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "size of " #type);
#define AT(type, member, offset) \
	_Static_assert(offsetof(struct type, member) == (offset), #type "." #member);
#include "abi/layout.inc"

/* The numbers of the ioctls are part of the contract too: x86-64 and arm64 agree on them. */
_Static_assert(HMK_IOC_GET_INFO == 0xc178b900u, "GET_INFO");
_Static_assert(HMK_IOC_ATTACH == 0xc068b901u, "ATTACH");
_Static_assert(HMK_IOC_SET == 0xc058b902u, "SET");
_Static_assert(HMK_IOC_START == 0x0000b903u, "START");
_Static_assert(HMK_IOC_STOP == 0x0000b904u, "STOP");
_Static_assert(HMK_IOC_MOVE == 0xc030b905u, "MOVE");
_Static_assert(HMK_IOC_RESULT == 0xc020b906u, "RESULT");
_Static_assert(HMK_IOC_STATS == 0xc540b907u, "STATS");

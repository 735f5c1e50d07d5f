// SPDX-License-Identifier: MIT
// The lifecycle fuzz with ten clients, of three sessions each, on one program and its child.
#define TARGETS	1
#define OWNERS	10
/* One program forks and ends too rarely to wait for it: pages moved in every way of asking are. */
#define WANTED_FROM DID_pages_synchronous
#include "../31-lifecycle-fuzz/fuzz.c"

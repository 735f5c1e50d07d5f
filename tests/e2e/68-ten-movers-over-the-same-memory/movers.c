// SPDX-License-Identifier: MIT
// The lifecycle fuzz with ten clients, of three sessions each, on one program and its child.
#define TARGETS	1
#define OWNERS	10
#define WANTED	1	/* one program forks and ends too rarely to wait for it */
#include "../31-lifecycle-fuzz/fuzz.c"

// SPDX-License-Identifier: MIT
// The lifecycle fuzz, here with swap under it: MADV_PAGEOUT does something.
#include "../31-lifecycle-fuzz/fuzz.c"

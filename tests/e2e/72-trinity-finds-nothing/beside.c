// SPDX-License-Identifier: MIT
#include "../71-the-kernels-own-tests-notice-nothing/beside.c"

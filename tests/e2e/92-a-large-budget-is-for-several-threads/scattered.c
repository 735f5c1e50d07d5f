// SPDX-License-Identifier: MIT
#include "../90-scattered-hot-pages-move-alone/scattered.c"

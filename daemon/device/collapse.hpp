// SPDX-License-Identifier: MIT
//
// Joins 2 MiB of another process that are mapped by small entries into one huge page: stock Linux
// from 6.1 on, nothing of the module's.
//
//   const Collapse collapse = collapse_of(std::move(pidfd));
//   if (const int err = collapse(start, 2 << 20)) ...
#pragma once

#include <cstdint>
#include <functional>

#include "util/fd.hpp"

namespace hmk {

/// Returns 0 or the errno. Takes milliseconds, in which the process may wait for its page tables:
/// not for the loop. May be copied to another thread and called there.
///
/// EAGAIN, EBUSY: pages are pinned, locked or isolated now. ENOMEM: no free 2 MiB on the node, or
/// part of it is unmapped. EINVAL: this memory may have no huge pages. EPERM, EACCES: not allowed.
/// ENOSYS: this kernel cannot. ESRCH: the process has ended.
using Collapse = std::function<int(std::uint64_t start, std::uint64_t length)>;

/// Of the process that a pidfd stands for.
Collapse collapse_of(Fd process);

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// What the kernel does with memory of another process when it is asked: stock Linux, nothing of the
// module's.
//
//   const Advice advice = advice_of(std::move(pidfd));
//   if (const int err = advice.collapse(start, 2 << 20)) ...
#pragma once

#include <cstdint>
#include <functional>

#include "util/fd.hpp"

namespace hmk {

/// Returns 0 or the errno. Takes milliseconds, in which the process may wait for its page tables:
/// not for the loop. May be copied to another thread and called there.
///
/// EAGAIN, EBUSY: pages are pinned, locked or isolated now. ENOMEM: no free memory on the node, or
/// part of it is unmapped. EINVAL: not with this memory. EPERM, EACCES: not allowed. ENOSYS: this
/// kernel cannot. ESRCH: the process has ended.
using Advise = std::function<int(std::uint64_t start, std::uint64_t length)>;

struct Advice {
  /// Joins 2 MiB that are mapped by small entries into one huge page: Linux 6.1.
  Advise collapse;
  /// Pages out what of it no other process maps, as far as there is swap: Linux 5.10.
  Advise page_out;
};
/// Of the process that a pidfd stands for.
Advice advice_of(Fd process);

}  // namespace hmk

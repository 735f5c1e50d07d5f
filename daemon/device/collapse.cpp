// SPDX-License-Identifier: MIT
#include "device/collapse.hpp"

#include <linux/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "util/fd.hpp"

namespace hmk {

Collapse collapse_of(std::int32_t pid) {
  const auto process =
      std::make_shared<const Fd>(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const int err = *process ? 0 : errno;
  return [=](std::uint64_t start, std::uint64_t length) {
    if (err != 0) return err;
    const iovec range{reinterpret_cast<void*>(start), length};
    return ::syscall(SYS_process_madvise, process->get(), &range, 1, MADV_COLLAPSE, 0) < 0 ? errno
                                                                                           : 0;
  };
}

}  // namespace hmk

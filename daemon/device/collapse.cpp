// SPDX-License-Identifier: MIT
#include "device/collapse.hpp"

#include <linux/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace hmk {

Collapse collapse_of(Fd process) {
  const auto pidfd = std::make_shared<const Fd>(std::move(process));
  return [=](std::uint64_t start, std::uint64_t length) {
    const iovec range{reinterpret_cast<void*>(start), length};
    return ::syscall(SYS_process_madvise, pidfd->get(), &range, 1, MADV_COLLAPSE, 0) < 0 ? errno
                                                                                         : 0;
  };
}

}  // namespace hmk

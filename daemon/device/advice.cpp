// SPDX-License-Identifier: MIT
#include "device/advice.hpp"

#include <linux/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace hmk {
namespace {

Advise advise(std::shared_ptr<const Fd> pidfd, int advice) {
  return [pidfd = std::move(pidfd), advice](std::uint64_t start, std::uint64_t length) {
    const iovec range{reinterpret_cast<void*>(start), length};
    return ::syscall(SYS_process_madvise, pidfd->get(), &range, 1, advice, 0) < 0 ? errno : 0;
  };
}

}  // namespace

Advice advice_of(Fd process) {
  const auto pidfd = std::make_shared<const Fd>(std::move(process));
  Advice advice;
  advice.collapse = advise(pidfd, MADV_COLLAPSE);
  advice.page_out = advise(pidfd, MADV_PAGEOUT);
  return advice;
}

}  // namespace hmk

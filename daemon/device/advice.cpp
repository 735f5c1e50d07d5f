// SPDX-License-Identifier: MIT
#include "device/advice.hpp"

#include <linux/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace hmk {
namespace {

Advise advice_of(std::shared_ptr<const Fd> pidfd, int advice) {
  return [pidfd = std::move(pidfd), advice](std::uint64_t start, std::uint64_t length) {
    const iovec range{reinterpret_cast<void*>(start), length};
    return ::syscall(SYS_process_madvise, pidfd->get(), &range, 1, advice, 0) < 0 ? errno : 0;
  };
}

}  // namespace

Advise collapse_of(std::shared_ptr<const Fd> pidfd) {
  return advice_of(std::move(pidfd), MADV_COLLAPSE);
}

Advise page_out_of(std::shared_ptr<const Fd> pidfd) {
  return advice_of(std::move(pidfd), MADV_PAGEOUT);
}

}  // namespace hmk

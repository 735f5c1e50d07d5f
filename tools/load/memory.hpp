// SPDX-License-Identifier: MIT
// Anonymous memory of a load: on a huge page's boundary, of one size of pages.
#ifndef HMK_LOAD_MEMORY_HPP
#define HMK_LOAD_MEMORY_HPP

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "options.hpp"

namespace hmk::load {

inline constexpr std::uint64_t kPage = 4096, kHugePage = 2ull << 20;

struct Range {
  std::uint64_t start, length;  // bytes
  bool operator==(const Range&) const = default;
};

class Memory {
 public:
  /// Throws std::runtime_error.
  Memory(std::uint64_t bytes, bool is_huge) : mapped_(bytes + kHugePage), bytes_(bytes) {
    mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping_ == MAP_FAILED)
      throw std::runtime_error("cannot map " + std::to_string(bytes) +
                               " bytes: " + std::strerror(errno));
    const auto at = reinterpret_cast<std::uintptr_t>(mapping_);
    data_ = static_cast<char*>(mapping_) + (-at & (kHugePage - 1));
    madvise(data_, bytes, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  ~Memory() { munmap(mapping_, mapped_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// In order of addresses, so that first-touch fills one node after the other. Pages are zero.
  void touch() {
    for (std::uint64_t at = 0; at < bytes_; at += kPage) static_cast<volatile char*>(data_)[at] = 0;
  }

  template <typename T>
  T* as(std::uint64_t offset = 0) const {
    return reinterpret_cast<T*>(data_ + offset);
  }
  Range range() const { return {reinterpret_cast<std::uintptr_t>(data_), bytes_}; }

 private:
  void* mapping_;
  std::uint64_t mapped_, bytes_;
  char* data_;
};

/// --pages 4KiB|thp.
inline bool read_is_huge(Options& options) {
  const std::string pages = options.text("--pages", "4KiB");
  if (pages != "4KiB" && pages != "thp") options.fail("--pages " + pages + ": want 4KiB or thp");
  return pages == "thp";
}

}  // namespace hmk::load

#endif

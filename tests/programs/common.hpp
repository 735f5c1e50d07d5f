// SPDX-License-Identifier: MIT
// What the test programs share: a session of /dev/hmk, memory, and where pages are.
//
//   hmk::test::Session session(getpid());       // throws std::runtime_error with a reason
//   hmk::test::Memory memory(64 << 20, hmk::test::Pages::kBase);
//   hmk::test::nodes_of(memory.data(), nr_pages);
#ifndef HMK_TEST_COMMON_HPP
#define HMK_TEST_COMMON_HPP

#include <fcntl.h>
#include <linux/hmk.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hmk::test {

inline constexpr std::size_t kPage = HMK_PAGE_SIZE;
inline constexpr std::size_t kHuge = std::size_t{2} << 20;
inline constexpr int kExitCannot = 3;  // nothing could be tested: no module, no memory

[[noreturn]] inline void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// An open file of the device, bound to one process.
class Session {
 public:
  explicit Session(pid_t pid, hmk_params params = {})
      : fd_(open(HMK_DEVICE_PATH, O_RDWR | O_CLOEXEC)) {
    if (fd_ < 0) fail(HMK_DEVICE_PATH " (is hmk.ko loaded?)");
    hmk_attach attach{};
    attach.size = sizeof(attach);
    attach.flags = HMK_ATTACH_PID;
    attach.pidfd = pid;
    attach.params = params;
    if (ioctl(fd_, HMK_IOC_ATTACH, &attach) < 0) {
      close(std::exchange(fd_, -1));
      fail("cannot attach to pid " + std::to_string(pid));
    }
    table_bytes_ = attach.table_bytes;
  }
  ~Session() {
    if (fd_ >= 0) close(fd_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int fd() const { return fd_; }
  std::uint64_t table_bytes() const { return table_bytes_; }

 private:
  int fd_;
  std::uint64_t table_bytes_ = 0;
};

enum class Pages { kBase, kTransparentHuge, kShared };

/// Memory of one page kind, aligned to 2 MiB, not yet touched.
class Memory {
 public:
  Memory(std::size_t bytes, Pages pages) : length_(bytes + kHuge) {
    const int share = pages == Pages::kShared ? MAP_SHARED : MAP_PRIVATE;
    mapping_ = mmap(nullptr, length_, PROT_READ | PROT_WRITE, share | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    if (mapping_ == MAP_FAILED) fail("cannot map " + std::to_string(bytes) + " bytes");
    const auto at = reinterpret_cast<std::uintptr_t>(mapping_);
    data_ = static_cast<char*>(mapping_) + (-at & (kHuge - 1));
    madvise(data_, bytes, pages == Pages::kTransparentHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  ~Memory() { munmap(mapping_, length_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  char* data() const { return data_; }

 private:
  void* mapping_;
  std::size_t length_;
  char* data_;
};

/// The numbers of a kernel list such as "0-1,3".
inline std::vector<int> parse_list(const std::string& text) {
  std::vector<int> numbers;
  for (const char* at = text.c_str(); *at >= '0' && *at <= '9';) {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    for (long n = first; n <= last; ++n) numbers.push_back(static_cast<int>(n));
    at = *end == ',' ? end + 1 : end;
  }
  return numbers;
}

inline std::vector<int> nodes_with_memory() {
  std::ifstream file("/sys/devices/system/node/has_memory");
  std::string text;
  if (!std::getline(file, text))
    throw std::runtime_error("this kernel shows no NUMA nodes in sysfs");
  return parse_list(text);
}

/// Node of each page, or -errno, by move_pages(2): another pair of eyes than the module's.
inline std::vector<int> nodes_of(const char* start, std::size_t nr_pages) {
  std::vector<int> status(nr_pages, -ENOENT);
  std::vector<const char*> pages(nr_pages);
  for (std::size_t i = 0; i < nr_pages; ++i) pages[i] = start + i * kPage;
  if (syscall(SYS_move_pages, 0, nr_pages, pages.data(), nullptr, status.data(), 0) < 0)
    fail("move_pages(2) cannot tell where the pages are");
  return status;
}

}  // namespace hmk::test

#endif

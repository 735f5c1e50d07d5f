// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <sstream>

#include "device/tracker.hpp"
#include "util/fd.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kChunk = 2u << 20;
constexpr std::uint64_t kPresent = 1ull << 63, kSoftDirty = 1ull << 55;

class SoftDirty {
 public:
  SoftDirty(fs::path maps, Fd pagemap, Fd clear)
      : maps_(std::move(maps)), pagemap_(std::move(pagemap)), clear_(std::move(clear)) {}

  Result<Sight> look() const {
    Sight sight;
    std::istringstream lines(read_text(maps_).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      unsigned long start = 0, end = 0;
      char writable = '-';
      if (std::sscanf(line.c_str(), "%lx-%lx %*c%c", &start, &end, &writable) == 3 &&
          writable == 'w')
        look_at(start, end, sight.ranges);
    }
    if (sight.ranges.empty()) return Error{"the process has no memory left", "", ESRCH};
    if (const Result<void> cleared = clear(); !cleared) return cleared.error();
    return sight;
  }

  Result<void> clear() const {
    if (::pwrite(clear_.get(), "4", 1, 0) == 1) return {};
    return Error{"the soft-dirty bits cannot be cleared", "run hmkd as root", errno};
  }

 private:
  void look_at(std::uint64_t start, std::uint64_t end, std::vector<Seen>& out) const {
    std::array<std::uint64_t, kChunk / kPage> entries{};
    for (std::uint64_t next = 0; start < end; start = next) {
      next = std::min(end, (start / kChunk + 1) * kChunk);
      const std::size_t pages = (next - start) / kPage;
      const ssize_t got = ::pread(pagemap_.get(), entries.data(), pages * sizeof(entries[0]),
                                  static_cast<off_t>(start / kPage * sizeof(entries[0])));
      if (got <= 0) return;
      std::size_t present = 0, written = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(entries[0]); ++i) {
        present += (entries[i] & kPresent) != 0;
        written += (entries[i] & kPresent) != 0 && (entries[i] & kSoftDirty) != 0;
      }
      if (present > 0)
        out.push_back(
            {start, next - start, static_cast<double>(written) / static_cast<double>(present)});
    }
  }

  fs::path maps_;
  Fd pagemap_, clear_;
};

}  // namespace

Result<Tracker> track_by_soft_dirty(const fs::path& root, std::int32_t pid) {
  const fs::path proc = root / "proc" / std::to_string(pid);
  Fd pagemap(::open((proc / "pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  Fd clear(::open((proc / "clear_refs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!pagemap || !clear)
    return Error{"the soft-dirty bits of PID " + std::to_string(pid) + " cannot be read",
                 "run hmkd as root", errno};
  const auto tracker =
      std::make_shared<SoftDirty>(proc / "maps", std::move(pagemap), std::move(clear));
  if (const Result<void> cleared = tracker->clear(); !cleared) return cleared.error();
  return Tracker{"soft-dirty", 1, [tracker] { return tracker->look(); }};
}

}  // namespace hmk

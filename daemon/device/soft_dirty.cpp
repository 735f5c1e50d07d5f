// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>
#include <sstream>

#include "device/tracker.hpp"
#include "util/fd.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kChunk = 2u << 20;
constexpr std::uint64_t kPresent = 1ull << 63, kSoftDirty = 1ull << 55;

/// PAGEMAP_SCAN of linux/fs.h, since 6.7: it passes over what is not there without a word for each
/// page.
struct PageRegion {
  std::uint64_t start, end, categories;
};
struct PageScan {
  std::uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
  std::uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
constexpr unsigned long kScan = _IOWR('f', 16, PageScan);
constexpr std::uint64_t kIsPresent = 1u << 3, kIsSoftDirty = 1u << 7;

/// Adds pages up, in the order of their addresses, to ranges of at most 2 MiB of one area.
class Tally {
 public:
  Tally(std::uint64_t start, std::uint64_t end, std::vector<Seen>& out)
      : start_(start), end_(end), out_(out) {}
  ~Tally() { tell(); }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  void add(std::uint64_t from, std::uint64_t to, bool is_written) {
    for (std::uint64_t next = 0; from < to; from = next) {
      next = std::min(to, (from / kChunk + 1) * kChunk);
      if (from / kChunk != chunk_) tell();
      chunk_ = from / kChunk;
      present_ += (next - from) / kPage;
      if (is_written) written_ += (next - from) / kPage;
    }
  }

 private:
  void tell() {
    const std::uint64_t start = std::max(start_, chunk_ * kChunk);
    if (present_ > 0)
      out_.push_back({start, std::min(end_, (chunk_ + 1) * kChunk) - start,
                      static_cast<double>(written_) / static_cast<double>(present_)});
    present_ = written_ = 0;
  }

  std::uint64_t start_, end_, chunk_ = 0, present_ = 0, written_ = 0;
  std::vector<Seen>& out_;
};

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
    Tally tally(start, end, out);
    if (!scan(start, end, tally) && end - start <= memory_) read(start, end, tally);
  }

  /// False: this kernel cannot.
  bool scan(std::uint64_t start, std::uint64_t end, Tally& tally) const {
    std::array<PageRegion, 512> found{};
    PageScan ask{};
    ask.size = sizeof(ask);
    ask.end = end;
    ask.vec = reinterpret_cast<std::uintptr_t>(found.data());
    ask.vec_len = found.size();
    ask.category_mask = kIsPresent;
    ask.return_mask = kIsPresent | kIsSoftDirty;
    for (ask.start = start; ask.start < end; ask.start = ask.walk_end) {
      const int nr = ::ioctl(pagemap_.get(), kScan, &ask);
      if (nr < 0) return false;
      for (const PageRegion& one : std::span(found).first(static_cast<std::size_t>(nr)))
        tally.add(one.start, one.end, (one.categories & kIsSoftDirty) != 0);
    }
    return true;
  }

  void read(std::uint64_t start, std::uint64_t end, Tally& tally) const {
    std::array<std::uint64_t, kChunk / kPage> entries{};
    while (start < end) {
      const std::size_t pages = std::min<std::size_t>((end - start) / kPage, entries.size());
      const ssize_t got = ::pread(pagemap_.get(), entries.data(), pages * sizeof(entries[0]),
                                  static_cast<off_t>(start / kPage * sizeof(entries[0])));
      if (got <= 0) return;
      for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(entries[0]);
           ++i, start += kPage)
        if (entries[i] & kPresent) tally.add(start, start + kPage, (entries[i] & kSoftDirty) != 0);
    }
  }

  fs::path maps_;
  Fd pagemap_, clear_;
  /// An area larger than all memory is a reservation with little in it; to read a word for each of
  /// its pages takes longer than an interval. Before 6.7 it is left out.
  std::uint64_t memory_ = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * kPage;
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
  return Tracker{"soft-dirty", 1, false, [tracker] { return tracker->look(); }};
}

}  // namespace hmk

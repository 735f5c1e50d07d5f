// SPDX-License-Identifier: MIT
#include "mover/cache_room.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "policy/types.hpp"
#include "util/file.hpp"
#include "util/log.hpp"

namespace hmk {
namespace {

using policy::kPage;

constexpr std::size_t kAtOnce = 512;  // pages for which one call asks
// kswapd is woken by what is borrowed, and works beside it: as long as there is more after so
// long it is at it, and is waited for no longer than this.
constexpr std::chrono::milliseconds kLook{2}, kLongestWait{100};
constexpr int kMostTries = 3;

/// Anonymous memory of this process, of base pages: for a huge one nothing is reclaimed. None where
/// there are no addresses for it.
class Memory {
 public:
  explicit Memory(std::uint64_t bytes) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return;
    ::madvise(at, bytes, MADV_NOHUGEPAGE);
    at_ = static_cast<char*>(at);
    bytes_ = bytes;
  }
  ~Memory() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Whether at least half of what is still asked for gets there.
  bool go_on(int node) {
    std::array<void*, kAtOnce> pages{};
    std::array<int, kAtOnce> nodes{}, status{};
    std::size_t nr = 0;
    for (; nr < kAtOnce && used_ < bytes_; ++nr, used_ += kPage) {
      at_[used_] = 1;
      pages[nr] = at_ + used_;
      nodes[nr] = node;
    }
    if (nr == 0) return false;
    ::syscall(SYS_move_pages, 0, nr, pages.data(), nodes.data(), status.data(), MPOL_MF_MOVE);
    const auto there =
        std::count(status.begin(), status.begin() + static_cast<std::ptrdiff_t>(nr), node);
    return 2 * static_cast<std::size_t>(there) >= nr;
  }

 private:
  char* at_ = nullptr;
  std::uint64_t bytes_ = 0, used_ = 0;
};

/// Of a file with a line like "Node 0 MemFree:  4900104 kB" or "workingset_refault_file 7".
std::uint64_t number_after(const std::filesystem::path& file, std::string_view word) {
  const std::string text = read_text(file).value_or("");
  const std::size_t at = text.find(word);
  return at == text.npos ? 0 : std::strtoull(text.c_str() + at + word.size(), nullptr, 10);
}

std::uint64_t pages_read_again(const std::filesystem::path& root) {
  return number_after(root / "proc/vmstat", "workingset_refault_file ");
}

}  // namespace

std::shared_ptr<void> CacheRoom::borrow(int node, std::uint64_t bytes) {
  auto memory = std::make_shared<Memory>(bytes);
  while (memory->go_on(node)) continue;
  return memory;
}

/// All that the thread has.
struct CacheRoom::Job {
  std::filesystem::path root;
  Borrow borrow;
  std::vector<Need> needs;

  std::uint64_t read(int node, std::string_view word) const {
    return number_after(
               root / "sys/devices/system/node" / ("node" + std::to_string(node)) / "meminfo",
               word) *
           1024;
  }
  std::uint64_t free(int node) const { return read(node, "MemFree:"); }

  void wait_for_kswapd(const Need& need) const {
    const Clock::time_point end = Clock::now() + kLongestWait;
    std::uint64_t before = free(need.node);
    while (before < need.high_bytes && Clock::now() < end) {
      std::this_thread::sleep_for(kLook);
      const std::uint64_t now = free(need.node);
      if (now <= before) break;
      before = now;
    }
  }
  /// Too little is free above the low watermark, so what is borrowed wakes kswapd, which brings the
  /// node to its high one meanwhile.
  void make(const Need& need) const {
    for (int tries = 0; tries < kMostTries; ++tries) {
      const std::uint64_t now = free(need.node);
      // What is given back lies in the lists of a CPU at first, of a node as much as its low
      // watermark.
      const std::uint64_t listed = tries == 0 ? 0 : need.low_bytes;
      if (now + listed >= need.low_bytes + need.bytes) return;
      const auto held = borrow(need.node, need.bytes);
      wait_for_kswapd(need);
    }
  }
  std::uint64_t run() const {
    std::uint64_t dropped = 0;
    for (const Need& need : needs) {
      const std::uint64_t before = read(need.node, "Inactive(file):");
      make(need);
      dropped += before - std::min(before, read(need.node, "Inactive(file):"));
    }
    return dropped;
  }
};

void CacheRoom::collect() {
  const std::optional<std::uint64_t> bytes = beside_.take();
  if (!bytes) return;
  has_made_ = true;
  if (*bytes == 0) return;
  dropped_bytes_ += *bytes;
  watched_bytes_ += *bytes;
  watched_ = kWatched;
}

/// Of what was dropped lately, too much may have been read again.
void CacheRoom::judge() {
  if (paused_ > 0) --paused_;
  if (watched_ == 0) return;
  const std::uint64_t again = (pages_read_again(root_) - refaults_) * kPage;
  if (again > watched_bytes_ / kReadAgainParts) {
    paused_ = next_pause_;
    next_pause_ = std::min(2 * next_pause_, kLongestPause);
    spdlog::info(
        "page cache is left alone dropped_bytes={} read_again_bytes={} intervals={} "
        "hint=\"programs read it again; see reclaim_cache\"",
        watched_bytes_, again, paused_);
    watched_ = 0;
  } else if (--watched_ == 0) {
    next_pause_ = kPause;
  }
  if (watched_ == 0) watched_bytes_ = 0;
}

void CacheRoom::saw(Machine& machine, const std::filesystem::path& root, bool may_take) {
  root_ = root;
  collect();
  has_made_ = false;
  judge();
  rooms_.clear();
  for (auto& [id, node] : machine.nodes) {
    if (!may_take || paused_ > 0) node.cache_bytes = 0;
    if (node.cache_bytes == 0) continue;
    rooms_[id] = {.need = {id, 0, node.low_bytes, node.watermark_bytes},
                  .left = node.free_bytes - std::min(node.free_bytes, node.low_bytes),
                  .cache = node.cache_bytes};
  }
}

bool CacheRoom::is_ready(const std::map<int, std::uint64_t>& arriving) {
  if (beside_.is_busy()) return now_() > begun_ + kLongestHold;
  collect();
  if (std::exchange(has_made_, false)) return true;
  std::vector<Need> needs;
  for (const auto& [node, bytes] : arriving) {
    const auto found = rooms_.find(node);
    if (found == rooms_.end()) continue;
    Room& room = found->second;
    if (room.left >= bytes) {
      room.left -= bytes;
      continue;
    }
    room.left = 0;
    if (room.cache == 0) continue;
    needs.push_back(room.need);
    needs.back().bytes = bytes;
    room.cache -= std::min(room.cache, bytes);
  }
  if (needs.empty()) return true;
  return !begin(std::move(needs));
}

bool CacheRoom::begin(std::vector<Need> needs) {
  if (watched_ == 0) refaults_ = pages_read_again(root_);
  begun_ = now_();
  // It ends by itself: what is under way is never asked to stop.
  const auto refused = beside_.begin([job = Job{root_, borrow_, std::move(needs)}](
                                         const std::atomic<bool>&) { return job.run(); });
  if (refused)  // what finds no room is refused
    spdlog::debug("no room made reason=\"{}\"", *refused);
  return !refused;
}

}  // namespace hmk

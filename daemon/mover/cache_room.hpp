// SPDX-License-Identifier: MIT
//
// Room on nodes that the page cache fills: the kernel drops what it would drop first, clean pages
// that were not used a second time. No kernel before 6.17 can be asked for that on one node. So
// hmkd moves pages of its own there, for which the kernel makes room as for anybody's (of a node
// that is named nobody is killed for memory), and frees them at once. All beside the loop, since
// reclaim may wait. Cache that programs read again soon was no room: then it is left alone for a
// while, each time for longer.
//
//   CacheRoom room(begin_in_a_thread);
//   room.saw(machine, root, may_take);                    before each decision
//   if (!room.is_ready({{node, arriving_bytes}})) ...     before a ticket: again at room.ready_at()
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "topology/machine.hpp"
#include "util/beside.hpp"

namespace hmk {

class CacheRoom {
 public:
  using Clock = std::chrono::steady_clock;
  /// Takes `bytes` of a node's memory for as long as what it returns lives; less where the kernel
  /// gives less.
  using Borrow = std::function<std::shared_ptr<void>(int node, std::uint64_t bytes)>;
  static std::shared_ptr<void> borrow(int node, std::uint64_t bytes);

  /// Of what was dropped, more than one part in so many read again within kWatched decisions is too
  /// much; then it is left alone for kPause of them, twice as many each time, up to kLongestPause.
  static constexpr std::uint64_t kReadAgainParts = 8;
  static constexpr unsigned kWatched = 8, kPause = 8, kLongestPause = 1024;

  /// Reclaim may take long where there is little to reclaim; moves go on without it.
  static constexpr std::chrono::milliseconds kLongestHold{200};

  explicit CacheRoom(BeginBeside begin, Borrow take = borrow,
                     std::function<Clock::time_point()> now = Clock::now)
      : beside_(std::move(begin)), borrow_(std::move(take)), now_(std::move(now)) {}

  /// The machine as the next plans see it. Afterwards its nodes have no cache where none may be
  /// taken for room now.
  void saw(Machine& machine, const std::filesystem::path& root, bool may_take);

  /// Whether a ticket may be sent that brings so many bytes to nodes. Where they have too little
  /// room and cache, making it begins, and the answer is no until that has ended, in vain perhaps.
  bool is_ready(const std::map<int, std::uint64_t>& arriving);
  Clock::time_point ready_at() const { return now_() + kAskAgain; }

  std::uint64_t dropped_bytes() const { return dropped_bytes_; }  ///< of cache, so far

 private:
  static constexpr std::chrono::milliseconds kAskAgain{2};

  struct Need {
    int node = -1;
    std::uint64_t bytes = 0;                      // to arrive
    std::uint64_t low_bytes = 0, high_bytes = 0;  // watermarks
  };
  struct Room {
    Need need;                // but for the bytes
    std::uint64_t left = 0;   // bytes that may arrive before somebody has to look
    std::uint64_t cache = 0;  // bytes that may be dropped
  };
  struct Job;

  void collect();
  bool begin(std::vector<Need> needs);
  void judge();

  Beside<std::uint64_t> beside_;  // bytes dropped
  Borrow borrow_;
  std::function<Clock::time_point()> now_;
  std::filesystem::path root_;
  std::map<int, Room> rooms_;  // by node
  Clock::time_point begun_;
  bool has_made_ = false;  // for who asks next
  std::uint64_t dropped_bytes_ = 0;
  // Since the first of the decisions that are watched: bytes dropped, and pages read again before.
  std::uint64_t watched_bytes_ = 0, refaults_ = 0;
  unsigned watched_ = 0, paused_ = 0, next_pause_ = kPause;  // decisions
};

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// One session of the module, as the daemon sees it: the seam behind which tests
// put a FakeDevice. Units and error codes are those of uapi/linux/hmk.h.
//
//   Result<Session> session = attach_kernel("/dev/hmk", pid, params);
//   poll(session->device->poll_fd()); session->device->read_events();
#pragma once

#include <linux/hmk.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/advice.hpp"
#include "util/result.hpp"

namespace hmk {

/// A private copy of one published interval.
struct Snapshot {
  hmk_interval interval{};
  std::uint64_t counted_ns = 0;  ///< CLOCK_MONOTONIC; records know of moves that had ended by then
  std::vector<hmk_record> records;
};

/// How a ticket's pages are moved.
struct MoveHow {
  std::uint32_t flags = 0;         ///< HMK_MOVE_*, but TICKET, which is a matter of course here
  std::uint32_t copy_threads = 0;  ///< that copy at a time; 0: as the device thinks
};

class Device {
 public:
  virtual ~Device() = default;

  /// Readable when read_events() has something to say.
  virtual int poll_fd() const = 0;
  /// All that is pending; empty when nothing is. Never blocks.
  virtual Result<std::vector<hmk_event>> read_events() = 0;
  /// The newest interval. Its memory serves again: on a large machine it is tens of MiB, and new
  /// memory takes as long as what is read into it. err EAGAIN: nothing published yet; after an error
  /// `into` means nothing.
  virtual Result<void> snapshot(Snapshot& into) = 0;
  virtual Result<hmk_stats> stats() = 0;
  /// Where each page of [start, start + length) lies now: a node, or a negative errno (ENOENT:
  /// there is none). Walks the page tables of that range while the caller waits.
  virtual Result<std::vector<std::int32_t>> places(std::uint64_t start, std::uint64_t length) = 0;
  /// Change the members named by params.mask from the next interval on.
  virtual Result<void> set(const hmk_params& params) = 0;
  /// Start or stop the interval clock; regions keep their history.
  virtual Result<void> run(bool runs) = 0;
  /// Queue a ticket; an HMK_EVENT_TICKET tells its end. err EAGAIN: queue full.
  virtual Result<void> move(std::uint64_t cookie, std::span<const hmk_range> ranges,
                            const MoveHow& how) = 0;
  /// Stop a ticket that has not ended; its end is told as ever.
  virtual Result<void> cancel(std::uint64_t cookie) = 0;
  /// Fetch a finished ticket and forget it: one entry per range, in order.
  virtual Result<std::vector<hmk_range_result>> result(std::uint64_t cookie,
                                                       std::size_t nr_ranges) = 0;
};

inline double seconds_of(const hmk_interval& interval) {
  return static_cast<double>(interval.end_ns - interval.start_ns) / 1e9;
}

struct Session {
  std::unique_ptr<Device> device;
  hmk_info info{};
  std::string instead = {};  ///< without the module: what tracks and what moves
  Advice advice = {};        ///< empty: nobody does
};

/// How a process is attached; app.cpp is given one, tests give their own.
using Attach = std::function<Result<Session>(std::int32_t pid, const hmk_params& params)>;

/// True when some way of moving pages works on this kernel.
bool can_move(const Session& session);

/// "scan lru-drain move-own": the features that work, for the log and `hmkctl`.
std::string feature_names(const hmk_info& info);
/// The same of a session, or what stands in for the module.
std::string feature_names(const Session& session);

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// A Device without a kernel: tests publish intervals and decide how moves end.
// The descriptor is a real one, so the loop waits as it does on /dev/hmk.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "device/device.hpp"
#include "util/fd.hpp"

namespace hmk::test {

/// Interval `seq` of a second each, with a sample for each region.
inline Snapshot interval(std::uint64_t seq, std::vector<hmk_record> records) {
  Snapshot snapshot;
  snapshot.interval.seq = seq;
  snapshot.interval.start_ns = 1'000'000'000 * seq;
  snapshot.interval.end_ns = 1'000'000'000 * (seq + 1);
  snapshot.interval.profile_ns = 30'000'000;
  snapshot.interval.budget_ns = 50'000'000;
  snapshot.interval.num_scans = snapshot.interval.hotness_max = 3;
  snapshot.interval.nr_regions = static_cast<__u32>(records.size());
  snapshot.interval.nr_samples = snapshot.interval.nr_regions;
  snapshot.records = std::move(records);
  return snapshot;
}

/// What the tests keep in their hands while the daemon owns the Device.
struct FakeKernel {
  Fd wake{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  std::deque<hmk_event> events;
  Snapshot table;
  hmk_params params{};
  struct Ticket {
    std::uint64_t cookie;
    std::vector<hmk_range> ranges;
    MoveHow how = {};
  };
  std::vector<Ticket> tickets;  ///< in flight, oldest first
  std::map<std::uint64_t, std::vector<hmk_range_result>> finished;
  std::vector<std::uint64_t> cancelled;  ///< cookies
  int refuse_move = 0;                   ///< errno of the next moves
  std::function<std::int32_t(std::uint64_t)>
      place;  ///< node of a page by its address; none: not told
  int refuse_set = 0;
  bool throw_at_events = false;
  std::function<void()> when_set;
  std::size_t nr_checked = 0;  ///< ranges of dry runs
  bool is_open = true;
  bool runs = true;  ///< the interval clock
  std::uint64_t now_ns = 0;

  void tell(unsigned kind, std::uint64_t value) {
    events.push_back({sizeof(hmk_event), kind, value, now_ns});
    const std::uint64_t one = 1;
    (void)!::write(wake.get(), &one, sizeof(one));
  }
  void publish(Snapshot snapshot) {
    table = std::move(snapshot);
    table.counted_ns = table.interval.start_ns;
    tell(HMK_EVENT_INTERVAL, table.interval.seq);
  }
  /// Ends the oldest ticket; `judge` says how each range went.
  void finish(const std::function<hmk_range_result(const hmk_range&)>& judge) {
    const Ticket ticket = tickets.front();
    tickets.erase(tickets.begin());
    for (const hmk_range& range : ticket.ranges) finished[ticket.cookie].push_back(judge(range));
    tell(HMK_EVENT_TICKET, ticket.cookie);
  }
};

/// Every page of the range moved, none written meanwhile.
inline hmk_range_result all_clean(const hmk_range& range) {
  hmk_range_result result{};
  result.pages_clean = range.length / HMK_PAGE_SIZE;
  result.commit_max_ns = 1000;
  return result;
}

inline hmk_range_result all_pinned(const hmk_range& range) {
  hmk_range_result result{};
  result.refused[HMK_REFUSED_PINNED] = range.length / HMK_PAGE_SIZE;
  return result;
}

class FakeDevice : public Device {
 public:
  explicit FakeDevice(FakeKernel& kernel) : kernel_(kernel) { kernel_.is_open = true; }
  ~FakeDevice() override { kernel_.is_open = false; }

  int poll_fd() const override { return kernel_.wake.get(); }
  Result<std::vector<hmk_event>> read_events() override {
    std::uint64_t count = 0;
    (void)!::read(kernel_.wake.get(), &count, sizeof(count));
    if (kernel_.throw_at_events) throw std::runtime_error("out of luck");
    std::vector<hmk_event> events(kernel_.events.begin(), kernel_.events.end());
    kernel_.events.clear();
    return events;
  }
  Result<void> snapshot(Snapshot& into) override {
    into = kernel_.table;
    return {};
  }
  Result<hmk_stats> stats() override {
    hmk_stats stats{};
    stats.intervals = kernel_.table.interval.seq;
    stats.profile_ns = 30;
    stats.wall_ns = 1000;
    stats.huge_examined = 9;
    stats.huge_split = 4;
    stats.huge_left = 5;
    return stats;
  }
  Result<std::vector<std::int32_t>> places(std::uint64_t start, std::uint64_t length) override {
    if (!kernel_.place) return Error{"hmk refused MOVE", "", EPERM};
    std::vector<std::int32_t> places;
    for (std::uint64_t at = start; at < start + length; at += HMK_PAGE_SIZE)
      places.push_back(kernel_.place(at));
    return places;
  }
  Result<void> set(const hmk_params& params) override {
    if (kernel_.refuse_set != 0) return Error{"hmk refused SET", "", kernel_.refuse_set};
    kernel_.params = params;
    if (kernel_.when_set) kernel_.when_set();
    return {};
  }
  Result<void> run(bool runs) override {
    kernel_.runs = runs;
    return {};
  }
  Result<void> move(std::uint64_t cookie, std::span<const hmk_range> ranges,
                    const MoveHow& how) override {
    if (kernel_.refuse_move != 0) return Error{"hmk refused MOVE", "", kernel_.refuse_move};
    if (how.flags & HMK_MOVE_DRY_RUN) {
      kernel_.nr_checked += ranges.size();
      return {};
    }
    kernel_.tickets.push_back({cookie, {ranges.begin(), ranges.end()}, how});
    return {};
  }
  Result<void> cancel(std::uint64_t cookie) override {
    kernel_.cancelled.push_back(cookie);
    return {};
  }
  Result<std::vector<hmk_range_result>> result(std::uint64_t cookie, std::size_t) override {
    const auto found = kernel_.finished.find(cookie);
    if (found == kernel_.finished.end()) return Error{"no such ticket", "", ENOENT};
    return found->second;
  }

 private:
  FakeKernel& kernel_;
};

inline hmk_info full_info() {
  hmk_info info{};
  info.abi_version = HMK_ABI_VERSION;
  info.features = 1ull << HMK_FEAT_SCAN | 1ull << HMK_FEAT_MOVE_OWN | 1ull << HMK_FEAT_LSM_CHECK |
                  1ull << HMK_FEAT_DENSE | 1ull << HMK_FEAT_COPY_THREADS;
  return info;
}

}  // namespace hmk::test

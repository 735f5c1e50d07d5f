// SPDX-License-Identifier: MIT
#include "device/plain_device.hpp"

#include <hmk/core/ladder.h>
#include <hmk/core/rate.h>
#include <linux/mempolicy.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>

#include "device/kernel_device.hpp"
#include "device/tracker.hpp"
#include "topology/process.hpp"
#include "util/clock.hpp"
#include "util/fd.hpp"

namespace hmk {
namespace {

constexpr std::size_t kPlaces = 16;    // pages of a range that are asked where they are
constexpr std::size_t kBatch = 8'192;  // pages of one move_pages(2)
constexpr std::uint64_t kLongest = 600'000'000'000;  // ns of an interval, as of a configured one
const Bindings kUnbound;

std::uint64_t now_ns(clockid_t clock) {
  return static_cast<std::uint64_t>(now_of(clock).count());
}

/// move_pages(2): without `nodes` it tells in `status` where pages are. 0 or the errno.
int move_pages(std::int32_t pid, const std::vector<void*>& pages, const int* nodes, int* status,
               int flags) {
  const long done =
      ::syscall(SYS_move_pages, pid, pages.size(), pages.data(), nodes, status, flags);
  return done < 0 ? errno : 0;  // above 0: so many have stayed
}

void* address(std::uint64_t at) {
  return reinterpret_cast<void*>(at);
}

std::vector<void*> pages_of(std::uint64_t start, std::uint64_t end) {
  std::vector<void*> pages;
  for (std::uint64_t at = start; at < end; at += kPage) pages.push_back(address(at));
  return pages;
}

/// Where pages are: a node, or a negative errno.
std::vector<int> places_of(std::int32_t pid, const std::vector<void*>& pages) {
  std::vector<int> status(pages.size(), -ENOENT);
  if (!pages.empty()) (void)move_pages(pid, pages, nullptr, status.data(), 0);
  return status;
}

/// Pages of a range, spread over it.
std::size_t nr_places(const Seen& seen) {
  return std::min<std::size_t>(kPlaces, seen.length / kPage);
}

/// Node, resident and away pages of a range from the places of some of its pages.
void place(hmk_record& record, std::span<const int> places) {
  std::map<int, std::uint64_t> on;
  std::uint64_t resident = 0, most = 0, second = 0;
  for (const int node : places)
    if (node >= 0) ++on[node], ++resident;
  record.node = record.away_node = -1;
  for (const auto& [node, pages] : on)
    if (pages > most) record.node = node, most = pages;
  for (const auto& [node, pages] : on)
    if (node != record.node && pages > second) record.away_node = node, second = pages;
  const std::uint64_t pages = record.length / kPage;
  if (places.empty()) return;
  record.resident_pages = static_cast<__u32>(pages * resident / places.size());
  record.away_pages = static_cast<__u32>(pages * (resident - most) / places.size());
}

class PlainDevice : public Device {
 public:
  using MakeTracker = std::function<Result<Tracker>()>;

  PlainDevice(std::filesystem::path root, std::int32_t pid, Fd pidfd, MakeTracker make_tracker,
              const hmk_params& params)
      : root_(std::move(root)),
        pid_(pid),
        pidfd_(std::move(pidfd)),
        make_tracker_(std::move(make_tracker)),
        params_(params) {
    for (const Fd* const fd : {&pidfd_, &timer_, &done_}) {
      epoll_event event{EPOLLIN, {}};
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd->get(), &event);
    }
  }

  int poll_fd() const override { return epoll_.get(); }
  Result<std::vector<hmk_event>> read_events() override;
  Result<void> snapshot(Snapshot& into) override {
    if (table_.interval.seq == 0) return Error{"nothing has been published yet", "", EAGAIN};
    into = table_;
    return {};
  }
  Result<hmk_stats> stats() override { return stats_; }
  Result<std::vector<std::int32_t>> places(std::uint64_t start, std::uint64_t length) override;
  Result<void> set(const hmk_params& params) override;
  Result<void> run(bool runs) override;
  Result<void> move(std::uint64_t cookie, std::span<const hmk_range> ranges,
                    const MoveHow& how) override;
  Result<void> cancel(std::uint64_t) override { return {}; }  // move() has moved all
  Result<std::vector<hmk_range_result>> result(std::uint64_t cookie, std::size_t) override;

 private:
  Result<void> look();
  Result<void> arm(std::uint64_t period_ns);
  Result<void> read_policies();
  void publish(const std::vector<Seen>& seen);
  std::uint32_t smoothed(const hmk_record& record) const;
  hmk_range_result move_range(const hmk_range& range, int flags, const Bindings& bindings) const;
  void move_batch(std::uint64_t start, std::uint64_t end, int node, int flags,
                  const Bindings& bindings, hmk_range_result& result) const;

  std::filesystem::path root_;
  std::int32_t pid_;
  Fd pidfd_;
  Fd timer_{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
  Fd done_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  Fd epoll_{::epoll_create1(EPOLL_CLOEXEC)};
  MakeTracker make_tracker_;
  std::optional<Tracker> tracker_;
  hmk_params params_;
  Snapshot table_;
  hmk_stats stats_{};
  std::uint64_t started_ns_ = 0, kernel_ns_ = 0, period_ns_ = 0;
  std::optional<Bindings> bindings_;  ///< of this interval; move_pages(2) asks the cpuset only
  std::map<std::uint64_t, std::vector<hmk_range_result>> tickets_;
  std::vector<std::uint64_t> untold_;  ///< cookies
};

Result<std::vector<hmk_event>> PlainDevice::read_events() {
  std::vector<hmk_event> events;
  const auto tell = [&](unsigned kind, std::uint64_t value) {
    events.push_back({sizeof(hmk_event), kind, value, now_ns(CLOCK_MONOTONIC)});
  };
  std::uint64_t count = 0;
  (void)!::read(done_.get(), &count, sizeof(count));
  for (const std::uint64_t cookie : std::exchange(untold_, {})) tell(HMK_EVENT_TICKET, cookie);
  if (::read(timer_.get(), &count, sizeof(count)) != sizeof(count)) {
    // Nothing is due: it is the process that has ended, or nobody.
    epoll_event event{};
    if (events.empty() && ::epoll_wait(epoll_.get(), &event, 1, 0) > 0) tell(HMK_EVENT_GONE, 0);
    return events;
  }
  // A tracker that sees nothing any more has lost the address space.
  const Result<void> looked = look();
  tell(looked ? HMK_EVENT_INTERVAL : HMK_EVENT_GONE, table_.interval.seq);
  return events;
}

Result<void> PlainDevice::look() {
  const std::uint64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);
  const Result<Sight> sight = tracker_->look();
  if (!sight) return sight.error();
  bindings_.reset();
  hmk_interval& interval = table_.interval;
  publish(sight->ranges);
  interval.start_ns = std::exchange(started_ns_, now_ns(CLOCK_MONOTONIC));
  interval.end_ns = started_ns_;
  const std::uint64_t own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
  interval.profile_ns = own_ns + (sight->kernel_ns - std::min(kernel_ns_, sight->kernel_ns));
  kernel_ns_ = sight->kernel_ns;
  interval.budget_ns = (interval.end_ns - interval.start_ns) * params_.budget_bp / 10'000;
  interval.flags = HMK_INTERVAL_DEGRADED;
  ++interval.seq;
  ++stats_.intervals;
  ++stats_.degraded_intervals;
  stats_.profile_ns += interval.profile_ns;
  stats_.wall_ns += interval.end_ns - interval.start_ns;
  stats_.regions = interval.nr_regions;
  stats_.samples = interval.nr_samples;
  // The kernel's own looks go on whatever the interval.
  const std::uint64_t needed_ns = own_ns * 10'000 / std::max<std::uint64_t>(params_.budget_bp, 1),
                      wanted_ns = std::max<std::uint64_t>(std::min(needed_ns, kLongest),
                                                          params_.interval_ns);
  return wanted_ns == period_ns_ ? Result<void>{} : arm(wanted_ns);
}

void PlainDevice::publish(const std::vector<Seen>& seen) {
  std::vector<void*> pages;
  for (const Seen& one : seen)
    for (std::size_t i = 0; i < nr_places(one); ++i)
      pages.push_back(address(one.start + one.length / kPage * i / nr_places(one) * kPage));
  const std::vector<int> places = places_of(pid_, pages);

  // As the module's equal windows: an EMA remembers 2 / alpha - 1 intervals.
  hmk_ladder windows{};
  hmk_ladder_make_equal(&windows, period_ns_ / params_.num_scans, params_.num_scans);
  const auto remembered_q4 = static_cast<__u32>(
      std::uint64_t{tracker_->looks} * 16 * (2 * 65536 - params_.alpha_q16) / params_.alpha_q16);

  std::vector<hmk_record> records;
  hmk_interval interval{};
  std::size_t next = 0;
  for (const Seen& one : seen) {
    hmk_record record{};
    record.start = one.start;
    record.length = one.length;
    record.generation = static_cast<__u32>(one.length / kPage);  // other borders, another region
    record.leaf_shift = 12;
    record.samples = static_cast<__u16>(tracker_->looks);
    record.hi_q16 = static_cast<__u32>(std::lround(one.accessed * 65536 * params_.num_scans));
    record.whi_q16 = smoothed(record);
    record.rate_q8 = hmk_ladder_rate_q8(&windows, record.whi_q16);
    record.rate_dev_q8 = hmk_rate_dev_q8(&windows, record.whi_q16, remembered_q4);
    place(record, std::span(places).subspan(next, nr_places(one)));
    next += nr_places(one);
    if (record.resident_pages == 0) continue;
    interval.resident_pages += record.resident_pages;
    records.push_back(record);
  }
  interval.seq = table_.interval.seq;
  interval.nr_regions = static_cast<__u32>(records.size());
  interval.nr_samples = interval.num_ps = interval.nr_regions * tracker_->looks;
  interval.num_scans = interval.hotness_max = params_.num_scans;
  table_ = {interval, now_ns(CLOCK_MONOTONIC), std::move(records)};
}

/// The EMA of HK-33, over what was there before by the middle of the range.
std::uint32_t PlainDevice::smoothed(const hmk_record& record) const {
  const std::uint64_t middle = record.start + record.length / 2;
  const auto after = std::ranges::upper_bound(table_.records, middle, {}, &hmk_record::start);
  if (after == table_.records.begin()) return record.hi_q16;
  const hmk_record& before = *std::prev(after);
  if (middle - before.start >= before.length) return record.hi_q16;
  const std::uint64_t alpha = params_.alpha_q16;
  return static_cast<std::uint32_t>((alpha * record.hi_q16 + (65536 - alpha) * before.whi_q16) >>
                                    16);
}

Result<void> PlainDevice::set(const hmk_params& params) {
  if (params.mask & HMK_PARAM_INTERVAL) params_.interval_ns = params.interval_ns;
  if (params.mask & HMK_PARAM_BUDGET) params_.budget_bp = params.budget_bp;
  if (params.mask & HMK_PARAM_NUM_SCANS) params_.num_scans = params.num_scans;
  if (params.mask & HMK_PARAM_ALPHA) params_.alpha_q16 = params.alpha_q16;
  // A clock that stands still is set when it is started.
  if ((params.mask & HMK_PARAM_INTERVAL) && tracker_) return run(true);
  return {};
}

Result<void> PlainDevice::run(bool runs) {
  if (!runs) tracker_.reset();
  if (runs && !tracker_) {
    Result<Tracker> made = make_tracker_();
    if (!made) return made.error();
    tracker_ = *std::move(made);
    kernel_ns_ = 0;
  }
  started_ns_ = now_ns(CLOCK_MONOTONIC);
  return arm(runs ? params_.interval_ns : 0);
}

/// 0: stands still.
Result<void> PlainDevice::arm(std::uint64_t period_ns) {
  const timespec period{static_cast<time_t>(period_ns / 1'000'000'000),
                        static_cast<long>(period_ns % 1'000'000'000)};
  const itimerspec clock{period, period};
  period_ns_ = period_ns;
  if (::timerfd_settime(timer_.get(), 0, &clock, nullptr) != 0)
    return Error{std::string("the interval clock: ") + std::strerror(errno), "", errno};
  return {};
}

/// Once per interval: it costs a walk over all of the process's page tables.
Result<void> PlainDevice::read_policies() {
  if (!bindings_) bindings_ = read_bindings(root_, pid_);
  if (bindings_) return {};
  const std::filesystem::path process = root_ / "proc" / std::to_string(pid_);
  const int err = std::filesystem::exists(process) ? EACCES : ESRCH;
  return Error{(process / "numa_maps").string() +
                   " cannot be read: what the process has bound to "
                   "nodes is unknown",
               "run hmkd as root or set move_bound: yes", err};
}

Result<std::vector<std::int32_t>> PlainDevice::places(std::uint64_t start, std::uint64_t length) {
  return places_of(pid_, pages_of(start, start + length));
}

Result<void> PlainDevice::move(std::uint64_t cookie, std::span<const hmk_range> ranges,
                               const MoveHow& how) {
  if (how.flags & HMK_MOVE_DRY_RUN) return {};
  const Bindings* bindings = &kUnbound;
  if (!(how.flags & HMK_MOVE_BOUND)) {
    if (Result<void> read = read_policies(); !read) return read.error();
    bindings = &*bindings_;
  }
  const int kernel_flags = how.flags & HMK_MOVE_SHARED ? MPOL_MF_MOVE_ALL : MPOL_MF_MOVE;
  std::vector<hmk_range_result> results;
  for (const hmk_range& range : ranges)
    results.push_back(move_range(range, kernel_flags, *bindings));
  tickets_[cookie] = std::move(results);
  untold_.push_back(cookie);
  const std::uint64_t one = 1;
  (void)!::write(done_.get(), &one, sizeof(one));
  return {};
}

hmk_range_result PlainDevice::move_range(const hmk_range& range, int flags,
                                         const Bindings& bindings) const {
  hmk_range_result result{};
  const std::uint64_t began = now_ns(CLOCK_MONOTONIC), end = range.start + range.length;
  for (std::uint64_t at = range.start; at < end && result.error == 0; at += kBatch * kPage)
    move_batch(at, std::min(end, at + kBatch * kPage), range.node, flags, bindings, result);
  result.copy_ns = now_ns(CLOCK_MONOTONIC) - began;
  return result;
}

void PlainDevice::move_batch(std::uint64_t start, std::uint64_t end, int node, int flags,
                             const Bindings& bindings, hmk_range_result& result) const {
  const std::vector<void*> all = pages_of(start, end);
  std::vector<void*> pages;
  const std::vector<int> before = places_of(pid_, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    result.pages_absent += before[i] < 0;
    result.pages_already += before[i] == node;
    if (before[i] < 0 || before[i] == node) continue;
    const bool may_move = may_lie_on(bindings, start + i * kPage, node);
    result.refused[HMK_REFUSED_POLICY] += !may_move;
    if (may_move) pages.push_back(all[i]);
  }
  if (pages.empty()) return;
  const std::vector<int> nodes(pages.size(), node);
  std::vector<int> said(pages.size(), 0);
  const int err = move_pages(pid_, pages, nodes.data(), said.data(), flags);
  if (err != 0 && err != ENOMEM) result.error = -err;
  // Where a page is now tells whether it was moved; what was said tells why not.
  const std::vector<int> after = places_of(pid_, pages);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (after[i] == node) {
      ++result.pages_sync;
    } else if (after[i] < 0) {
      ++result.refused[HMK_REFUSED_GONE];
    } else if (said[i] == -EACCES) {
      ++result.refused[HMK_REFUSED_SHARED];
    } else if (err == ENOMEM || said[i] == -ENOMEM) {
      ++result.refused[HMK_REFUSED_NO_ROOM];
    } else {
      ++result.refused[HMK_REFUSED_BUSY];
    }
  }
}

Result<std::vector<hmk_range_result>> PlainDevice::result(std::uint64_t cookie, std::size_t) {
  const auto found = tickets_.find(cookie);
  if (found == tickets_.end()) return Error{"no ticket with that cookie", "", ENOENT};
  std::vector<hmk_range_result> results = std::move(found->second);
  tickets_.erase(found);
  return results;
}

Result<Tracker> best_tracker(const std::filesystem::path& root, std::int32_t pid) {
  Result<Tracker> damon = track_by_damon(root, pid);
  if (damon) return damon;
  Result<Tracker> soft_dirty = track_by_soft_dirty(root, pid);
  if (soft_dirty) return soft_dirty;
  return Error{"without hmk.ko PID " + std::to_string(pid) +
                   " cannot be watched: " + damon.error().what + "; " + soft_dirty.error().what,
               "load the module or run hmkd as root", soft_dirty.error().err};
}

}  // namespace

Result<Session> attach_plain(const std::filesystem::path& root, std::int32_t pid,
                             const hmk_params& params) {
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) return explain_attach(errno, pid);
  if (const int err = move_pages(pid, {}, nullptr, nullptr, 0)) return explain_attach(err, pid);
  Result<Tracker> first = best_tracker(root, pid);
  if (!first) return first.error();
  const std::string instead = first->name + " move_pages";
  // What is read only would seem cold.
  const Advise page_out = first->sees_reads ? advice_of(Fd(::dup(pidfd.get()))).page_out : Advise{};
  *first = {};  // the device starts its own
  auto device = std::make_unique<PlainDevice>(
      root, pid, std::move(pidfd), [root, pid] { return best_tracker(root, pid); }, params);
  if (const Result<void> started = device->run(true); !started) return started.error();
  return Session{std::move(device), {}, instead, {{}, page_out}};
}

}  // namespace hmk

// SPDX-License-Identifier: MIT
#include "pager.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "topology/machine.hpp"
#include "util/clock.hpp"
#include "util/log.hpp"

namespace hmk {
namespace {

constexpr const char* kNoSwap = "add swap, for example zram or a swap file, or set page_out to no";
constexpr const char* kDenied =
    "it needs CAP_SYS_NICE and CAP_SYS_PTRACE, and in the unit SystemCallFilter=process_madvise; "
    "or set page_out to no";

std::uint64_t growth(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

bool is_denied(int err) {
  return err == EPERM || err == EACCES || err == ENOSYS;
}

}  // namespace

/// All that the thread has: it may outlive the Pager.
struct Pager::Job {
  Advise page_out;
  std::vector<policy::ColdMemory::Range> ranges;
  std::filesystem::path root;
  std::int32_t pid = 0;

  Done run(const std::atomic<bool>& is_stopped) const {
    Done done;
    done.before = read_paging(root, pid).value_or(Paging{});
    const auto begin = now_of(CLOCK_THREAD_CPUTIME_ID);
    for (const policy::ColdMemory::Range& range : ranges)
      for (policy::Bytes at = 0; at < range.length && !is_stopped; at += kPiece)
        if (const int err = page_out(range.start + at, std::min(kPiece, range.length - at))) {
          ++done.refused;
          done.err = err;
        }
    done.ns = static_cast<std::uint64_t>((now_of(CLOCK_THREAD_CPUTIME_ID) - begin).count());
    done.after = read_paging(root, pid).value_or(done.before);
    return done;
  }
};

Pager::Pager(std::int32_t pid, Advise page_out, BeginBeside begin)
    : pid_(pid), page_out_(std::move(page_out)), beside_(std::move(begin)) {}

void Pager::rest() {
  if (is_busy()) return;
  (void)collect();
  cold_ = {};
  limit_ = {};
  before_.reset();
}

void Pager::step(std::span<const policy::RegionView> regions, const Round& round) {
  cold_.saw(regions, round.interval);
  if (is_busy()) return;
  const policy::Bytes sent = collect();
  count_refaults(round.root, round.interval.seconds, sent, round.refaults_per_s);
  if (!round.acts || !page_out_) return;
  const policy::Bytes most = std::min(limit_.most(cold_.bytes()), room(round.root));
  std::vector<policy::ColdMemory::Range> ranges = cold_.oldest(most);
  if (ranges.empty()) return;
  cold_.forget(ranges);  // the module counts what is there once in eight intervals or more
  begin(std::move(ranges), round.root);
}

void Pager::begin(std::vector<policy::ColdMemory::Range> ranges,
                  const std::filesystem::path& root) {
  const auto refused =
      beside_.begin([job = Job{page_out_, std::move(ranges), root, pid_}](
                        const std::atomic<bool>& is_stopped) { return job.run(is_stopped); });
  if (refused) spdlog::debug("not paged out pid={} reason=\"{}\"", pid_, *refused);
}

/// Returns how much was paged out since the last time.
policy::Bytes Pager::collect() {
  const std::optional<Done> done = beside_.take();
  if (!done) return 0;
  const policy::Bytes sent = growth(done->before.swapped_bytes, done->after.swapped_bytes);
  before_ = done->after;
  counters_.paged_out_bytes += sent;
  counters_.refused += done->refused;
  counters_.ns += done->ns;
  spdlog::debug("paged out pid={} bytes={} refused={} ns={}", pid_, sent, done->refused, done->ns);
  if (!is_denied(done->err)) return sent;
  spdlog::warn("not paged out pid={} reason=\"process_madvise(MADV_PAGEOUT): {}\" hint=\"{}\"",
               pid_, std::strerror(done->err), kDenied);
  page_out_ = {};
  return sent;
}

/// What left swap and what waited for a device: the program may free what is in swap, and wait for
/// files.
void Pager::count_refaults(const std::filesystem::path& root, double seconds, policy::Bytes sent,
                           double allowed) {
  const std::optional<Paging> now = read_paging(root, pid_);
  if (!now) return;
  const Paging before = std::exchange(before_, now).value_or(*now);
  const std::uint64_t refaults =
      std::min(growth(before.major_faults, now->major_faults),
               growth(now->swapped_bytes, before.swapped_bytes) / policy::kPage);
  counters_.refaults += refaults;
  const bool was_resting = limit_.is_resting();
  limit_.saw({.seconds = seconds, .refaults = refaults, .sent = sent}, allowed);
  if (limit_.is_resting() && !was_resting)
    spdlog::info("page-out paused pid={} refaults_per_s={:.2f} allowed={}", pid_,
                 limit_.refaults_per_s(), allowed);
}

policy::Bytes Pager::room(const std::filesystem::path& root) {
  const Swap swap = read_swap(root);
  if (swap.total == 0 && !std::exchange(has_told_, true))
    spdlog::warn("nothing is paged out pid={} reason=\"there is no swap\" hint=\"{}\"", pid_,
                 kNoSwap);
  return growth(swap.total / kSwapLeft, swap.free);
}

}  // namespace hmk

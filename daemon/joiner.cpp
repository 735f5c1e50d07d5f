// SPDX-License-Identifier: MIT
#include "joiner.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "util/clock.hpp"
#include "util/log.hpp"

namespace hmk {
namespace {

constexpr std::uint64_t kPages = policy::kHuge / policy::kPage;

std::uint64_t ns_since(clockid_t clock, std::chrono::nanoseconds began) {
  return static_cast<std::uint64_t>((now_of(clock) - began).count());
}

const char* remedy(int err) {
  return err == ENOSYS ? "it needs Linux 6.1; set join_huge to no"
                       : "it needs CAP_SYS_NICE and CAP_SYS_PTRACE, and in the unit "
                         "SystemCallFilter=process_madvise; or set join_huge to no";
}

}  // namespace

/// All that the thread has: it may outlive the Joiner.
struct Joiner::Job {
  Advise collapse;
  std::vector<std::uint64_t> starts;
  std::filesystem::path root;
  std::int32_t pid = 0;
  bool reads_areas = false;

  Done run(const std::atomic<bool>& is_stopped) const {
    Done done;
    if (reads_areas) done.areas = read_advised(root, pid).value_or(HugeAreas{});
    for (const std::uint64_t start : starts) {
      if (is_stopped) break;
      const auto began = now_of(CLOCK_MONOTONIC), cpu_began = now_of(CLOCK_THREAD_CPUTIME_ID);
      const bool may_be = !done.areas || policy::Joins::hold(*done.areas, start);
      const int err = may_be ? collapse(start, policy::kHuge) : EINVAL;
      done.ended.push_back({start, err, ns_since(CLOCK_MONOTONIC, began),
                            ns_since(CLOCK_THREAD_CPUTIME_ID, cpu_began)});
    }
    return done;
  }
};

Joiner::Joiner(std::int32_t pid, Advise collapse, BeginBeside begin)
    : pid_(pid), collapse_(std::move(collapse)), beside_(std::move(begin)) {}

void Joiner::rest(std::uint64_t seq) {
  if (is_busy()) return;
  collect(seq);
  (void)joins_.choose({}, {.seq = seq});
}

/// And where: in areas_, as far as that is known and counts.
bool Joiner::may_join(const Round& round) {
  setting_ = read_huge_setting(round.root);
  if (setting_ != HugeSetting::advised || round.terms.seq > areas_seq_ + kAreasLast) areas_.reset();
  return setting_ == HugeSetting::always ||
         (setting_ == HugeSetting::advised && round.resident <= kMostWalked);
}

void Joiner::step(std::span<const policy::RegionView> regions, Round round) {
  policy::Joins::Terms& terms = round.terms;
  if (regions.empty() || !collapse_ || !may_join(round)) return rest(terms.seq);
  if (is_busy()) return;
  collect(terms.seq);
  if (areas_) terms.areas = *areas_;
  if (terms.ns_per_page == 0)
    terms.ns_per_page =
        costs_.ns_per_page(policy::kNoNode, policy::kNoNode, false, policy::GainModel::kNsPerPage);
  std::vector<std::uint64_t> starts;
  for (const policy::Join& join : joins_.choose(regions, terms))
    if (round.is_there(join))
      starts.push_back(join.start);
    else
      joins_.refused(join.start, terms.seq);
  if (!starts.empty() && collapse_) begin(std::move(starts), round.root);
}

void Joiner::begin(std::vector<std::uint64_t> starts, const std::filesystem::path& root) {
  const auto refused =
      beside_.begin([job = Job{collapse_, std::move(starts), root, pid_,
                               setting_ == HugeSetting::advised && !areas_}](
                        const std::atomic<bool>& is_stopped) { return job.run(is_stopped); });
  if (refused)  // what was chosen waits for the next interval
    spdlog::debug("not joined pid={} reason=\"{}\"", pid_, *refused);
}

void Joiner::collect(std::uint64_t seq) {
  std::optional<Done> done = beside_.take();
  if (!done) return;
  if (done->areas) {
    areas_ = std::move(done->areas);
    areas_seq_ = seq;
  }
  for (const Ended& ended : done->ended) account(ended, seq);
}

void Joiner::account(const Ended& ended, std::uint64_t seq) {
  counters_.add(ended.err, ended.ns);
  spdlog::debug("{} pid={} start={:#x} ns={} cpu_ns={} reason=\"{}\"",
                ended.err == 0 ? "joined" : "not joined", pid_, ended.start, ended.ns, ended.cpu_ns,
                ended.err == 0 ? "" : std::strerror(ended.err));
  if (ended.err == 0) {
    // Not the time it had to wait for a CPU: where all are busy nothing would ever pay.
    costs_.add(policy::kNoNode, policy::kNoNode, false, kPages, ended.cpu_ns);
    joins_.joined(ended.start, seq);
    return;
  }
  joins_.refused(ended.start, seq);
  if (why_not_joined(ended.err) != NotJoined::denied || !collapse_) return;
  spdlog::warn(
      "huge pages not joined pid={} reason=\"process_madvise(MADV_COLLAPSE): {}\" hint=\"{}\"",
      pid_, std::strerror(ended.err), remedy(ended.err));
  collapse_ = {};
}

}  // namespace hmk

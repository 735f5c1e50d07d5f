// SPDX-License-Identifier: MIT
// hmk-tablecat: attach to a process, run its interval clock and print what the module publishes,
// one JSON line per interval. Reads events and the table the way a client must (uapi/linux/hmk.h).
#include <poll.h>

#include <cstdio>
#include <exception>

#include "common.hpp"
#include "hmk/table_reader.h"
#include "options.hpp"

namespace {

using namespace hmk::test;

constexpr const char* kUsage =
    "usage: hmk-tablecat --pid PID [--interval 1s] [--intervals N] [--scans N] [--budget-bp N]\n"
    "                    [--seed N] [--max-region SIZE] [--weight N] [--no-flush] [--split-huge]\n"
    "                    [--equal-windows] [--dense] [--brief]\n"
    "One JSON line per interval, with its records unless --brief; ends after N intervals or when "
    "the\n"
    "process has gone. Exit code 0, 2 (usage), 3 (no module, no such process, a broken table).";

struct Plan {
  pid_t pid;
  std::uint64_t intervals;
  hmk_params params;
  bool is_brief;
};

Plan read_plan(int argc, char** argv) {
  hmk::load::Options options(argc, argv, kUsage);
  Plan plan{};
  plan.pid = static_cast<pid_t>(options.number("--pid", 0));
  plan.intervals = options.number("--intervals", UINT64_MAX);
  plan.params.mask = HMK_PARAM_INTERVAL;
  plan.params.interval_ns = options.milliseconds("--interval", 1000) * 1'000'000;
  const auto give = [&](std::uint64_t bit, auto& member, std::uint64_t value) {
    plan.params.mask |= bit;
    member = static_cast<std::remove_reference_t<decltype(member)>>(value);
  };
  if (const auto n = options.number("--scans", 0))
    give(HMK_PARAM_NUM_SCANS, plan.params.num_scans, n);
  if (const auto n = options.number("--budget-bp", 0))
    give(HMK_PARAM_BUDGET, plan.params.budget_bp, n);
  if (const auto n = options.number("--seed", 0)) give(HMK_PARAM_SEED, plan.params.seed, n);
  if (const auto n = options.bytes("--max-region", 0))
    give(HMK_PARAM_MAX_REGION, plan.params.max_region, n);
  if (const auto n = options.number("--weight", 0)) give(HMK_PARAM_WEIGHT, plan.params.weight, n);
  if (options.flag("--no-flush")) give(HMK_PARAM_FLUSH, plan.params.flush, HMK_FLUSH_NONE);
  const __u32 switches = (options.flag("--split-huge") ? HMK_SWITCH_SPLIT_HUGE : 0) |
                         (options.flag("--equal-windows") ? HMK_SWITCH_EQUAL_WINDOWS : 0) |
                         (options.flag("--dense") ? HMK_SWITCH_DENSE : 0);
  if (switches) give(HMK_PARAM_SWITCHES, plan.params.switches, switches);
  plan.is_brief = options.flag("--brief");
  options.finish();
  if (plan.pid <= 0) options.fail("--pid is needed");
  return plan;
}

hmk_stats stats_of(const Session& session) {
  hmk_stats stats{};
  stats.size = sizeof(stats);
  if (ioctl(session.fd(), HMK_IOC_STATS, &stats) < 0) fail("HMK_IOC_STATS");
  return stats;
}

/// The mapped table; mapped again whenever the module says it has grown.
class Table {
 public:
  explicit Table(const Session& session) : session_(session) { map(session.table_bytes()); }
  ~Table() { munmap(base_, length_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// The last whole interval and its records.
  hmk_interval read(std::vector<hmk_record>& records) {
    for (;;) {
      hmk_interval interval{};
      std::size_t nr = 0;
      const int rc = hmk_table_read(base_, length_, &interval, records.data(), records.size(), &nr);
      if (rc == -ENOSPC) {
        records.resize(nr);
      } else if (rc == -ESTALE) {
        munmap(base_, length_);
        map(stats_of(session_).table_bytes);
      } else if (rc < 0) {
        errno = -rc;
        fail("the table cannot be read");
      } else {
        records.resize(nr);
        return interval;
      }
    }
  }

 private:
  void map(std::size_t length) {
    length_ = length;
    base_ = mmap(nullptr, length, PROT_READ, MAP_SHARED, session_.fd(), 0);
    if (base_ == MAP_FAILED) fail("cannot map the table");
  }

  const Session& session_;
  void* base_ = nullptr;
  std::size_t length_ = 0;
};

void print(const hmk_interval& interval, const std::vector<hmk_record>& records,
           const hmk_stats& stats, bool is_brief) {
  std::printf(
      "{\"seq\": %llu, \"start_ns\": %llu, \"end_ns\": %llu, \"profile_ns\": %llu, "
      "\"budget_ns\": %llu, \"nr_regions\": %u, \"nr_samples\": %u, \"num_ps\": %u, "
      "\"num_scans\": %u, \"tau1_q16\": %u, \"flags\": %u, \"merges\": %u, \"splits\": %u, "
      "\"scan_cost_ns\": %u, \"hotness_max\": %u, \"groups\": %llu, \"late_groups\": %llu, "
      "\"flushes\": %llu, \"resident_pages\": %llu, \"state_bytes\": %llu, \"huge_examined\": "
      "%llu, "
      "\"huge_split\": %llu, \"huge_left\": %llu",
      interval.seq, interval.start_ns, interval.end_ns, interval.profile_ns, interval.budget_ns,
      interval.nr_regions, interval.nr_samples, interval.num_ps, interval.num_scans,
      interval.tau1_q16, interval.flags, interval.merges, interval.splits, interval.scan_cost_ns,
      interval.hotness_max, stats.groups, stats.late_groups, stats.flushes,
      interval.resident_pages, stats.state_bytes, stats.huge_examined, stats.huge_split,
      stats.huge_left);
  if (!is_brief) {
    std::printf(", \"records\": [");
    const char* separator = "";
    for (const hmk_record& r : records) {
      std::printf(
          "%s{\"start\": %llu, \"length\": %llu, \"hi_q16\": %u, \"whi_q16\": %u, "
          "\"rate_q8\": %d, \"rate_dev_q8\": %u, \"resident_pages\": %u, \"away_pages\": %u, \"node\": %d, "
          "\"generation\": %u, \"samples\": %u, \"writes\": %u, \"leaf_shift\": %u, "
          "\"kind\": %u, \"flags\": %u}",
          separator, r.start, r.length, r.hi_q16, r.whi_q16, r.rate_q8, r.rate_dev_q8, r.resident_pages,
          r.away_pages, r.node, r.generation, r.samples, r.writes, r.leaf_shift, r.kind, r.flags);
      separator = ", ";
    }
    std::printf("]");
  }
  std::printf("}\n");
  std::fflush(stdout);
}

void cat(const Plan& plan) {
  const Session session(plan.pid, plan.params);
  Table table(session);
  if (ioctl(session.fd(), HMK_IOC_START, 0) < 0) fail("HMK_IOC_START");
  std::vector<hmk_record> records;
  for (std::uint64_t printed = 0; printed < plan.intervals;) {
    pollfd ready{session.fd(), POLLIN, 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) fail("poll");
    hmk_event event{};
    const ssize_t got = ::read(session.fd(), &event, sizeof(event));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got != sizeof(event)) fail("cannot read an event");
    if (event.kind == HMK_EVENT_GONE) return;
    if (event.kind != HMK_EVENT_INTERVAL) continue;
    const hmk_interval interval = table.read(records);
    print(interval, records, stats_of(session), plan.is_brief);
    ++printed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Plan plan = read_plan(argc, argv);
  try {
    cat(plan);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hmk-tablecat: %s\n", error.what());
    return kExitCannot;
  }
}

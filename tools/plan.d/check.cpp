// SPDX-License-Identifier: MIT
#include "check.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "cases.hpp"
#include "everything.hpp"
#include "hmkctl/status_line.hpp"
#include "linear_program.hpp"
#include "solver.hpp"

namespace hmk::plan {
namespace {

using nlohmann::ordered_json;
using policy::Forecast;
using policy::Patience;
using policy::Schedule;

constexpr double kExact = 1e-6;           // of what two ways of adding up may differ
constexpr unsigned kPatientSteps = 4000;  // for as good a bound as prices give
constexpr double kNear = 0.005, kNearlyAll = 0.99;
constexpr double kPhasedGap = 0.02, kPhasedSeconds = 2;
constexpr double kLargeSeconds = 60, kLargeBytes = 1 << 30;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double most_bytes_so_far() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

class Rows {
 public:
  /// `kept` of `all` cases keep the promise; `wanted` must.
  void add(const char* promise, double kept, double all, double wanted, ordered_json more = {}) {
    line_.erase();
    const bool is_ok = kept >= wanted;
    std::printf("%-68s %6g of %6g  %s%s\n", promise, kept, all, is_ok ? "ok" : "MISSED",
                more.is_null() ? "" : ("  " + more.dump()).c_str());
    std::fflush(stdout);
    rows_.push_back(
        {{"promise", promise}, {"kept", kept}, {"cases", all}, {"wanted", wanted}, {"ok", is_ok}});
    if (!more.is_null()) rows_.back()["figures"] = std::move(more);
    all_ok_ = all_ok_ && is_ok;
  }

  void show(const char* what, std::uint64_t done, std::uint64_t all) {
    line_.show("%s: %lu of %lu", what, done, all);
  }

  ordered_json result() && { return {{"ok", all_ok_}, {"rows", std::move(rows_)}}; }

 private:
  hmkctl::StatusLine line_;
  ordered_json rows_ = ordered_json::array();
  bool all_ok_ = true;
};

void check_small(const CheckOptions& options, Rows& rows) {
  double equal = 0, below = 0, above = 0, near = 0, widest = 0;
  for (std::uint64_t i = 0; i < options.small; ++i) {
    const Forecast forecast = small_case(options.seed + i);
    const LinearProgram program = linear_program(forecast);
    const double least = least_of_everything(forecast);
    const double whole = least_in_whole_numbers(program), fraction = least_in_fractions(program);
    const Schedule found = schedule(forecast, {.gap = 0, .steps = kPatientSteps});
    const double off = (fraction - found.bound_ns) / fraction;
    equal += std::abs(whole - least) <= kExact * least;
    below += found.bound_ns <= least * (1 + kExact);
    above += found.cost_ns >= least * (1 - kExact);
    near += std::abs(off) <= kNear;
    widest = std::max(widest, off);
    rows.show("small cases", i + 1, options.small);
  }
  const auto all = static_cast<double>(options.small);
  rows.add("whole numbers (CBC) cost what the best of all placements costs", equal, all, all);
  rows.add("the bound is not above the best of all placements", below, all, all);
  rows.add("the schedule is not below it", above, all, all);
  rows.add("the bound is within 0.5 % of fractions (CLP), in 99 %", near, all, kNearlyAll * all,
           {{"farthest_percent", 100 * widest}});
}

void check_phased(const CheckOptions& options, Rows& rows) {
  double close = 0, quick = 0, widest = 0, longest = 0;
  for (std::uint64_t i = 0; i < options.phased; ++i) {
    const Forecast forecast = phased_case({}, options.seed + i);
    const double began = cpu_seconds();
    const Schedule found = schedule(forecast);
    const double seconds = cpu_seconds() - began;
    close += found.gap() <= kPhasedGap;
    quick += seconds <= kPhasedSeconds;
    widest = std::max(widest, found.gap());
    longest = std::max(longest, seconds);
    rows.show("200 regions, 24 windows, 4 tiers", i + 1, options.phased);
  }
  const auto all = static_cast<double>(options.phased);
  rows.add("200 regions, 24 windows, 4 tiers: gap at most 2 %", close, all, all,
           {{"widest_percent", 100 * widest}});
  rows.add("... in at most 2 s of CPU", quick, all, all, {{"longest_s", longest}});
}

void check_large(const CheckOptions& options, Rows& rows) {
  const Forecast forecast =
      phased_case({.groups = 20'000, .windows = 64, .most_regions = 77}, options.seed);
  const double began = cpu_seconds();
  const Schedule found = schedule(forecast, {.on_progress = [&](double part) {
                                    rows.show("20,000 groups, 64 windows, 4 tiers",
                                              static_cast<std::uint64_t>(100 * part), 100);
                                  }});
  const double seconds = cpu_seconds() - began, bytes = most_bytes_so_far();
  rows.add("20,000 groups, 64 windows, 4 tiers: at most 60 s of CPU", seconds <= kLargeSeconds, 1,
           1, {{"seconds", seconds}, {"gap_percent", 100 * found.gap()}});
  rows.add("... in at most 1 GiB", bytes <= kLargeBytes, 1, 1, {{"bytes", bytes}});
}

}  // namespace

ordered_json check(const CheckOptions& options) {
  Rows rows;
  if (options.small != 0) check_small(options, rows);
  if (options.phased != 0) check_phased(options, rows);
  if (options.large) check_large(options, rows);
  return std::move(rows).result();
}

}  // namespace hmk::plan

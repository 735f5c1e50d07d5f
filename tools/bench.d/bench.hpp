// SPDX-License-Identifier: MIT
//
// Medians of repeated passes, in CPU time of the one thread: a busy machine makes
// them no longer. Each bench prepares its input anew, untimed, so that every
// repetition does the same work.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

namespace hmk::bench {

struct Clock {
  using time_point = std::chrono::nanoseconds;
  static time_point now() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  }
};

inline double ms(std::chrono::nanoseconds d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

/// The middle of `values`, which are at least one.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The element of `values` at a share of 0 .. 1 in ascending order.
inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * share)];
}

/// One row per number of regions.
nlohmann::ordered_json core(const std::vector<std::uint32_t>& sizes, unsigned repetitions);
/// The policy at 1.5 TiB over 20 intervals: one row per workload and view.
nlohmann::ordered_json scale();
/// Copy threads as chosen beside the best of 1 to 16: a row per machine, program and size.
nlohmann::ordered_json governor();
/// What a hint takes, in ns, a row per case.
nlohmann::ordered_json hints();
nlohmann::ordered_json policy(const std::vector<std::uint32_t>& sizes, unsigned repetitions);

}  // namespace hmk::bench

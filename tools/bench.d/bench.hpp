// SPDX-License-Identifier: MIT
//
// Medians of repeated passes. Each bench prepares its input anew, untimed, so
// that every repetition does the same work.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

namespace hmk::bench {

using Clock = std::chrono::steady_clock;

inline double ms(Clock::duration d) {
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
nlohmann::ordered_json policy(const std::vector<std::uint32_t>& sizes, unsigned repetitions);

}  // namespace hmk::bench

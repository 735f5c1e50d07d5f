// SPDX-License-Identifier: MIT
//
// The reports of hmkd as OpenMetrics text, for Prometheus and its kin: one more
// face of `hmkctl status --json` and `hmkctl stats --json`, with base units.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace hmk {

inline constexpr const char* kOpenMetricsType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

struct Exposed {
  nlohmann::json status, stats, version;           ///< as the verbs answer
  nlohmann::json ended = nlohmann::json::array();  ///< EndedProcesses::rows()
  bool by_pid = false;                             ///< a series for each process
  std::uint64_t cpu_ns = 0;                        ///< what hmkd has used
};

/// A series for each class and rule. Counters have what processes counted that have ended; gauges
/// are of those that live. What the reports lack (a session that ends at this moment) has no
/// sample.
std::string to_open_metrics(const Exposed& exposed);

}  // namespace hmk

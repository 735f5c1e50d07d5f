// SPDX-License-Identifier: MIT
//
// The reports of hmkd as OpenMetrics text, for Prometheus and its kin: one more
// face of `hmkctl status --json` and `hmkctl stats --json`, with base units.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hmk {

inline constexpr const char* kOpenMetricsType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the reports lack (a session that ends at this moment) has no sample.
std::string to_open_metrics(const nlohmann::json& status, const nlohmann::json& stats);

}  // namespace hmk

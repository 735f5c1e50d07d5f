// SPDX-License-Identifier: MIT
//
// What is known of the managed processes as one HTML page: no script, no network, light and dark.
// Pure: the same answers give the same page. What an answer lacks is shown as "not measured".
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hmkctl {

/// `report`: {version, made, daemon, checks[], processes[]}; a process: {status, stats, history,
/// outlook, heat}, null where it is not known; an outlook: {text, tiers[], curve[]} of `try
/// --json`, a heat map: {intervals, time_ns, bytes_per_row, rows[] {start, name, cells[] null or [0
/// .. 1, tier]}}.
std::string report_page(const nlohmann::json& report);

}  // namespace hmkctl

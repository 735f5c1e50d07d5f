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
/// --json`, a heat map: the figure of heat_picture.hpp.
std::string report_page(const nlohmann::json& report);

}  // namespace hmkctl

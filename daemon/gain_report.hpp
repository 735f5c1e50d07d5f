// SPDX-License-Identifier: MIT
//
// What the moves of a process earn and cost, as `hmkctl gain` and `status` show it. Values are ns a
// second of the program; null where the tiers' latencies are not known.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "target.hpp"

namespace hmk {

nlohmann::json report_gain(const Target& target);
/// "saves 31 +- 6 ms/s, costs 4.0 ms/s, kept 0.8 of what was promised"; of what is not moved, what
/// the newest plan could.
std::string gain_text(const Target& target);
/// What [start, end) was to save and saves; null when it lies where it always did.
nlohmann::json report_gain_at(const Target& target, std::uint64_t start, std::uint64_t end);

}  // namespace hmk

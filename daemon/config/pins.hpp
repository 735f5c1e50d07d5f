// SPDX-License-Identifier: MIT
//
// The value of `pins`: which memory belongs in which tier, whatever its hotness.
//
//   parse_pins("redis-server/[heap]=1,4711/0x7f0000000000-0x7f0040000000=2")
//   is_pin_of(pin, 4711, "redis-server")
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "util/result.hpp"

namespace hmk {

/// "none", or pins between commas. Two that may name the same memory are refused as far as their
/// words show it; of others the first counts.
Result<std::vector<Pin>> parse_pins(std::string_view text);
std::string to_string(const Pin& pin);
std::string pins_text(const std::vector<Pin>& pins);

/// Whether a process is named by a pin: its PID, or its command.
bool is_pin_of(const Pin& pin, std::int32_t pid, std::string_view comm);

}  // namespace hmk

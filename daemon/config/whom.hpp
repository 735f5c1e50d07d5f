// SPDX-License-Identifier: MIT
//
// Keys with a value for each of some processes, named by PID or command:
// "redis-server=3,4711=1", and by tier where it matters: "redis-server/1=4GiB".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "util/result.hpp"

namespace hmk {

Result<void> set_weights(Config& config, std::string_view text);
std::string weights_text(const Config& config);
/// For `caps` and `floors`: "none", or PROCESS/TIER=SIZE between commas.
Result<void> set_bounds(SizeByProcess& bounds, std::string_view text);
std::string bounds_text(const SizeByProcess& bounds);

/// Of one process, in its own config: a weight, and TIER=SIZE between commas.
Result<void> set_own_weight(Config& config, std::string_view text);
Result<void> set_own_bounds(SizeByProcess& bounds, std::string_view text);

/// For `governor`: on, off, or PROCESS=on and PROCESS=off between commas; others have the first, or
/// are on.
Result<void> set_governor(Config& config, std::string_view text);
std::string governor_text(const Config& config);

/// For `bandwidth`: "none", or FROM/TO=SIZE between commas; tiers count from 1 there.
Result<void> set_bandwidth(Config& config, std::string_view text);
std::string bandwidth_text(const Config& config);

/// The weight of a process. A PID counts before a command.
std::uint32_t weight_of(const Config& config, std::int32_t pid, const std::string& comm);
bool is_governed(const Config& config, std::int32_t pid, const std::string& comm);
/// The bound of a process in a tier, counted from 0.
std::optional<std::uint64_t> bound_of(const SizeByProcess& bounds, std::int32_t pid,
                                      const std::string& comm, std::size_t tier);

}  // namespace hmk

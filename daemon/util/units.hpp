// SPDX-License-Identifier: MIT
//
// Numbers with their unit, as they stand in the config, on the command line and
// in the output: "10s", "200MiB", "5%", "0.5". A number that needs a unit and
// has none is refused: 10 could be seconds or milliseconds.
//
//   parse_size("200MiB")  ->  209715200
//   format_size(209715200)  ->  "200MiB"
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace hmk {

using Nanoseconds = std::chrono::nanoseconds;

/// ns, us, ms, s, min, h.
Result<Nanoseconds> parse_duration(std::string_view text);
/// B, KiB, MiB, GiB, TiB (1024) and kB, MB, GB, TB (1000).
Result<std::uint64_t> parse_size(std::string_view text);
/// "5%" -> 500 basis points; at most two decimals, and 100%.
Result<std::uint32_t> parse_percent_bp(std::string_view text);
/// The same up to `most_bp` basis points.
Result<std::uint32_t> parse_percent_up_to(std::string_view text, std::uint32_t most_bp);
/// "0.5" -> 32768; a plain decimal, no unit, at most 65535.
Result<std::uint32_t> parse_fraction_q16(std::string_view text);
/// A whole number: no sign, no unit, no leading zero (010 is not 8 here).
Result<std::uint64_t> parse_count(std::string_view text);

/// The largest unit that says the value exactly: 1500 ms -> "1500ms".
std::string format_duration(Nanoseconds value);
std::string format_size(std::uint64_t bytes);
std::string format_percent_bp(std::uint32_t bp);
std::string format_fraction_q16(std::uint32_t q16);

}  // namespace hmk

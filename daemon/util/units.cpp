// SPDX-License-Identifier: MIT
#include "util/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>

namespace hmk {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t scale;
};

constexpr std::array<Unit, 6> kDurations{{{"h", 3'600'000'000'000},
                                          {"min", 60'000'000'000},
                                          {"s", 1'000'000'000},
                                          {"ms", 1'000'000},
                                          {"us", 1'000},
                                          {"ns", 1}}};
constexpr std::array<Unit, 9> kSizes{{{"TiB", 1ull << 40},
                                      {"GiB", 1ull << 30},
                                      {"MiB", 1ull << 20},
                                      {"KiB", 1ull << 10},
                                      {"TB", 1'000'000'000'000},
                                      {"GB", 1'000'000'000},
                                      {"MB", 1'000'000},
                                      {"kB", 1'000},
                                      {"B", 1}}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "12.5" of "12.5ms": value = digits / 10^decimals.
struct Decimal {
  std::uint64_t digits = 0;
  std::uint64_t ten_to_decimals = 1;
  std::string_view rest;
};

/// Signs, exponents, octal-looking zeros and .nan/.inf are not numbers here.
std::optional<Decimal> take_decimal(std::string_view text) {
  const std::size_t whole = std::min(text.find_first_not_of("0123456789"), text.size());
  if (whole == 0 || whole > 20 || (whole > 1 && text[0] == '0')) return std::nullopt;
  Decimal number;
  std::size_t at = 0;
  const auto take = [&](char c) {
    return !__builtin_mul_overflow(number.digits, 10u, &number.digits) &&
           !__builtin_add_overflow(number.digits, static_cast<std::uint64_t>(c - '0'),
                                   &number.digits);
  };
  for (; at < whole; ++at)
    if (!take(text[at])) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    const std::size_t first = ++at;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      if (at - first >= 9 || !take(text[at])) return std::nullopt;
      number.ten_to_decimals *= 10;
    }
    if (at == first) return std::nullopt;
  }
  number.rest = text.substr(at);
  return number;
}

/// digits * scale / 10^decimals, rounded down; nothing when it exceeds `max`.
std::optional<std::uint64_t> scaled(const Decimal& number, std::uint64_t scale, std::uint64_t max) {
  const auto wide = static_cast<unsigned __int128>(number.digits) * scale;
  const auto value = wide / number.ten_to_decimals;
  if (value > max) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

Error bad(std::string_view text, std::string_view why, std::string remedy) {
  return {"'" + std::string(text) + "' " + std::string(why), std::move(remedy), 0};
}

Result<std::uint64_t> parse_with_unit(std::string_view text, std::span<const Unit> units,
                                      std::uint64_t max, const std::string& example) {
  const auto number = take_decimal(text);
  if (!number) return bad(text, "is not a number with a unit", example);
  if (number->rest.empty()) return bad(text, "is a number without unit", example);
  const auto* const unit =
      std::find_if(units.data(), units.data() + units.size(),
                   [&](const Unit& known) { return known.name == number->rest; });
  if (unit == units.data() + units.size())
    return bad(text, "has the unknown unit '" + std::string(number->rest) + "'", example);
  const auto value = scaled(*number, unit->scale, max);
  if (!value) return bad(text, "is too large", example);
  return *value;
}

std::string format_with_unit(std::uint64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units)
    if (value != 0 && value % unit.scale == 0)
      return std::to_string(value / unit.scale) + std::string(unit.name);
  return "0" + std::string(units.back().name);
}

std::string without_trailing_zeros(std::string text) {
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

Result<Nanoseconds> parse_duration(std::string_view text) {
  const auto ns = parse_with_unit(text, kDurations, std::numeric_limits<std::int64_t>::max(),
                                  "write for example 10s, 500ms or 2min");
  if (!ns) return ns.error();
  return Nanoseconds(static_cast<std::int64_t>(*ns));
}

Result<std::uint64_t> parse_size(std::string_view text) {
  return parse_with_unit(text, kSizes, std::numeric_limits<std::uint64_t>::max(),
                         "write for example 200MiB or 1GiB");
}

Result<std::uint32_t> parse_percent_bp(std::string_view text) {
  return parse_percent_up_to(text, 10'000);
}

Result<std::uint32_t> parse_percent_up_to(std::string_view text, std::uint32_t most_bp) {
  const std::string example = "write for example 5% or 0.5%";
  const auto number = take_decimal(text);
  if (!number) return bad(text, "is not a percentage", example);
  if (number->rest.empty()) return bad(text, "is a number without unit", example);
  if (number->rest != "%") return bad(text, "is not a percentage", example);
  if (number->ten_to_decimals > 100) return bad(text, "has more than two decimals", example);
  const auto bp = scaled(*number, 100, most_bp);
  if (!bp) return bad(text, "is above " + format_percent_bp(most_bp), example);
  return static_cast<std::uint32_t>(*bp);
}

Result<std::uint32_t> parse_fraction_q16(std::string_view text) {
  const std::string example = "write a plain decimal such as 0.5";
  const auto number = take_decimal(text);
  if (!number || !number->rest.empty()) return bad(text, "is not a plain decimal", example);
  // Rounded to the nearest step, so that what is printed reads back as the same value.
  Decimal doubled = *number;
  if (__builtin_mul_overflow(doubled.digits, 2u, &doubled.digits))
    return bad(text, "is too large", example);
  const auto twice = scaled(doubled, 65536, std::numeric_limits<std::uint32_t>::max());
  if (!twice) return bad(text, "is too large", example);
  return static_cast<std::uint32_t>((*twice + 1) / 2);
}

Result<std::uint64_t> parse_count(std::string_view text) {
  const auto number = take_decimal(text);
  if (!number || !number->rest.empty() || number->ten_to_decimals != 1)
    return bad(text, "is not a whole number", "write digits only, without leading zero");
  return number->digits;
}

std::string format_duration(Nanoseconds value) {
  return format_with_unit(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value.count())),
                          kDurations);
}

std::string format_size(std::uint64_t bytes) {
  // Only the binary units: they come first, and B says the rest exactly.
  static constexpr std::array<Unit, 5> kBinary{
      {kSizes[0], kSizes[1], kSizes[2], kSizes[3], kSizes[8]}};
  return format_with_unit(bytes, kBinary);
}

std::string format_percent_bp(std::uint32_t bp) {
  std::string text = std::to_string(bp / 100) + ".";
  text += static_cast<char>('0' + bp / 10 % 10);
  text += static_cast<char>('0' + bp % 10);
  return without_trailing_zeros(text) + "%";
}

std::string format_fraction_q16(std::uint32_t q16) {
  // Five decimals tell 65536 steps apart.
  char text[32];
  std::snprintf(text, sizeof(text), "%.5f", static_cast<double>(q16) / 65536.0);
  return without_trailing_zeros(text);
}

}  // namespace hmk

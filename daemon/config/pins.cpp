// SPDX-License-Identifier: MIT
#include "config/pins.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "util/glob.hpp"
#include "util/units.hpp"

namespace hmk {
namespace {

constexpr std::uint64_t kMostPinTiers = 64, kPageBytes = 4096, kEndOfAddresses = 1ull << 57;
constexpr std::size_t kMostPins = 256;
constexpr const char* kWriteThem =
    "write each as in redis-server/[heap]=1 or 4711/0x7f00000-0x7f80000=1";

bool is_pid(std::string_view process) {
  return process.find_first_not_of("0123456789") == process.npos;
}

/// "0x7f00", of nothing else.
std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (text.size() == 2 || failed != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

Result<void> set_range(Pin& pin, std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size() - 1);
  const auto start = parse_address(text.substr(0, dash)),
             end = parse_address(text.substr(dash + 1));
  if (!start || !end || *start >= *end || (*start | *end) % kPageBytes != 0 ||
      *end > kEndOfAddresses)
    return Error{"'" + std::string(text) + "' is no range of addresses",
                 "write START-END in hex, multiples of 0x1000, as in 0x7f00000-0x7f80000"};
  if (!is_pid(pin.process))
    return Error{"'" + pin.process + "' is no PID, and addresses are of one process",
                 "write the PID, or name the mapping"};
  pin.start = *start;
  pin.end = *end;
  return {};
}

Result<Pin> parse_pin(std::string_view word) {
  const std::size_t slash = word.find('/'), sign = word.rfind('=');
  if (slash == word.npos || slash == 0 || sign == word.npos || sign <= slash + 1)
    return Error{"'" + std::string(word) + "' is not understood", kWriteThem};
  const Result<std::uint64_t> tier = parse_count(word.substr(sign + 1));
  if (!tier || *tier < 1 || *tier > kMostPinTiers)
    return Error{"'" + std::string(word) + "' names no tier", "tiers count from 1, the fastest"};
  Pin pin{.process = std::string(word.substr(0, slash)), .tier = static_cast<int>(*tier) - 1};
  const std::string_view memory = word.substr(slash + 1, sign - slash - 1);
  if (memory.starts_with("0x")) {
    if (const Result<void> done = set_range(pin, memory); !done) return done.error();
  } else {
    pin.mapping = memory;
  }
  return pin;
}

bool may_both_name(std::string_view a, std::string_view b) {
  return is_like(a, b) || is_like(b, a);
}

bool overlap(const Pin& a, const Pin& b) {
  if (!may_both_name(a.process, b.process) || a.mapping.empty() != b.mapping.empty()) return false;
  if (!a.mapping.empty()) return may_both_name(a.mapping, b.mapping);
  return a.start < b.end && b.start < a.end;
}

}  // namespace

Result<std::vector<Pin>> parse_pins(std::string_view text) {
  std::vector<Pin> pins;
  if (text == "none") return pins;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    Result<Pin> pin = parse_pin(word);
    if (!pin) return pin.error();
    const auto other =
        std::ranges::find_if(pins, [&](const Pin& one) { return overlap(one, *pin); });
    if (other != pins.end())
      return Error{
          "'" + to_string(*other) + "' and '" + std::string(word) + "' name the same memory",
          "remove one of them"};
    pins.push_back(*std::move(pin));
  }
  if (pins.size() > kMostPins)
    return Error{"names " + std::to_string(pins.size()) + " pins",
                 "use at most " + std::to_string(kMostPins)};
  return pins;
}

std::string to_string(const Pin& pin) {
  std::string memory = pin.mapping;
  if (memory.empty()) {
    char text[64];
    std::snprintf(text, sizeof(text), "0x%llx-0x%llx", static_cast<unsigned long long>(pin.start),
                  static_cast<unsigned long long>(pin.end));
    memory = text;
  }
  return pin.process + "/" + memory + "=" + std::to_string(pin.tier + 1);
}

std::string pins_text(const std::vector<Pin>& pins) {
  std::string text;
  for (const Pin& pin : pins) text += (text.empty() ? "" : ",") + to_string(pin);
  return text.empty() ? "none" : text;
}

bool is_pin_of(const Pin& pin, std::int32_t pid, std::string_view comm) {
  if (is_pid(pin.process)) return pin.process == std::to_string(pid);
  return is_like(pin.process, comm);
}

}  // namespace hmk

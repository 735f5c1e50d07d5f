// SPDX-License-Identifier: MIT
#include "util/printable.hpp"

#include <cstdint>

namespace hmk {
namespace {

struct Character {
  std::size_t bytes = 1;
  bool is_shown = false;
};

bool is_acted_on(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||  // C0, DEL, C1
         code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/// The character `text` begins with; one byte that is not shown where there is none.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::size_t bytes = byte(0) < 0x80             ? 1
                            : (byte(0) & 0xe0) == 0xc0 ? 2
                            : (byte(0) & 0xf0) == 0xe0 ? 3
                            : (byte(0) & 0xf8) == 0xf0 ? 4
                                                       : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t code = bytes == 1 ? byte(0) : byte(0) & (0x7fu >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at) & 0x3f);
  }
  // Written longer than need be, a half of a pair, or beyond Unicode: no UTF-8.
  static constexpr std::uint32_t kLeast[]{0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {};
  return {bytes, !is_acted_on(code)};
}

}  // namespace

std::string printable(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const Character next = first_of(text);
    for (const char c : text.substr(0, next.bytes)) {
      const auto byte = static_cast<std::uint8_t>(c);
      if (next.is_shown)
        out += c;
      else
        (out += "\\x").append({kDigits[byte >> 4], kDigits[byte & 15]});
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string printable_word(std::string_view text) {
  std::string word = printable(text);
  if (!word.empty() && word.find_first_of(" =\"") == word.npos) return word;
  for (std::size_t at = 0; (at = word.find('"', at)) != word.npos; at += 2)
    word.insert(at, 1, '\\');
  return '"' + word + '"';
}

}  // namespace hmk

// SPDX-License-Identifier: MIT
// What the value of a key must be, as a function of key and version: 64-bit words that count up
// from a hash, so that a lost, torn, stale or foreign word shows. Sizes are multiples of 8.
#ifndef HMK_LOAD_VALUE_HPP
#define HMK_LOAD_VALUE_HPP

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "random.hpp"

namespace hmk::load {

inline constexpr std::size_t kKeyBytes = 14;

/// "user" and ten digits: with its terminator and header 16 bytes in Redis.
inline void write_key(std::uint32_t key, std::span<char, kKeyBytes> out) {
  std::memcpy(out.data(), "user", 4);
  for (std::size_t i = kKeyBytes; i-- > 4; key /= 10) out[i] = static_cast<char>('0' + key % 10);
}

class Value {
 public:
  Value(std::uint32_t key, std::uint32_t version)
      : first_(mix((std::uint64_t{key} << 32) | version)) {}

  std::uint64_t word(std::size_t i) const { return first_ + i * 0x9e3779b97f4a7c15ull; }

  void write(std::span<char> out) const {
    for (std::size_t i = 0; i < out.size() / 8; ++i) {
      const std::uint64_t w = word(i);
      std::memcpy(out.data() + 8 * i, &w, 8);
    }
  }

  bool matches(std::string_view bytes) const {
    for (std::size_t i = 0; i < bytes.size() / 8; ++i)
      if (!word_matches(bytes, i)) return false;
    return true;
  }

  /// First, last and one word between: cheap enough for every reply of a running load.
  bool looks_right(std::string_view bytes) const {
    const std::size_t words = bytes.size() / 8;
    return words > 0 && word_matches(bytes, 0) && word_matches(bytes, words - 1) &&
           word_matches(bytes, first_ % words);
  }

 private:
  bool word_matches(std::string_view bytes, std::size_t i) const {
    const std::uint64_t w = word(i);
    return std::memcmp(bytes.data() + 8 * i, &w, 8) == 0;
  }

  std::uint64_t first_;
};

}  // namespace hmk::load

#endif

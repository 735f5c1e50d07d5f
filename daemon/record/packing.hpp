// SPDX-License-Identifier: MIT
//
// The bytes of a recording and of a plan: a head, then blocks of length, checksum and payload.
//
//   Packer out(kFrame);
//   out.number(7), out.step(now, before), out.text("[heap]");
//   file << head_bytes("hmkrec\r\n", 3) << out.block();
//
//   Unpacker in(payload);
//   const std::uint64_t seven = in.number();
//   if (!in.is_done()) return damaged();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hmk {

inline constexpr std::uint64_t kRecordedPage = 4096;
inline constexpr std::uint64_t kMostRecordedPages = 1ull << 52;  ///< of an address space
inline constexpr std::size_t kHeadBytes = 12, kBlockHeadBytes = 8;

/// CRC-32 of IEEE 802.3.
std::uint32_t crc32(std::string_view bytes);

std::uint32_t u32_at(std::string_view bytes, std::size_t at);
/// `magic` has eight characters.
std::string head_bytes(std::string_view magic, std::uint32_t version);

/// Numbers of seven bits a byte, lowest first (LEB128).
class Packer {
 public:
  explicit Packer(char kind, std::size_t expected = 0)
      : bytes_(kBlockHeadBytes + kLongest + expected, '\0'), used_(kBlockHeadBytes) {
    bytes_[used_++] = kind;
  }
  /// Most have one or two bytes, and which is past predicting: both are written.
  void number(std::uint64_t value) {
    if (value >= 1u << 14 || bytes_.size() - used_ < kLongest) return long_number(value);
    const bool has_two = value >= 0x80;
    char* const at = bytes_.data() + used_;
    at[0] = static_cast<char>(value | (has_two ? 0x80 : 0));
    at[1] = static_cast<char>(value >> 7);
    used_ += has_two ? 2 : 1;
  }
  /// How far `now` is from `before`; small steps in either direction are short.
  void step(std::uint64_t now, std::uint64_t before) {
    const auto up = static_cast<std::int64_t>(now - before);
    number(static_cast<std::uint64_t>(up) << 1 ^ static_cast<std::uint64_t>(up >> 63));
  }
  /// A whole number of either sign.
  void whole(std::int64_t value) { step(static_cast<std::uint64_t>(value), 0); }
  void text(std::string_view text);
  /// All that was put; once.
  std::string block();

 private:
  void long_number(std::uint64_t value);

  static constexpr std::size_t kLongest = 10;  // of a number
  std::string bytes_;                          // room for more behind `used_`
  std::size_t used_;
};

/// Takes what Packer has put; after the first nonsense is_good() stays false.
class Unpacker {
 public:
  /// `payload` has its kind in front.
  explicit Unpacker(std::string_view payload) : left_(payload.substr(1)) {}
  std::uint64_t number();
  std::uint64_t step(std::uint64_t before) {
    const std::uint64_t coded = number();
    return before + ((coded & 1) != 0 ? ~(coded >> 1) : coded >> 1);
  }
  std::int64_t whole() { return static_cast<std::int64_t>(step(0)); }
  /// What does not fit is nonsense.
  template <class Narrow>
  Narrow narrow(std::uint64_t value) {
    require(static_cast<std::uint64_t>(static_cast<Narrow>(value)) == value);
    return static_cast<Narrow>(value);
  }
  std::string text();
  /// How many follow, each of a byte at least; 0 after nonsense.
  std::uint64_t count();
  void require(bool holds) { is_good_ = is_good_ && holds; }
  bool is_good() const { return is_good_; }
  /// All made sense, and nothing is left.
  bool is_done() const { return is_good_ && left_.empty(); }

 private:
  std::string_view left_;
  bool is_good_ = true;
};

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// The table of <hmk/hints_abi.h>, read as what it is: bytes of a program that may lie, tear them
// and change them at any time.
//
//   auto table = HintTable::adopt(std::move(fd));
//   for (const Hint& hint : (*table).read()) ...
#pragma once

#include <hmk/hints_abi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "util/fd.hpp"
#include "util/result.hpp"

namespace hmk {

/// An object, and the last word on it. Whole pages in user space, at most a TiB; all else is what
/// the program says.
struct Hint {
  std::uint32_t slot = 0;
  std::uint64_t start = 0, end = 0;
  hmk_says says = HMK_SAYS_NOTHING;
  double passes = 0;         ///< of what is about to be used, above 0
  std::uint64_t number = 0;  ///< of the word: another one, another word
  std::string label = {};    ///< any bytes

  bool operator==(const Hint&) const = default;
};

/// Of a table of any bytes, aligned to 8, that may change meanwhile: what is torn, empty or out of
/// bounds is left out. In the order of the slots.
std::vector<Hint> read_hints(std::span<const std::byte> table);

class HintTable {
 public:
  /// Takes a descriptor of anything. Fails unless it is sealed memory of the right size and layout,
  /// which can neither shrink nor block whoever reads it.
  static Result<HintTable> adopt(Fd fd);
  HintTable(HintTable&& other) noexcept;
  HintTable& operator=(HintTable&& other) noexcept;
  HintTable(const HintTable&) = delete;
  HintTable& operator=(const HintTable&) = delete;
  ~HintTable();

  std::vector<Hint> read() const { return read_hints(bytes_); }
  /// From now on the program rings when there is something new. Read once more afterwards: it may
  /// have been said just before.
  void fall_asleep() const;

 private:
  explicit HintTable(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// A table of hints in memory of the test's own, of any size and with anything in it.
#pragma once

#include <hmk/hints_abi.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace hmk::test {

class HintBytes {
 public:
  explicit HintBytes(std::size_t slots = 4)
      : words_((HMK_HINTS_HEADER + slots * sizeof(hmk_hint_slot)) / sizeof(std::uint64_t)) {
    header().slots_used = static_cast<__u32>(slots);
  }

  hmk_hints_header& header() { return *reinterpret_cast<hmk_hints_header*>(words_.data()); }
  hmk_hint_slot& slot(std::size_t index) {
    return reinterpret_cast<hmk_hint_slot*>(reinterpret_cast<char*>(words_.data()) +
                                            HMK_HINTS_HEADER)[index];
  }
  void put(std::size_t index, std::uint64_t start, std::uint64_t bytes, std::uint64_t said,
           std::string_view label = "x") {
    hmk_hint_slot& at = slot(index);
    at.start = start;
    at.bytes = bytes;
    at.said = said;
    std::memcpy(static_cast<char*>(at.label), label.data(), label.size());
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace hmk::test

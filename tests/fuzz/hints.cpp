// SPDX-License-Identifier: MIT
// Any bytes as the table of a program that says what it knows of its memory: whole pages of user
// space or nothing, each slot once and in order.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "hints/hint_table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The header is a page of which a few bytes count: the rest of it is not worth finding.
  std::vector<std::uint64_t> words((HMK_HINTS_HEADER + size) / sizeof(std::uint64_t));
  auto* const bytes = reinterpret_cast<std::uint8_t*>(words.data());
  const std::size_t head = std::min(size, sizeof(hmk_hints_header));
  if (head != 0) std::memcpy(bytes, data, head);
  const std::size_t rest =
      std::min(size - head, words.size() * sizeof(std::uint64_t) - HMK_HINTS_HEADER);
  if (rest != 0) std::memcpy(bytes + HMK_HINTS_HEADER, data + head, rest);
  std::uint64_t next = 0;
  for (const hmk::Hint& hint : hmk::read_hints(std::as_bytes(std::span(words)))) {
    if (hint.slot < next || hint.start >= hint.end || (hint.start | hint.end) % 4096 != 0 ||
        hint.end > 1ull << 56 || hint.end - hint.start > 1ull << 40 || hint.passes <= 0 ||
        hint.label.size() > HMK_HINTS_LABEL || hint.says > HMK_SAYS_RETIRED)
      std::abort();
    next = hint.slot + 1;
  }
  return 0;
}

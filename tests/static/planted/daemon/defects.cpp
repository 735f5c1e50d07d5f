// SPDX-License-Identifier: MIT
// clang-tidy: used after it was moved from. cppcheck: read past the end.
#include <string>
#include <utility>

std::size_t moved_from(std::string text) {
  const std::string kept = std::move(text);
  return kept.size() + text.size();
}

int past_the_end() {
  int values[4] = {1, 2, 3, 4};
  return values[4];
}

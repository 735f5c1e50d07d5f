// SPDX-License-Identifier: MIT
// clang-tidy: used after it was moved from, null on one path, copied to be read. cppcheck: read
// past the end.
#include "defects.hpp"

#include <string>
#include <utility>

std::size_t moved_from(std::string text) {
  const std::string kept = std::move(text);
  return kept.size() + text.size();
}

int null_on_one_path(bool is_known, int* known) {
  int* found = nullptr;
  if (is_known) found = known;
  return *found;
}

std::size_t copied(std::string text) {
  return text.size();
}

int past_the_end() {
  int values[4] = {1, 2, 3, 4};
  return values[4];
}

// SPDX-License-Identifier: MIT
// clang-tidy: 0 for a pointer, size() to ask whether it is empty, a parameter that nothing reads.
#pragma once
#include <vector>

inline int* nothing() {
  return 0;
}
inline bool is_empty(const std::vector<int>& numbers) {
  return numbers.size() == 0;
}
inline int unread(int number) {
  return 3;
}

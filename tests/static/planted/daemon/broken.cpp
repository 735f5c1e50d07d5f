// SPDX-License-Identifier: MIT
// Does not compile, and the compiler says so inside a header of the system.
#include <algorithm>
#include <vector>

void sort_by_nothing(std::vector<int>& numbers) {
  std::sort(numbers.begin(), numbers.end(), 5);
}

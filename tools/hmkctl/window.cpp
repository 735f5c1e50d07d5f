// SPDX-License-Identifier: MIT
#include "window.hpp"

#include <algorithm>

namespace hmkctl {

void Window::clamp(std::size_t total, std::size_t height) {
  first = std::min(first, total > height ? total - height : 0);
}

void Window::move(Step step, std::size_t total, std::size_t height) {
  constexpr std::size_t kColumns = 8;
  const std::size_t page = std::max<std::size_t>(height, 2) - 1;
  switch (step) {
    case Step::up:
      first -= std::min<std::size_t>(first, 1);
      break;
    case Step::down:
      ++first;
      break;
    case Step::page_up:
      first -= std::min(first, page);
      break;
    case Step::page_down:
      first += page;
      break;
    case Step::home:
      *this = {};
      break;
    case Step::end:
      first = total;
      break;
    case Step::left:
      left -= std::min(left, kColumns);
      break;
    case Step::right:
      left += kColumns;
      break;
  }
  clamp(total, height);
}

}  // namespace hmkctl

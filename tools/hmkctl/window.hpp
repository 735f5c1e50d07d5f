// SPDX-License-Identifier: MIT
//
// Which lines of a long list are on a screen.
//
//   window.move(Step::page_down, lines, 20);
//   show lines [window.first, window.first + 20)
#pragma once

#include <cstddef>

namespace hmkctl {

enum class Step { up, down, page_up, page_down, home, end, left, right };

struct Window {
  std::size_t first = 0;  ///< line
  std::size_t left = 0;   ///< column

  /// Of `total` lines `height` fit. Never beyond the last screenful; a page keeps one line.
  void move(Step step, std::size_t total, std::size_t height);
  /// After lines have gone, or the screen has grown.
  void clamp(std::size_t total, std::size_t height);
};

}  // namespace hmkctl

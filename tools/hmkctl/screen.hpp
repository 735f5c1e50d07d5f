// SPDX-License-Identifier: MIT
//
// Where `top` draws: a full screen on a terminal, plain repeated output anywhere
// else (a pipe, a log, TERM=dumb).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace hmkctl {

enum class Look {
  plain,
  warm,    ///< calls for attention; in colour where NO_COLOR allows
  reverse  ///< a bar across the screen
};

struct Line {
  std::string text;
  Look look = Look::plain;
};

class Screen {
 public:
  /// What wait() returns besides the codes of ncurses' getch().
  static constexpr int kNoKey = -1, kEnd = -2;

  virtual ~Screen() = default;
  /// Lines beyond the screen are cut off.
  virtual void draw(const std::vector<Line>& lines) = 0;
  /// The key that is pressed within the time, kEnd when nobody reads any more.
  virtual int wait(std::chrono::milliseconds time) = 0;
  /// How many lines fit; 0: there is no limit and no keyboard.
  virtual std::size_t lines() const = 0;
};

std::unique_ptr<Screen> make_screen(bool is_plain);

/// Neither NO_COLOR (no-color.org) nor a terminal without colours forbids it.
bool is_colour_wanted();

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
//
// Where `top` draws: a full screen on a terminal, plain repeated output anywhere
// else (a pipe, a log, TERM=dumb).
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace hmkctl {

class Screen {
 public:
  virtual ~Screen() = default;
  virtual void draw(const std::string& text) = 0;
  /// Waits; false when the user wants to leave.
  virtual bool wait(std::chrono::milliseconds time) = 0;
  /// How many lines fit; plain output has no limit worth naming.
  virtual int lines() const = 0;
};

std::unique_ptr<Screen> make_screen(bool is_plain);

}  // namespace hmkctl

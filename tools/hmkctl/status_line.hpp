// SPDX-License-Identifier: MIT
//
// Progress of what takes more than two seconds: one line on stderr that the next one replaces.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>

namespace hmkctl {

/// Shown on a terminal only, at most five times a second, and erased in the end.
/// What else is printed meanwhile comes after erase(). Not for several threads at once.
class StatusLine {
 public:
  StatusLine() = default;
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { erase(); }

  [[gnu::format(printf, 2, 3)]] void show(const char* format, ...) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_terminal_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    is_shown_ = true;
    std::va_list values;
    va_start(values, format);
    std::fputc('\r', stderr);
    std::vfprintf(stderr, format, values);
    std::fputs("\033[K", stderr);
    va_end(values);
  }

  void erase() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
    is_shown_ = false;
  }

 private:
  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace hmkctl

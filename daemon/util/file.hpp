// SPDX-License-Identifier: MIT
//
// Small files of /proc and /sys, read whole. Absent or unreadable is "nothing":
// a process may end and a kernel may lack a file at any moment.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include "util/fd.hpp"

namespace hmk {

/// By read(2): a stream takes 20 instructions for each character and a locale for each file, and
/// hmkd reads some in every interval.
inline std::optional<std::string> read_text(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  std::array<char, 8192> some;  // NOLINT(cppcoreguidelines-pro-type-member-init): read(2) fills it
  for (;;) {
    const ssize_t got = ::read(fd.get(), some.data(), some.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;  // the process has ended since
    if (got == 0) return text;
    text.append(some.data(), static_cast<std::size_t>(got));
  }
}

/// Of a file; empty when it cannot be read.
inline std::string first_line(const std::filesystem::path& path) {
  const std::string text = read_text(path).value_or("");
  return text.substr(0, text.find('\n'));
}

}  // namespace hmk

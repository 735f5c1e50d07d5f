// SPDX-License-Identifier: MIT
//
// Small files of /proc and /sys, read whole. Absent or unreadable is "nothing":
// a process may end and a kernel may lack a file at any moment.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace hmk {

inline std::optional<std::string> read_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) return std::nullopt;
  try {
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  } catch (const std::ios_base::failure&) {  // by read(2): the process has ended since
    return std::nullopt;
  }
}

}  // namespace hmk

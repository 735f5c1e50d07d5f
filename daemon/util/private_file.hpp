// SPDX-License-Identifier: MIT
//
// A file for its owner alone (mode 0600), whatever the umask and whatever it was before:
// what is recorded of a process is as private as its /proc/PID/pagemap.
//
//   Result<PrivateFile> file = PrivateFile::create("run.hmkrec");
//   file->write(bytes);
//   Result<void> done = file->flush();
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace hmk {

class PrivateFile {
 public:
  /// Replaces what is there.
  static Result<PrivateFile> create(const std::string& path);
  /// Into the buffer; flush() tells what became of it.
  void write(std::string_view bytes);
  Result<void> flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  PrivateFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// The file has all of `bytes` afterwards, or is as it was; a pipe or a device takes what it takes.
Result<void> replace_private_file(const std::string& path, std::string_view bytes);

}  // namespace hmk

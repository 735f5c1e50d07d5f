// SPDX-License-Identifier: MIT
//
// A file for its owner alone (mode 0600), whatever the umask and whatever it was before:
// what is recorded of a process is as private as its /proc/PID/pagemap.
//
//   Result<PrivateFile> file = PrivateFile::create("run.hmkrec");
//   file->write(bytes);
//   Result<void> done = file->flush();
#pragma once

#include <sys/types.h>

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

/// A file that is written, on disk, and not there yet under its name: what takes its place decides
/// last. Without commit() nothing of it remains.
class PendingFile {
 public:
  static Result<PendingFile> write(const std::string& path, std::string_view bytes,
                                   mode_t mode = 0600);
  ~PendingFile();
  PendingFile(PendingFile&& other) noexcept
      : path_(std::move(other.path_)), name_(std::move(other.name_)) {
    other.name_.clear();
  }
  PendingFile& operator=(PendingFile&&) = delete;
  /// Replaces what is there, as one step.
  Result<void> commit();

 private:
  PendingFile(std::string path, std::string name)
      : path_(std::move(path)), name_(std::move(name)) {}
  std::string path_, name_;  ///< the latter until then; empty: committed
};

/// The file has all of `bytes` afterwards, or is as it was; a pipe or a device takes what it takes.
Result<void> replace_private_file(const std::string& path, std::string_view bytes);

}  // namespace hmk

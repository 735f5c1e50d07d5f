// SPDX-License-Identifier: MIT
//
// A file for its owner alone (mode 0600), whatever the umask and whatever it was before:
// what is recorded of a process is as private as its /proc/PID/pagemap.
//
//   Result<PrivateFile> file = PrivateFile::create("run.hmkrec");
//   Result<void> done = file->write(bytes);
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "util/fd.hpp"
#include "util/result.hpp"

namespace hmk {

class PrivateFile {
 public:
  /// Replaces what is there.
  static Result<PrivateFile> create(const std::string& path);
  /// All of it, or as much as there is room for. A signal ends the wait for a pipe.
  Result<void> write(std::string_view bytes);
  /// Forgets what is behind the first `bytes`; of a pipe nothing can be taken back.
  Result<void> cut(std::uint64_t bytes);

 private:
  PrivateFile(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Fd fd_;
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

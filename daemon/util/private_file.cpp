// SPDX-License-Identifier: MIT
#include "util/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "util/fd.hpp"

namespace hmk {
namespace {

Error cannot_write(const std::string& path, const char* remedy) {
  const int err = errno;
  return {path + ": cannot be written: " + std::strerror(err), remedy, err};
}

/// One that was there keeps its mode over O_CREAT: it is closed to others before the first
/// byte is written.
bool make_private(int fd) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return false;
  if (!S_ISREG(st.st_mode)) return true;  // a pipe, a terminal: not ours to change
  return ((st.st_mode & 077) == 0 || ::fchmod(fd, 0600) == 0) && ::ftruncate(fd, 0) == 0;
}

}  // namespace

Result<PrivateFile> PrivateFile::create(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd || !make_private(fd.get())) return cannot_write(path, "name another file");
  return PrivateFile(path, std::move(fd));
}

Result<void> PrivateFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd_.get(), bytes.data(), bytes.size());
    if (wrote < 0)
      return cannot_write(path_, errno == EPIPE ? "keep its reader running" : "make room for it");
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Result<void> PrivateFile::cut(std::uint64_t bytes) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0 ||
      ::lseek(fd_.get(), static_cast<off_t>(bytes), SEEK_SET) < 0)
    return cannot_write(path_, "name another file");
  return {};
}

Result<PendingFile> PendingFile::write(const std::string& path, std::string_view bytes,
                                       mode_t mode) {
  std::string name = path + ".XXXXXX";
  Fd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return cannot_write(path, "check its folder, or name another file");
  PendingFile pending(path, name);
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t wrote = ::write(fd.get(), left.data(), left.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return cannot_write(path, "make room for it");
    left.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0 || ::close(fd.release()) != 0)
    return cannot_write(path, "make room for it");
  return pending;
}

PendingFile::~PendingFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

Result<void> PendingFile::commit() {
  if (::rename(name_.c_str(), path_.c_str()) != 0)
    return cannot_write(path_, "check its folder, or name another file");
  name_.clear();
  const auto folder = std::filesystem::path(path_).parent_path();
  const Fd fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) (void)::fsync(fd.get());  // the name; where that fails the file is whole all the same
  return {};
}

Result<void> replace_private_file(const std::string& path, std::string_view bytes) {
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
    auto file = PrivateFile::create(path);
    if (!file) return file.error();
    return file->write(bytes);
  }
  std::error_code ignored;  // a link stays one
  const auto target = std::filesystem::weakly_canonical(path, ignored).string();
  auto pending = PendingFile::write(ignored ? path : target, bytes);
  return pending ? pending->commit() : pending.error();
}

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// Which files below a folder are opened while it lives, in order.
//
//   FilesRead files(tree.root());
//   run();
//   EXPECT_EQ(files.opened().size(), 6u);
#pragma once

#include <gtest/gtest.h>
#include <sys/inotify.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "util/fd.hpp"

namespace hmk::test {

class FilesRead {
 public:
  explicit FilesRead(const std::filesystem::path& root) {
    watch(root, "");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
      if (entry.is_directory())
        watch(entry.path(), std::filesystem::relative(entry.path(), root).string() + "/");
  }

  /// Since the last call.
  std::vector<std::string> opened() {
    std::vector<std::string> files;
    alignas(inotify_event) std::array<char, 65536> bytes{};
    for (ssize_t got; (got = ::read(watcher_.get(), bytes.data(), bytes.size())) > 0;)
      for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        const auto* const event = reinterpret_cast<const inotify_event*>(bytes.data() + at);
        at += sizeof(inotify_event) + event->len;
        if ((event->mask & IN_OPEN) != 0 && (event->mask & IN_ISDIR) == 0 && event->len > 0)
          files.push_back(folders_.at(event->wd) + static_cast<const char*>(event->name));
      }
    return files;
  }

 private:
  /// Two events in a row that are alike become one: to be told of the end as well keeps them apart.
  void watch(const std::filesystem::path& folder, const std::string& name) {
    const int wd = ::inotify_add_watch(watcher_.get(), folder.c_str(), IN_OPEN | IN_CLOSE);
    EXPECT_GE(wd, 0) << folder;
    folders_[wd] = name;
  }

  Fd watcher_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  std::map<int, std::string> folders_;
};

}  // namespace hmk::test

// SPDX-License-Identifier: MIT
//
// What the kernel's own NUMA balancing does to a managed process meanwhile: how
// often it has marked the memory, so that each access faults once, and how much it
// has moved.
//
//   NumaBalancing rival;
//   rival.look("/", pid);     at attach, and once per interval or more rarely
//   rival.seen();             nothing: this kernel does not tell
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>

namespace hmk {

class NumaBalancing {
 public:
  struct Seen {
    bool is_on = false;             ///< at the last look
    std::uint64_t scans = 0;        ///< passes over all its memory since the first look
    std::uint64_t moved_pages = 0;  ///< by faults of its threads since then
  };

  /// One small file while balancing is off, else one per thread. What a thread did
  /// between the last look and its end is not seen.
  void look(const std::filesystem::path& root, std::int32_t pid);
  const std::optional<Seen>& seen() const { return seen_; }

 private:
  std::optional<Seen> seen_;
  std::optional<std::uint64_t> scans_before_;
  std::map<std::int32_t, std::uint64_t> moved_before_;  // by thread
};

}  // namespace hmk

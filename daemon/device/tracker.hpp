// SPDX-License-Identifier: MIT
//
// What a kernel without hmk.ko can tell of a process's accesses: for PlainDevice.
//
//   Result<Tracker> tracker = track_by_damon("/", pid);
//   Result<Sight> sight = tracker->look();     once an interval
#pragma once

#include <linux/hmk.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "util/result.hpp"

namespace hmk {

inline constexpr std::uint64_t kPage = HMK_PAGE_SIZE;

/// A range, and the share of looks that found an access there.
struct Seen {
  std::uint64_t start = 0, length = 0;  ///< bytes
  double accessed = 0;                  ///< 0 .. 1
};

struct Sight {
  std::vector<Seen> ranges;     ///< by address
  std::uint64_t kernel_ns = 0;  ///< CPU time of the kernel's thread so far
};

/// Watching ends with the last copy of `look`.
struct Tracker {
  std::string name;
  std::uint32_t looks = 0;  ///< per range and interval
  bool sees_reads = true;
  std::function<Result<Sight>()> look;
};

/// The kernel's DAMON: accessed bits of a page of each of its regions (from 6.2 on; its
/// sysfs takes root). A kdamond that runs for somebody else is left alone.
Result<Tracker> track_by_damon(const std::filesystem::path& root, std::int32_t pid);

/// Pages written since the last look, 2 MiB at a time; reads go unseen. Each look makes
/// the next write to a page fault once.
Result<Tracker> track_by_soft_dirty(const std::filesystem::path& root, std::int32_t pid);

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// Where a process may have huge pages: what the administrator allows, and what the program asks
// for.
//
//   if (read_huge_setting("/") == HugeSetting::advised) areas = read_advised("/", pid);
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace hmk {

enum class HugeSetting { never, advised, always };

/// Of 2 MiB, from transparent_hugepage in /sys: the size's own setting (6.8 and later) unless that
/// is `inherit`, else that of all. What cannot be read is `never`.
HugeSetting read_huge_setting(const std::filesystem::path& root);

/// [start, end) of what madvise(2) has asked huge pages for, ascending; areas that touch are one.
using HugeAreas = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// From /proc/PID/smaps, for which the kernel walks all page tables of the process: some 26 ns for
/// each 4 KiB entry, under the lock that its mmap(2) waits for. Nothing when it cannot be read.
std::optional<HugeAreas> read_advised(const std::filesystem::path& root, std::int32_t pid);

}  // namespace hmk

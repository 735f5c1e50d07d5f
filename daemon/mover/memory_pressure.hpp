// SPDX-License-Identifier: MIT
//
// Whether the machine is short of memory, as the kernel tells it (PSI): for which part of the last
// ten seconds some task waited for reclaim, refaults or compaction, or kswapd was at work. Then
// what rises only pushes out what is needed as well.
//
//   pressure.saw(root, config.pressure_limit_bp);       before each decision
//   if (pressure.is_high()) nothing is promoted
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hmk {

class MemoryPressure {
 public:
  /// It is high from `limit_bp` (of 10000) on until it is below half of it; 0: never.
  void saw(const std::filesystem::path& root, std::uint32_t limit_bp);

  bool is_high() const { return is_high_; }
  /// Of 10000; nothing where the kernel does not tell.
  std::optional<std::uint32_t> now_bp() const { return now_bp_; }

 private:
  bool is_high_ = false;
  std::optional<std::uint32_t> now_bp_;
};

}  // namespace hmk

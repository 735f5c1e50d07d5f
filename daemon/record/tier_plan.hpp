// SPDX-License-Identifier: MIT
//
// Where a program's memory should lie, window by window, as `hmkctl plan schedule` works it out
// from a recording: a file for another run of the same program. Memory is named by what it is, not
// by its address, which differs from run to run.
//
//   Result<void> done = replace_private_file("run.hmkplan", encode(plan));
//   Result<TierPlan> plan = read_plan("run.hmkplan");
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/recording.hpp"
#include "util/result.hpp"

namespace hmk {

/// Part of a mapping, in bytes; multiples of 4096.
struct PlannedPiece {
  std::uint64_t offset = 0, length = 0;
  std::vector<std::uint8_t> tier = {};  ///< by window; 0 is the fastest

  bool operator==(const PlannedPiece&) const = default;
};

/// Of several mappings of one name it is that with so many of them at lower addresses.
struct PlannedMapping {
  std::string name;
  std::uint64_t before = 0;
  std::uint64_t length = 0;               ///< as it was recorded
  std::vector<PlannedPiece> pieces = {};  ///< in order, apart

  bool operator==(const PlannedMapping&) const = default;
};

struct TierPlan {
  RecordedTarget made_from = {};
  RecordedMachine machine = {};  ///< that it is for
  std::uint32_t windows = 0;
  std::uint64_t window_ns = 0;
  /// An access as the plan has it, and the least that is possible: picoseconds.
  std::uint64_t access_ps = 0, bound_ps = 0;
  std::vector<PlannedMapping> mappings = {};

  bool operator==(const TierPlan&) const = default;
};

std::string encode(const TierPlan& plan);

/// As hostile as any file: what it says is checked, and an error names the place. `path` is told
/// only.
Result<TierPlan> decode_plan(std::string_view bytes, const std::string& path);
Result<TierPlan> read_plan(const std::string& path);

}  // namespace hmk

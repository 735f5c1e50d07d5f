// SPDX-License-Identifier: MIT
//
// A recording of one target in the making: the bytes that each interval adds. Who takes them, and
// how fast, is not its business.
//
//   Recorder recorder(target);
//   send(*recorder.news(target, surroundings));      after an interval
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/encoder.hpp"
#include "target.hpp"

namespace hmk {

/// What a target runs on, as recordings and plans know it.
RecordedMachine machine_of(const Target& target, const Surroundings& around);

class Recorder {
 public:
  explicit Recorder(std::int32_t pid) : pid_(pid) {}

  std::int32_t pid() const { return pid_; }
  std::uint64_t frames() const { return encoder_.frames(); }
  /// What has come since the last call, the first time with the head; empty when no interval has
  /// ended since.
  Result<std::string> news(const Target& target, const Surroundings& around);

 private:
  Result<std::string> new_addresses(const Target& target, const Surroundings& around);

  std::int32_t pid_;
  std::uint64_t seq_ = 0;   ///< of the last interval that is in it
  bool has_begun_ = false;  ///< its head is told
  RecordedMachine machine_;
  std::vector<std::uint64_t> spans_;  ///< where memory began and ended when the mappings were read
  RecordedFrame frame_;               ///< its memory only
  RecordEncoder encoder_;
};

}  // namespace hmk

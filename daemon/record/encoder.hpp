// SPDX-License-Identifier: MIT
//
// The bytes of a recording, piece by piece: what each interval has that the one before had not.
//
//   RecordEncoder encoder;
//   send(RecordEncoder::head({.pid = 4711, .comm = "redis-server"}));
//   send(RecordEncoder::machine(machine));          when it has changed
//   send(*encoder.append(frame));                   at the end of each interval
//   send(RecordEncoder::end(encoder.frames()));     without it the recording counts as cut short
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.hpp"
#include "util/result.hpp"

namespace hmk {

class RecordEncoder {
 public:
  static std::string head(const RecordedTarget& target);
  static std::string machine(const RecordedMachine& machine);
  /// Fails where they overlap or are no whole pages.
  static Result<std::string> addresses(const std::vector<RecordedMapping>& mappings);
  static std::string end(std::uint64_t frames);
  /// Not of a file: where one comes over a connection, it ends with this when it cannot go on.
  static std::string trouble(const Error& error);

  /// With the moves of the frame. Fails where regions overlap or are no whole pages; then nothing
  /// has changed. Else `frame` is the one before: its memory serves the next. Twelve bytes a region
  /// at most, one where nothing has changed.
  Result<std::string> append(RecordedFrame& frame);

  std::uint64_t frames() const { return frames_; }

 private:
  RecordedFrame before_;
  std::uint64_t frames_ = 0;
};

}  // namespace hmk

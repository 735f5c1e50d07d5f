// SPDX-License-Identifier: MIT
//
// Reads a recording of any format there has been. What a file says is checked before it is used:
// damage is an error that names the place.
//
//   Result<RecordReader> file = RecordReader::open("run.hmkrec");
//   while (Result<bool> more = file->next(frame); more && *more) use(frame);
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "record/recording.hpp"
#include "util/result.hpp"

namespace hmk {

class RecordReader {
 public:
  static Result<RecordReader> open(const std::string& path);
  const RecordedTarget& target() const { return target_; }
  /// The last one of what has been read.
  const RecordedContext& context() const { return context_; }
  /// Formats 1 and 2 do not tell them.
  bool tells_moves() const { return version_ >= 3; }
  /// False at the end mark.
  Result<bool> next(RecordedFrame& frame);

 private:
  RecordReader(std::string path, std::ifstream file, std::uint64_t size);
  Result<std::string> block();
  Result<void> aside(std::string_view payload);
  Result<void> frame(std::string_view payload, RecordedFrame& frame);
  Error damaged(const std::string& how) const;
  Error cut() const;

  std::string path_;
  std::ifstream file_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;  ///< where the block began that is being read
  std::uint32_t version_ = 0;
  RecordedTarget target_;
  RecordedContext context_;
  std::vector<RecordedMove> moves_;  ///< of the frame that follows
  RecordedFrame before_;
  std::uint64_t frames_ = 0;
};

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// A recording as `hmkctl record` writes it, without hmkd.
//
//   RecordingFile file(path, {4711, "redis-server"});
//   file.append(frame);
//   file.finish();
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "record/encoder.hpp"

namespace hmk::test {

class RecordingFile {
 public:
  RecordingFile(const std::string& path, const RecordedTarget& target)
      : file_(path, std::ios::binary) {
    put(RecordEncoder::head(target));
  }
  void append(RecordedFrame frame) { put(encoder_.append(frame)); }
  void describe(const RecordedContext& context) {
    put(RecordEncoder::machine(context.machine));
    put(RecordEncoder::addresses(context.mappings));
  }
  void finish() { put(RecordEncoder::end(encoder_.frames())); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void put(const Result<std::string>& bytes) {
    ASSERT_TRUE(bytes) << bytes.error().line();
    file_ << *bytes << std::flush;
    bytes_ += (*bytes).size();
  }

  std::ofstream file_;
  RecordEncoder encoder_;
  std::uint64_t bytes_ = 0;
};

}  // namespace hmk::test

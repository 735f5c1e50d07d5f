// SPDX-License-Identifier: MIT
//
// A recording: the regions and hotness of one process, interval by interval, in a compact
// file. README.md has the format. Written by `hmkctl record`, read by `hmkctl heatmap` and
// by the simulator.
//
//   Result<RecordWriter> file = RecordWriter::create("run.hmkrec", {.pid = 4711, .comm = "redis"});
//   file->append(frame);
//   file->finish();
//
//   Result<RecordReader> file = RecordReader::open("run.hmkrec");
//   while (Result<bool> more = file->next(frame); more && *more) use(frame);
#pragma once

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "util/private_file.hpp"
#include "util/result.hpp"

namespace hmk {

/// Start and length are multiples of 4096. Hotness is in 1/256 of one window.
struct RecordedRegion {
  static constexpr std::int32_t kNoRate = std::numeric_limits<std::int32_t>::min();

  std::uint64_t start = 0, length = 0;
  std::uint32_t hi_q8 = 0, whi_q8 = 0;
  std::int32_t node = 0;
  std::uint64_t resident_pages = 0;
  /// log2 of the accesses per second and page, 4 fraction bits; a bound where whi_q8 is 0.
  std::int32_t rate_q4 = kNoRate;

  bool has_rate() const { return rate_q4 != kNoRate; }
  /// Accesses per second and page; 0 where none was seen.
  double rate() const { return whi_q8 == 0 ? 0 : std::exp2(rate_q4 / 16.0); }

  bool operator==(const RecordedRegion&) const = default;
};

/// One interval; its regions are in address order and disjoint.
struct RecordedFrame {
  std::uint64_t seq = 0, start_ns = 0, end_ns = 0;
  std::uint32_t num_scans = 0;  ///< hotness ends there: windows of the ladder, or scans
  std::vector<RecordedRegion> regions;

  bool operator==(const RecordedFrame&) const = default;
};

struct RecordedTarget {
  std::int32_t pid = 0;
  std::string comm;

  bool operator==(const RecordedTarget&) const = default;
};

struct RecordedTier {
  std::vector<std::int32_t> nodes;
  std::uint32_t latency_ns = 0;  ///< 0: not known
  bool operator==(const RecordedTier&) const = default;
};

/// Half-open, in bytes; a multiple of 4096.
struct RecordedMapping {
  std::uint64_t start = 0, end = 0;
  std::string name;
  bool operator==(const RecordedMapping&) const = default;
};

/// What regions lie in; empty where it is not known. Mappings are in address order and disjoint.
struct RecordedContext {
  std::vector<RecordedTier> tiers;  ///< fastest first
  std::vector<RecordedMapping> mappings;
  bool operator==(const RecordedContext&) const = default;
};

class RecordWriter {
 public:
  /// Replaces `path`, readable by its owner only.
  static Result<RecordWriter> create(const std::string& path, const RecordedTarget& target);
  Result<void> append(const RecordedFrame& frame);
  /// At any time; the last one counts.
  Result<void> describe(const RecordedContext& context);
  /// The end mark; without it the file counts as cut short.
  Result<void> finish();

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t frames() const { return frames_; }
  /// Records written, over all frames.
  std::uint64_t regions() const { return regions_; }

 private:
  explicit RecordWriter(PrivateFile file);
  void put(std::string_view bytes);
  Result<void> put_block(const std::string& payload);

  PrivateFile file_;
  RecordedFrame before_;
  std::uint64_t bytes_ = 0, frames_ = 0, regions_ = 0;
};

class RecordReader {
 public:
  static Result<RecordReader> open(const std::string& path);
  const RecordedTarget& target() const { return target_; }
  /// The last one of what has been read.
  const RecordedContext& context() const { return context_; }
  /// False at the end mark. Damage is an error that names the place.
  Result<bool> next(RecordedFrame& frame);

 private:
  RecordReader(std::string path, std::ifstream file, std::uint64_t size);
  Result<std::string> block();
  Error damaged(const std::string& how) const;
  Error cut() const;

  std::string path_;
  std::ifstream file_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;  ///< where the block began that is being read
  RecordedTarget target_;
  RecordedContext context_;
  RecordedFrame before_;
  std::uint64_t frames_ = 0;
};

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// What a recording holds: the regions of one process and their heat, interval by interval, the
// machine it ran on, its mappings, and the moves that were made. Values only; encoder.hpp writes
// them, reader.hpp reads them, tools/hmkctl/README.md has the format.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace hmk {

/// Start and length are multiples of 4096. Hotness is in 1/256 of one window. What is behind the
/// rate is of format 3.
struct RecordedRegion {
  static constexpr std::int32_t kNoRate = std::numeric_limits<std::int32_t>::min();

  std::uint64_t start = 0, length = 0;
  std::uint32_t hi_q8 = 0, whi_q8 = 0;
  std::int32_t node = 0;
  std::uint64_t resident_pages = 0;
  /// log2 of the accesses per second and page, 4 fraction bits; a bound where whi_q8 is 0.
  std::int32_t rate_q4 = kNoRate;
  std::uint16_t rate_dev_q4 = 0;  ///< standard deviation of the rate, in the same unit
  std::uint16_t samples = 0;      ///< taken in the interval; 0: the rate is an older one
  std::uint16_t writes = 0;       ///< samples found written since their page came or moved
  std::uint32_t away_pages = 0;   ///< of the resident ones, not on `node`
  std::int32_t away_node = -1;    ///< holds most of them

  bool has_rate() const { return rate_q4 != kNoRate; }
  /// Accesses per second and page; 0 where none was seen.
  double rate() const { return whi_q8 == 0 ? 0 : std::exp2(rate_q4 / 16.0); }

  bool operator==(const RecordedRegion&) const = default;
};

/// A move that has ended, or a piece of one.
struct RecordedMove {
  /// The last one is what a newer hmkd may tell.
  enum class Reason : std::uint8_t {
    hot,
    gather,
    made_room,
    exchange,
    share,
    put_back,
    plan,
    pin,
    for_pin,
    other
  };

  std::uint64_t start = 0, length = 0;
  std::int32_t from = -1, to = -1;  ///< nodes
  std::uint64_t moved_pages = 0;    ///< as many as went; 0: it was refused
  Reason reason = Reason::hot;

  bool operator==(const RecordedMove&) const = default;
};

/// One interval; its regions are in address order and disjoint.
struct RecordedFrame {
  std::uint64_t seq = 0, start_ns = 0, end_ns = 0;
  std::uint32_t num_scans = 0;  ///< hotness ends there: windows of the ladder, or scans
  std::vector<RecordedRegion> regions = {};
  std::vector<RecordedMove> moves = {};  ///< that ended since the interval before, in that order

  bool operator==(const RecordedFrame&) const = default;
};

struct RecordedTarget {
  std::int32_t pid = 0;
  std::string comm;

  bool operator==(const RecordedTarget&) const = default;
};

/// 0: not known.
struct RecordedTier {
  std::vector<std::int32_t> nodes;
  std::uint32_t latency_ns = 0;        ///< of a read
  std::uint32_t write_latency_ns = 0;  ///< 0: as a read's
  std::uint32_t bandwidth_mib = 0;     ///< a second
  std::uint64_t total_bytes = 0;

  bool operator==(const RecordedTier&) const = default;
};

/// What the process ran on; empty where it is not known.
struct RecordedMachine {
  std::vector<RecordedTier> tiers = {};  ///< fastest first
  std::string tier_source = {};          ///< "hmat", "distance" or "config"
  std::uint32_t page_ns = 0;             ///< moving 4 KiB takes this; 0: not known
  std::string page_source = {};          ///< "measured", "config" or "assumed"

  bool operator==(const RecordedMachine&) const = default;
};

/// Half-open, in bytes; a multiple of 4096. A file is named by its path, other memory as the kernel
/// calls it, "[heap]", and "anonymous" where it does not.
struct RecordedMapping {
  std::uint64_t start = 0, end = 0;
  std::string name;

  bool operator==(const RecordedMapping&) const = default;
};

/// What regions lie in; empty where it is not known. Mappings are in address order and disjoint.
struct RecordedContext {
  RecordedMachine machine = {};
  std::vector<RecordedMapping> mappings = {};

  bool operator==(const RecordedContext&) const = default;
};

}  // namespace hmk

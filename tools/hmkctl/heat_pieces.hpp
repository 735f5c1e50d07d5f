// SPDX-License-Identifier: MIT
//
// What of a process's memory was accessed how often and when, in pieces that stay the same over a
// whole recording, whatever regions it was divided into from interval to interval.
//
//   Borders borders;
//   for (const RecordedFrame& frame : frames) borders.add(frame);
//   HeatPieces heat(borders, 32, frames.size());
//   for (const RecordedFrame& frame : frames) heat.add(frame);
//   heat.pieces()[0].accesses[3]        in the fourth window of 32
#pragma once

#include <cstdint>
#include <vector>

#include "record/recording.hpp"

namespace hmkctl {

/// Where regions begin and end in any interval; rounded down to a power of two of bytes where there
/// would be more than `most`.
class Borders {
 public:
  explicit Borders(std::size_t most = 8192) : most_(most) {}
  void add(const hmk::RecordedFrame& frame);

  const std::vector<std::uint64_t>& addresses() const { return addresses_; }

 private:
  void coarsen();

  std::size_t most_;
  std::uint64_t grain_ = 4096;
  std::vector<std::uint64_t> addresses_;  ///< in order, each once
};

class HeatPieces {
 public:
  struct Piece {
    double bytes = 0;                     ///< the most that was resident at a time
    std::vector<double> accesses;         ///< by window
    std::uint64_t start = 0, length = 0;  ///< of addresses
    std::size_t first = 0;                ///< frame in which memory was there
  };

  /// `frames` at least 1. As many windows as frames when these are fewer.
  HeatPieces(const Borders& borders, std::size_t windows, std::size_t frames);
  void add(const hmk::RecordedFrame& frame);

  std::size_t windows() const { return windows_; }
  std::size_t frames() const { return frames_; }
  std::uint64_t time_ns() const { return end_ns_ - start_ns_; }
  /// Every region had a rate, without which nothing here is true.
  bool has_rates() const { return has_rates_; }
  /// Of all memory in all windows; 0: nothing was accessed.
  double accesses() const;
  /// Those with memory, in address order.
  std::vector<Piece> pieces() const;

 private:
  void add(std::size_t window, const hmk::RecordedRegion& region, double seconds);

  std::vector<std::uint64_t> borders_;
  std::size_t windows_, frames_, added_ = 0;
  std::uint64_t start_ns_ = 0, end_ns_ = 0;
  bool has_rates_ = true;
  std::vector<double> bytes_, resident_;  ///< by piece: the most, and of this frame
  std::vector<std::size_t> first_;        ///< by piece
  std::vector<double> accesses_;          ///< by piece and window
};

}  // namespace hmkctl

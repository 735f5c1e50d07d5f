// SPDX-License-Identifier: MIT
//
// Heat and place over address (rows) and time (columns). Rows share out the memory that was there
// in any interval; what lies between is a hole and takes no row.
//
//   HeatMap map(spans_of(frames), 32, 60, frames.size());
//   for (const RecordedFrame& frame : frames) map.add(frame);
//   std::string text = draw_text({.map = map, .title = "redis"}, false);   (heat_text.hpp)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/recording.hpp"

namespace hmkctl {

/// Half-open, in bytes.
struct Span {
  std::uint64_t start = 0, end = 0;
  bool operator==(const Span&) const = default;
};

/// The union of `spans` (in order, disjoint) and the frame's regions.
std::vector<Span> join(const std::vector<Span>& spans, const hmk::RecordedFrame& frame);

class HeatMap {
 public:
  /// `spans` not empty; `frames` at least 1. As many columns as frames when these are fewer.
  HeatMap(std::vector<Span> spans, std::size_t rows, std::size_t columns, std::size_t frames);
  void add(const hmk::RecordedFrame& frame);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t frames() const { return frames_; }
  /// Smoothed hotness as a share of all scans, 0 .. 1, by bytes; none where no memory was.
  std::optional<double> at(std::size_t row, std::size_t column) const;
  /// Every region had a rate, so rate() is known.
  bool has_rates() const { return has_rates_; }
  /// Accesses per second and page, the mean by bytes; 0 where none was seen, none where no memory
  /// was.
  std::optional<double> rate(std::size_t row, std::size_t column) const;
  /// The node that holds most of it; none where no memory was.
  std::optional<int> node(std::size_t row, std::size_t column) const;
  /// The first address of a row.
  std::uint64_t address(std::size_t row) const;
  /// What of the memory is in a row; one piece, or more where it reaches over holes.
  std::vector<Span> pieces(std::size_t row) const;
  /// Where memory ends and goes on at a higher address: offsets into the memory shared out.
  std::vector<std::uint64_t> holes() const;
  /// A hole lies right before the row or in it.
  bool has_hole(std::size_t row) const;
  /// Of an address that is in memory, else of the next that is: an offset as in holes().
  std::uint64_t offset(std::uint64_t address) const;
  std::uint64_t total_bytes() const { return total_; }
  std::uint64_t bytes_per_row() const { return rows_ == 0 ? 0 : total_ / rows_; }
  /// From the begin of the first interval to the end of the last.
  std::uint64_t time_ns() const { return end_ns_ - start_ns_; }

 private:
  struct Cell {
    double heat = 0, rate = 0, bytes = 0;
    std::map<int, double> nodes;  ///< bytes
  };
  void add(std::size_t column, const hmk::RecordedRegion& region, double heat);
  std::uint64_t border(std::size_t row) const;  // the first offset of a row

  std::vector<Span> spans_;
  std::vector<std::uint64_t> before_;  ///< bytes of all spans before this one
  std::uint64_t total_ = 0, start_ns_ = 0, end_ns_ = 0;
  std::size_t rows_, columns_, frames_, added_ = 0;
  bool has_rates_ = true;
  std::vector<Cell> cells_;
};

}  // namespace hmkctl

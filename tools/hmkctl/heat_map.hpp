// SPDX-License-Identifier: MIT
//
// Hotness over address (rows) and time (columns). Rows share out the memory that was there
// in any interval; what lies between is left out.
//
//   HeatMap map(spans_of(frames), 32, 60, frames.size());
//   for (const RecordedFrame& frame : frames) map.add(frame);
//   std::string text = draw_text(map, false);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recording.hpp"

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
  /// The node that holds most of it; none where no memory was.
  std::optional<int> node(std::size_t row, std::size_t column) const;
  /// The first address of a row.
  std::uint64_t address(std::size_t row) const;
  std::uint64_t bytes_per_row() const { return rows_ == 0 ? 0 : total_ / rows_; }
  /// From the begin of the first interval to the end of the last.
  std::uint64_t time_ns() const { return end_ns_ - start_ns_; }

 private:
  struct Cell {
    double heat = 0, bytes = 0;
    std::map<int, double> nodes;  ///< bytes
  };
  void add(std::size_t column, const hmk::RecordedRegion& region, double heat);

  std::vector<Span> spans_;
  std::vector<std::uint64_t> before_;  ///< bytes of all spans before this one
  std::uint64_t total_ = 0, start_ns_ = 0, end_ns_ = 0;
  std::size_t rows_, columns_, frames_, added_ = 0;
  std::vector<Cell> cells_;
};

/// "#rrggbb": from black over red and yellow to white.
std::string rgb(double heat);

/// Shades of grey as Unicode blocks, or 256 colours for a terminal.
std::string draw_text(const HeatMap& map, bool is_coloured);
std::string draw_svg(const HeatMap& map, const std::string& title);

}  // namespace hmkctl

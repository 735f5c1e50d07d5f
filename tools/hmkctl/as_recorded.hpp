// SPDX-License-Identifier: MIT
//
// Where the memory of a recorded program lay, and which tier served its accesses.
//
//   AsRecorded lay(context.tiers);
//   for (const RecordedFrame& frame : frames) lay.add(frame);
//   lay.accesses()[0] / (lay.accesses()[0] + lay.accesses()[1])
//
// A region counts for the node where most of it is: that is what a recording keeps.
#pragma once

#include <vector>

#include "record/recording.hpp"

namespace hmkctl {

class AsRecorded {
 public:
  explicit AsRecorded(const std::vector<hmk::RecordedTier>& tiers);
  void add(const hmk::RecordedFrame& frame);

  /// By tier; those to memory on a node of no tier are in unknown().
  const std::vector<double>& accesses() const { return accesses_; }
  double unknown() const { return unknown_; }
  /// The most that was in each tier at a time, in bytes.
  const std::vector<double>& peak() const { return peak_; }
  /// 0 where the recording does not tell moves.
  std::uint64_t moved_pages() const { return moved_pages_; }

 private:
  std::vector<hmk::RecordedTier> tiers_;
  std::vector<double> accesses_, peak_;
  double unknown_ = 0;
  std::uint64_t moved_pages_ = 0;
};

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
//
// The windows of HM-Keeper's samples and what watching costs: visits, flushes and the
// thread's time. Samples of one rung are watched in groups: a group is cleared, flushed
// once, waited for and read. While the longest windows run, groups of the others follow
// one after the other.
#pragma once

#include <hmk/core/ladder.h>
#include <linux/hmk.h>

#include "profiler.hpp"

namespace hmk::sim {

class Windows {
 public:
  explicit Windows(const Means& means);

  const hmk_ladder& ladder() const { return ladder_; }
  bool equal() const { return !hmk_ladder_climbs(&ladder_); }

  /// Samples of that rung that are watched together.
  std::uint32_t group(unsigned rung) const;

  void begin();
  /// Whether a sample of that rung still finds a place in the interval; then it has it.
  bool take(unsigned rung);
  /// How many of the windows of that rung see the leaf accessed.
  unsigned seen(const Accesses& accesses, std::uint64_t address, unsigned rung) const;
  /// What the reads of a sample make of the leaf.
  __u8 count(const Accesses& accesses, std::uint64_t address, unsigned rung);

  std::uint64_t visits() const { return visits_; }
  std::uint64_t flushes() const { return flushes_; }
  double cost_ns() const;

 private:
  const Means means_;
  hmk_ladder ladder_{};
  std::uint64_t visits_ = 0, flushes_ = 0;
  double busy_ns_ = 0;                       // until the last group of shorter windows ends
  bool all_of_it_ = false;                   // a group of the longest windows runs
  std::uint32_t room_[HMK_LADDER_MAX] = {};  // of the group that is being filled
};

}  // namespace hmk::sim

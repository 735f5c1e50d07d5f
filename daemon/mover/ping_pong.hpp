// SPDX-License-Identifier: MIT
//
// Ranges that moved up and soon down again, or the other way round, have cost two
// moves for nothing. What is up and what is down the tiers of today say: where the order of two
// tiers has changed, back to the first is no promotion, whatever it is called.
// The first return is only counted, since a workload may have
// changed; what comes back again is left alone for two intervals, then four and so on.
//
//   returned += ping_pong.moved(start, length, {from, to}, tiers, seq);
//   if (ping_pong.is_blocked(start, length, seq + 1)) skip;
#pragma once

#include <cstdint>
#include <map>

#include "mover/spans.hpp"
#include "mover/tier_nodes.hpp"

namespace hmk {

class PingPong {
 public:
  /// Coming back later than this is no thrash but a change of the workload.
  static constexpr std::uint64_t kSoon = 8;  // intervals
  /// Ranges remembered; beyond that the oldest are forgotten.
  static constexpr std::size_t kMost = 65536;

  struct Way {
    int from = -1, to = -1;  // nodes
  };
  /// A range moved in interval `seq`. Returns how many of its bytes moved the other
  /// way within the last kSoon intervals.
  std::uint64_t moved(std::uint64_t start, std::uint64_t length, Way way, const TierNodes& tiers,
                      std::uint64_t seq);
  /// True when some part of the range must still be left alone at interval `seq`.
  bool is_blocked(std::uint64_t start, std::uint64_t length, std::uint64_t seq) const;
  /// All that is, in address order.
  void add_blocked(std::uint64_t seq, Spans& spans) const;
  /// Forget what has been quiet for long.
  void forget_old(std::uint64_t seq);
  std::size_t size() const { return traces_.size(); }

 private:
  struct Trace {
    std::uint64_t end = 0;
    std::uint64_t seq = 0;
    std::uint64_t until = 0;  // last interval it is left alone
    unsigned returns = 0;
    Way way = {};
  };
  using Traces = std::map<std::uint64_t, Trace>;  // by start; they do not overlap

  Traces::const_iterator first_in(std::uint64_t start) const;

  Traces traces_;
};

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// What was seen of each place of a process in the last intervals, and what was
// decided about it and why: what `hmkctl why` tells. Bounded; it decides nothing.
//
//   history.saw(snapshot);
//   history.decided(seq, plan);            as planned
//   history.ended(move, result);           how it went
//   history.sightings(address)             oldest first
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "policy/types.hpp"

namespace hmk {

/// The region around an address, as one interval saw it.
struct Sighting {
  std::uint64_t seq = 0, start = 0, length = 0;
  std::uint32_t hi_q16 = 0, whi_q16 = 0;
  std::uint32_t resident_pages = 0;
  std::int16_t node = -1;
  std::uint16_t samples = 0;
  std::int16_t rate_q8 = 0;  ///< log2 of the accesses per second and page, 8 fraction bits
};

/// All regions, as one interval saw them.
struct PastInterval {
  std::uint64_t seq = 0, start_ns = 0, end_ns = 0;
  std::uint32_t hotness_max = 0;
  std::vector<Sighting> regions;  ///< in address order
};

struct Decision {
  std::uint64_t seq = 0;  ///< the interval it was made from
  policy::Move move{};
  bool is_promotion = false;
  bool has_ended = false;  ///< result below is known
  hmk_range_result result{};
};

class History {
 public:
  static constexpr std::size_t kIntervals = 64;
  static constexpr std::size_t kSightings = 1u << 20;  ///< over all intervals kept: 48 MiB
  static constexpr std::size_t kDecisions = 1u << 15;

  void saw(const Snapshot& snapshot);
  void decided(std::uint64_t seq, const policy::Plan& plan);
  /// `piece`: all or part of a planned move; the parts of one are added up.
  void ended(const policy::Move& piece, const hmk_range_result& result);

  std::vector<Sighting> sightings(std::uint64_t address) const;
  std::size_t nr_intervals() const { return intervals_.size(); }
  /// `age` intervals ago, 0: the last one; null beyond what is kept.
  const PastInterval* interval(std::size_t age) const;
  /// Those that touch [start, end), oldest first.
  std::vector<Decision> decisions(std::uint64_t start, std::uint64_t end) const;

 private:
  /// One that was decided on.
  struct Plan {
    std::size_t end = 0;  // number of the decision behind its last, since the beginning
    std::vector<std::pair<std::uint64_t, std::size_t>>
        decisions;  // start of a move, number; rising
  };
  Decision* newest_of(const policy::Move& piece);

  std::deque<PastInterval> intervals_;
  std::size_t nr_sightings_ = 0;
  std::deque<Decision> decisions_;
  std::size_t forgotten_ = 0;  // decisions before these
  std::deque<Plan> plans_;     // oldest first
};

/// "promote", "demote" or "gather".
std::string_view action_name(const Decision& decision);
/// Why it was decided, for people: "hotter than what the faster tier holds".
std::string_view reason_text(policy::Reason reason);
/// How it went: "moved", "not moved", "refused: pinned", ...
std::string outcome_text(const Decision& decision);

}  // namespace hmk

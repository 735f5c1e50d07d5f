// SPDX-License-Identifier: MIT
//
// What there is to gain for a process, judged from what was seen of it while nothing moved.
// Pure: the same intervals give the same verdict.
//
//   const Outlook outlook = look_ahead({.intervals = seen, .tiers = tiers});
//   verdict_name(outlook.verdict)    ->  "gain"
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "size_curve.hpp"

namespace hmkctl {

/// A region as one interval saw it.
struct SeenRegion {
  std::uint64_t start = 0, length = 0;
  std::uint64_t bytes = 0;        ///< resident
  std::uint64_t away_bytes = 0;   ///< of these, in `away_tier`
  int tier = -1, away_tier = -1;  ///< index, the fastest is 0; -1 outside all tiers
  double rate = 0;                ///< accesses per second and page; 0: none was seen
  std::uint64_t leaf_bytes = 4096;
};
using SeenInterval = std::vector<SeenRegion>;  // in address order, disjoint

struct SeenTier {
  std::uint32_t latency_ns = 0;  ///< 0 unknown
  std::uint64_t free_bytes = 0;  ///< for this process, above every reserve
};

struct Seen {
  std::vector<SeenInterval> intervals;  ///< oldest first
  std::vector<SeenTier> tiers;          ///< fastest first
  std::uint64_t resident_bytes = 0;     ///< of all its memory, measured or not; 0 unknown
  double cpu_ns_per_s = 0;              ///< CPU time it used, which bounds what it waits; 0 unknown
};

enum class Verdict {
  gain,            ///< another placement serves more accesses from the fastest tier
  placed,          ///< today's placement is nearly the best
  fits,            ///< all of it is in the fastest tier
  alike,           ///< all its memory is equally warm
  huge_pages,      ///< the same, and hot parts of huge pages may be hidden
  streams,         ///< what is hot changes faster than moves can follow
  unmeasured,      ///< most of its memory is of kinds that are not measured
  idle,            ///< it accesses nothing
  one_tier,        ///< the machine has, or the process may use, no second tier
  virtual_machine  ///< refused: its accesses do not show in its page table
};
/// "gain", "huge-pages", ...: as in the JSON.
std::string_view verdict_name(Verdict verdict);

// Where the verdicts begin.
inline constexpr double kLeastGain = 0.05;  ///< of all accesses, more from the fastest tier
inline constexpr double kLeastSkew = 0.10;  ///< of the size curve; below, all is equally warm
inline constexpr double kLeastKept = 0.5;   ///< of the gain, still there an interval later
inline constexpr double kOutside = 0.01;    ///< of its memory, at most, for `fits`

/// Of one tier.
struct Serving {
  std::uint64_t resident_bytes = 0;
  std::uint64_t room_bytes = 0;  ///< that it holds and that is free for it
  double now = 0, best = 0;      ///< share of all accesses
};

struct Outlook {
  Verdict verdict = Verdict::idle;
  SizeCurve curve{{}};
  std::vector<Serving> tiers;
  std::uint64_t measured_bytes = 0;
  double huge = 0;  ///< share of the measured bytes in leaves above 4 KiB
  /// Share of the gain that the best placement of one interval has in the next; none with one
  /// interval.
  std::optional<double> kept;
  std::optional<double> latency_now_ns, latency_best_ns;  ///< mean of an access
  std::optional<double> saved_ns_per_s;
};

/// At least one interval and one tier. Rates and places are of the last interval.
Outlook look_ahead(const Seen& seen);

}  // namespace hmkctl

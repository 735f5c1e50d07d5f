// SPDX-License-Identifier: MIT
//
// What a recorded program asks of its memory, as daemon/policy/horizon.hpp plans for it.
//
//   const Demand demand(heat, {90, 230}, 2000);  // ns: of an access by tier, of a move of 4 KiB
//   const auto best = schedule(demand.forecast({1 << 30, kNoLimit}));
//   demand.outcome(best).latency_ns
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "heat_pieces.hpp"
#include "policy/horizon.hpp"

namespace hmkctl {

inline constexpr double kGiB = 1ull << 30;
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Of all accesses, under one placement.
struct Outcome {
  double latency_ns = 0;            ///< mean of an access, moves included
  std::vector<double> shares = {};  ///< of the accesses, by tier
  double moved_bytes = 0;
};

class Demand {
 public:
  /// Latencies fastest first, each above 0.
  Demand(const HeatPieces& heat, const std::vector<double>& latency_ns, double page_ns);

  /// With so many bytes in each tier in every window, all or the last may be kNoLimit.
  hmk::policy::Forecast forecast(const std::vector<double>& capacity) const;
  Outcome outcome(const hmk::policy::Schedule& found) const;
  /// No access can take less on average.
  double bound_ns(const hmk::policy::Schedule& found) const { return found.bound_ns / all_; }

  double accesses() const { return all_; }
  double bytes() const { return bytes_; }

 private:
  hmk::policy::Forecast forecast_;
  std::vector<double> accesses_;  ///< of one region of a group, by group and window
  double all_ = 0, bytes_ = 0;
};

}  // namespace hmkctl

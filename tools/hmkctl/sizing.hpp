// SPDX-License-Identifier: MIT
//
// How much fast memory a program needs: what its accesses, as they were recorded, take for each
// size of it, where memory stays in one place and where it moves with the heat.
//
//   const Sizing sizing(heat, {.fast_ns = 90, .slow_ns = 230, .page_ns = 2000});
//   sizing.enough(0.05)      the least size at which an access takes 5 % longer than in fast memory
//   sizing.at(1 << 30)       with 1 GiB
#pragma once

#include <cstdint>

#include "demand.hpp"
#include "size_curve.hpp"

namespace hmkctl {

struct Prices {
  double fast_ns = 0, slow_ns = 0;  ///< of an access
  double page_ns = 0;               ///< of a move of 4 KiB, out of the program's time
};

/// Latencies are means of an access.
struct Sized {
  std::uint64_t bytes = 0;
  double stays_share = 0, stays_ns = 0;  ///< the best placement that never changes
  double moves_share = 0, moves_ns = 0;  ///< the best that was found when it may, moves included
  double moved_bytes = 0;
  double bound_ns = 0;  ///< less than that is impossible
};

class Sizing {
 public:
  Sizing(const HeatPieces& heat, const Prices& prices);

  std::uint64_t bytes() const { return curve_.bytes(); }
  /// By how much an access takes longer than in fast memory, 0 .. : where nothing moves.
  double loss(std::uint64_t bytes) const;
  /// The least size with that loss; all of it where that is not less.
  std::uint64_t enough(double loss) const;
  Sized at(std::uint64_t bytes) const;

 private:
  Prices prices_;
  SizeCurve curve_;
  Demand demand_;
};

}  // namespace hmkctl

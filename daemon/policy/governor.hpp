// SPDX-License-Identifier: MIT
//
// How fast one process may be promoted: as long as its moves cost more than they save the limit
// halves, down to a probe; when they pay it doubles; when the program has changed it is whole.
//
//   if (governor.saw({.net = realized - spent, ...})) report(governor.divisor());
//   view.promote_limit = governor.limit(promote_limit);
#pragma once

#include "policy/types.hpp"

namespace hmk::policy {

class Governor {
 public:
  static constexpr unsigned kSlowest = 4;      // halvings: 1/16
  static constexpr Bytes kProbe = 8ull << 20;  // and no less than this
  static constexpr unsigned kPatience = 4;     // intervals of loss for a halving
  static constexpr unsigned kProof = 2;        // intervals of gain for a doubling

  struct Seen {
    double net = 0;            // ns/s: what moves save minus what they take
    bool is_rising = false;    // what they save grows by more than they take: an investment
    bool has_moved = false;    // something was moved; else there is nothing to judge
    bool has_changed = false;  // the program has
  };
  /// An interval has ended. Returns whether the speed is another now.
  bool saw(const Seen& seen);

  unsigned divisor() const { return 1u << halvings_; }
  Bytes limit(Bytes whole) const;

 private:
  unsigned halvings_ = 0, losses_ = 0, gains_ = 0;
};

}  // namespace hmk::policy

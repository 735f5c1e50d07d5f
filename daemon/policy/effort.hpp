// SPDX-License-Identifier: MIT
//
// How much of the profiling budget one process is worth: as long as profiling takes more than what
// its plans would save for as long as heat lasts it halves, down to a 32nd, which notices a
// change; when it is worth twice as much, or the program has changed, it is whole. From a 16th on
// chance would move more than a thousandth of the memory in each interval, so nothing changes
// places by what so little has read; a plan that asks for it makes the budget whole. A budget that
// stretches the interval is too little: a change would be noticed late.
//
//   if (effort.saw({.earns = saves * horizon, .takes = profiling}))
//     give_session(effort.budget_bp(500));
#pragma once

#include <cstdint>

namespace hmk::policy {

class Effort {
 public:
  static constexpr unsigned kSlowest = 5;   // halvings
  static constexpr unsigned kRough = 4;     // and from how many on nothing changes places
  static constexpr unsigned kPatience = 8;  // intervals of loss for a halving

  struct Seen {
    double earns = 0;           // ns for each second of one interval
    double takes = 0;           // ns a second: CPU time of profiling
    bool has_changed = false;   // the program has
    bool is_stretched = false;  // to more than what was asked for: the budget does not pay for less
  };
  /// An interval has ended. Returns whether the budget is another now.
  bool saw(const Seen& seen);

  bool is_reduced() const { return halvings_ > 0; }
  bool is_rough() const { return halvings_ >= kRough; }
  /// Of `whole`, in hundredths of a percent; 1 at least.
  std::uint32_t budget_bp(std::uint32_t whole) const;

 private:
  unsigned halvings_ = 0, losses_ = 0, slowest_ = kSlowest;
};

}  // namespace hmk::policy

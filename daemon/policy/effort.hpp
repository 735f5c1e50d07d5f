// SPDX-License-Identifier: MIT
//
// How much of the profiling budget one process is worth: as long as profiling takes more than what
// its plans would save for as long as heat lasts it halves, down to an eighth, which notices a
// change; when it is worth twice as much, or the program has changed, it is whole.
//
//   if (effort.saw({.earns = saves * horizon, .takes = profiling}))
//     give_session(effort.budget_bp(500));
#pragma once

#include <cstdint>

namespace hmk::policy {

class Effort {
 public:
  static constexpr unsigned kSlowest = 3;   // halvings
  static constexpr unsigned kPatience = 8;  // intervals of loss for a halving

  struct Seen {
    double earns = 0;          // ns for each second of one interval
    double takes = 0;          // ns a second: CPU time of profiling
    bool has_changed = false;  // the program has
  };
  /// An interval has ended. Returns whether the budget is another now.
  bool saw(const Seen& seen);

  bool is_reduced() const { return halvings_ > 0; }
  /// Of `whole`, in hundredths of a percent; 1 at least.
  std::uint32_t budget_bp(std::uint32_t whole) const;

 private:
  unsigned halvings_ = 0, losses_ = 0;
};

}  // namespace hmk::policy

// SPDX-License-Identifier: MIT
//
// Bounds what a repeated step costs by what it has cost: after a step that took 3 ms of CPU time
// the next is due 1000 times as long, 3 s, after it.
//
//   CostLimit limit;
//   if (limit.is_due()) limit.run(1000, [&] { machine = read_machine("/"); });
#pragma once

#include <chrono>

#include "util/clock.hpp"

namespace hmk {

class CostLimit {
 public:
  bool is_due() const { return Clock::now() >= next_; }
  /// Due or not. It takes one part in `parts` of the time at most; 0: it is due at once again.
  template <class Step>
  void run(unsigned parts, const Step& step) {
    const auto before = now_of(CLOCK_THREAD_CPUTIME_ID);
    step();
    const auto took = now_of(CLOCK_THREAD_CPUTIME_ID) - before;
    next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(parts * took);
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point next_;  // the first is due at once
};

}  // namespace hmk

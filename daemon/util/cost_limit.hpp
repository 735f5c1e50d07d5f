// SPDX-License-Identifier: MIT
//
// Bounds what a repeated step costs by what it has cost: after a step that took 3 ms of CPU time
// the next is due 1000 times as long, 3 s, after it.
//
//   CostLimit limit;
//   if (limit.is_due()) limit.run(1000, [&] { machine = read_machine("/"); });
#pragma once

#include <chrono>
#include <ctime>

namespace hmk {

class CostLimit {
 public:
  bool is_due() const { return Clock::now() >= next_; }
  /// Due or not. It takes one part in `parts` of the time at most; 0: it is due at once again.
  template <class Step>
  void run(unsigned parts, const Step& step) {
    const std::chrono::nanoseconds before = cpu_time();
    step();
    next_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(parts * (cpu_time() - before));
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Of this thread.
  static std::chrono::nanoseconds cpu_time() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }

  Clock::time_point next_;  // the first is due at once
};

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// What a clock of the kernel says: clock_gettime(2).
//
//   const auto began = now_of(CLOCK_THREAD_CPUTIME_ID);
//   if (const auto used = cpu_time_of(pid)) ...
#pragma once

#include <sys/types.h>

#include <chrono>
#include <ctime>
#include <optional>

namespace hmk {

inline std::chrono::nanoseconds nanoseconds(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// One that every process has.
inline std::chrono::nanoseconds now_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return nanoseconds(now);
}

/// CPU time that a process has had, all threads; nothing where it has ended.
inline std::optional<std::chrono::nanoseconds> cpu_time_of(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
    return std::nullopt;
  return nanoseconds(used);
}

}  // namespace hmk

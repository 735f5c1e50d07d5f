// SPDX-License-Identifier: MIT
#include "mover/pace.hpp"

#include <algorithm>

namespace hmk {

bool Pace::take(Pair pair, std::uint64_t bytes) {
  const auto rate = rates_.find(pair);
  if (rate == rates_.end()) return true;
  const Clock::time_point now = now_();
  Clock::time_point& until = busy_until_[pair];
  if (until > now + kAhead) return false;
  const std::chrono::duration<double> takes(static_cast<double>(bytes) /
                                            static_cast<double>(rate->second));
  until = std::max(until, now) + std::chrono::duration_cast<Clock::duration>(takes);
  return true;
}

Pace::Clock::time_point Pace::ready_at(Pair pair) const {
  const auto until = busy_until_.find(pair);
  return until == busy_until_.end() ? now_() : until->second - kAhead;
}

}  // namespace hmk

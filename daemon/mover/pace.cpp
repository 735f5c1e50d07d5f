// SPDX-License-Identifier: MIT
#include "mover/pace.hpp"

#include <algorithm>

namespace hmk {

Pace::Clock::duration Pace::time_of(Pair pair, std::uint64_t bytes) const {
  const auto rate = rates_.find(pair);
  if (rate == rates_.end()) return {};
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
      static_cast<double>(bytes) / static_cast<double>(rate->second)));
}

bool Pace::take(Pair pair, std::uint64_t bytes) {
  if (!rates_.contains(pair)) return true;
  const Clock::time_point now = now_();
  Clock::time_point& until = busy_until_[pair];
  if (until > now + kAhead) return false;
  until = std::max(until, now) + time_of(pair, bytes);
  return true;
}

void Pace::give_back(Pair pair, std::uint64_t bytes) {
  if (const auto until = busy_until_.find(pair); until != busy_until_.end())
    until->second -= time_of(pair, bytes);
}

Pace::Clock::time_point Pace::ready_at(Pair pair) const {
  const auto until = busy_until_.find(pair);
  return until == busy_until_.end() ? now_() : until->second - kAhead;
}

}  // namespace hmk

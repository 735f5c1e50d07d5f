// SPDX-License-Identifier: MIT
#include "mover/back_off.hpp"

#include <iterator>

#include "mover/pause.hpp"

namespace hmk {

void BackOff::failed(std::uint64_t start, std::uint64_t length, std::uint64_t seq) {
  Entry& entry = entries_[start];
  entry.end = start + length;
  entry.until = seq + pause_after(entry.failures);
  ++entry.failures;
}

void BackOff::succeeded(std::uint64_t start) {
  entries_.erase(start);
}

bool BackOff::is_blocked(std::uint64_t start, std::uint64_t length, std::uint64_t seq) const {
  auto at = entries_.upper_bound(start);
  // The entry before may reach into the range; ranges are those of regions, which
  // do not overlap, so one step back is enough.
  if (at != entries_.begin()) at = std::prev(at);
  for (; at != entries_.end() && at->first < start + length; ++at)
    if (at->second.end > start && seq <= at->second.until) return true;
  return false;
}

void BackOff::forget_old(std::uint64_t seq) {
  std::erase_if(entries_,
                [&](const auto& entry) { return seq > entry.second.until + kLongestPause; });
}

}  // namespace hmk

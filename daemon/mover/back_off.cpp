// SPDX-License-Identifier: MIT
#include "mover/back_off.hpp"

#include <iterator>

#include "mover/pause.hpp"

namespace hmk {

void BackOff::failed(std::uint64_t start, std::uint64_t length, std::uint64_t seq,
                     std::uint8_t page_class) {
  Entry& entry = entries_[{page_class, start}];
  entry.end = start + length;
  entry.until = seq + pause_after(entry.failures);
  ++entry.failures;
}

void BackOff::succeeded(std::uint64_t start, std::uint8_t page_class) {
  entries_.erase({page_class, start});
}

bool BackOff::is_blocked(std::uint64_t start, std::uint64_t length, std::uint64_t seq,
                         std::uint8_t page_class) const {
  auto at = entries_.upper_bound({page_class, start});
  // The entry before may reach into the range; ranges are those of regions, which
  // do not overlap, so one step back is enough.
  if (at != entries_.begin() && std::prev(at)->first.first == page_class) at = std::prev(at);
  const std::pair end{page_class, start + length};
  for (; at != entries_.end() && at->first < end; ++at)
    if (at->second.end > start && seq <= at->second.until) return true;
  return page_class != 0 && is_blocked(start, length, seq);  // as a whole it would not move either
}

void BackOff::add_blocked(std::uint64_t seq, Spans& spans, std::uint8_t last) const {
  for (const auto& [key, entry] : entries_) {
    if (key.first > last) break;  // by class
    if (seq <= entry.until) spans.emplace_back(key.second, entry.end);
  }
}

void BackOff::forget_old(std::uint64_t seq) {
  std::erase_if(entries_,
                [&](const auto& entry) { return seq > entry.second.until + kLongestPause; });
}

}  // namespace hmk

// SPDX-License-Identifier: MIT
#include "mover/ping_pong.hpp"

#include <algorithm>
#include <iterator>

#include "mover/pause.hpp"

namespace hmk {

/// The first trace that ends beyond `start`.
PingPong::Traces::const_iterator PingPong::first_in(std::uint64_t start) const {
  auto at = traces_.upper_bound(start);
  if (at != traces_.begin() && std::prev(at)->second.end > start) --at;
  return at;
}

std::uint64_t PingPong::moved(std::uint64_t start, std::uint64_t length, Way way,
                              const TierNodes& tiers, std::uint64_t seq) {
  const auto rises = [&](const Way& of) { return tier_of(tiers, of.to) < tier_of(tiers, of.from); };
  const std::uint64_t end = start + length;
  Trace now{.end = end, .seq = seq, .until = 0, .returns = 0, .way = way};
  std::uint64_t returned = 0;
  for (auto at = first_in(start); at != traces_.end() && at->first < end;
       at = traces_.erase(at)) {  // what is left of a longer range is forgotten with it
    const Trace& before = at->second;
    if (seq > std::max(before.seq, before.until) + kSoon) continue;
    now.returns = std::max(now.returns, before.returns);
    if (rises(before.way) != rises(way))
      returned += std::min(before.end, end) - std::max(at->first, start);
  }
  if (returned > 0) {
    if (now.returns > 0) now.until = seq + pause_after(now.returns);
    ++now.returns;
  }
  traces_[start] = now;
  return returned;
}

bool PingPong::is_blocked(std::uint64_t start, std::uint64_t length, std::uint64_t seq) const {
  for (auto at = first_in(start); at != traces_.end() && at->first < start + length; ++at)
    if (seq <= at->second.until) return true;
  return false;
}

void PingPong::add_blocked(std::uint64_t seq, Spans& spans) const {
  for (const auto& [start, trace] : traces_)
    if (seq <= trace.until) spans.emplace_back(start, trace.end);
}

void PingPong::forget_old(std::uint64_t seq) {
  std::uint64_t keep = kSoon;
  do {
    std::erase_if(traces_, [&](const auto& trace) {
      return seq > std::max(trace.second.seq, trace.second.until) + keep;
    });
  } while (traces_.size() > kMost && keep-- > 0);
}

}  // namespace hmk

// SPDX-License-Identifier: MIT
#include "policy/cold.hpp"

#include <algorithm>
#include <utility>

namespace hmk::policy {
namespace {

Bytes resident_in(const RegionView& region, Bytes length) {
  return static_cast<Bytes>(static_cast<double>(region.resident) *
                            (static_cast<double>(length) / static_cast<double>(region.length))) /
         kPage * kPage;
}

}  // namespace

void ColdMemory::saw(std::span<const RegionView> regions, const Interval& interval) {
  interval_ = interval;
  old_ = std::exchange(stretches_, {});
  cold_.clear();
  const Bytes known = std::exchange(bytes_, 0);
  next_ = 0;
  double woken = 0;
  for (const RegionView& region : regions) {
    if (region.resident == 0) continue;
    while (next_ < old_.size() && old_[next_].end <= region.start) ++next_;
    const std::size_t first = stretches_.size();
    if (region.stale) {
      keep_old(region);
    } else if (region.hi_q16 == 0) {
      keep_all(region);
    } else {
      woken += pages_woken(region);
      continue;
    }
    count(region, first == 0 ? 0 : first - 1);  // it may have been joined to the one before
  }
  average(woken, known);
}

void ColdMemory::keep(std::uint64_t start, std::uint64_t end, double since_s) {
  if (start >= end) return;
  if (!stretches_.empty() && stretches_.back().end == start && stretches_.back().since_s == since_s)
    stretches_.back().end = end;
  else
    stretches_.push_back({start, end, since_s});
}

/// Of a region of which nothing new is known.
void ColdMemory::keep_old(const RegionView& region) {
  for (std::size_t i = next_; i < old_.size() && old_[i].start < end_of(region); ++i)
    keep(std::max(old_[i].start, region.start), std::min(old_[i].end, end_of(region)),
         old_[i].since_s);
}

/// What of it is not known to be cold is so from this interval on.
void ColdMemory::keep_all(const RegionView& region) {
  const double begin_s = interval_.now_s - interval_.seconds;
  std::uint64_t at = region.start;
  for (std::size_t i = next_; i < old_.size() && old_[i].start < end_of(region); ++i) {
    keep(at, std::max(old_[i].start, at), begin_s);
    at = std::max(old_[i].start, at);
    const std::uint64_t end = std::min(old_[i].end, end_of(region));
    keep(at, end, old_[i].since_s);
    at = end;
  }
  keep(at, end_of(region), begin_s);
}

/// Of what was cold, the share of its samples that were accessed; one in its longest window only
/// has a hotness of 1.
double ColdMemory::pages_woken(const RegionView& region) const {
  Bytes cold = 0;
  for (std::size_t i = next_; i < old_.size() && old_[i].start < end_of(region); ++i)
    if (old_[i].since_s + interval_.after_s <= interval_.now_s)
      cold += std::min(old_[i].end, end_of(region)) - std::max(old_[i].start, region.start);
  const double share = std::min(1., static_cast<double>(region.hi_q16) / kOneQ16);
  return share * static_cast<double>(resident_in(region, cold)) / kPage;
}

/// What of the stretches from `first` on lies in a region and is cold.
void ColdMemory::count(const RegionView& region, std::size_t first) {
  if (!region.movable) return;
  for (std::size_t i = first; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    const std::uint64_t start = std::max(stretch.start, region.start),
                        end = std::min(stretch.end, end_of(region));
    if (start >= end || stretch.since_s + interval_.after_s > interval_.now_s) continue;
    const Bytes resident = resident_in(region, end - start);
    if (resident == 0) continue;
    cold_.push_back({start, end - start, resident, stretch.since_s});
    bytes_ += resident;
  }
}

void ColdMemory::average(double woken, Bytes known) {
  if (known == 0 || interval_.seconds <= 0) return;
  const double now = woken / interval_.seconds;
  known_s_ += interval_.seconds;
  const double weight = interval_.seconds / std::min(known_s_, kMeanOf_s);
  wakes_per_s_ = wakes_per_s_.value_or(0) + (now - wakes_per_s_.value_or(0)) * weight;
}

std::vector<ColdMemory::Range> ColdMemory::oldest(Bytes most) const {
  std::vector<Range> chosen = cold_;
  std::ranges::stable_sort(chosen, {}, &Range::since_s);
  Bytes left = most;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    Range& range = chosen[i];
    if (range.resident <= left) {
      left -= range.resident;
      continue;
    }
    const double part = static_cast<double>(left) / static_cast<double>(range.resident);
    range.length = static_cast<Bytes>(static_cast<double>(range.length) * part) / kHuge * kHuge;
    range.resident = std::min(left, range.length);
    chosen.resize(range.length == 0 ? i : i + 1);
    break;
  }
  return chosen;
}

void ColdMemory::forget(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, &Range::start);
  std::vector<Stretch> left;
  left.reserve(stretches_.size() + ranges.size());
  auto range = ranges.begin();
  for (const Stretch& stretch : stretches_) {
    std::uint64_t at = stretch.start;
    while (range != ranges.end() && range->start + range->length <= at) ++range;
    for (; range != ranges.end() && range->start < stretch.end; ++range) {
      if (at < range->start) left.push_back({at, range->start, stretch.since_s});
      at = range->start + range->length;
      if (at > stretch.end) break;  // it goes on in the next one
    }
    if (at < stretch.end) left.push_back({at, stretch.end, stretch.since_s});
  }
  stretches_ = std::move(left);
}

}  // namespace hmk::policy

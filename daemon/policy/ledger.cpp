// SPDX-License-Identifier: MIT
#include "policy/ledger.hpp"

#include <algorithm>
#include <cmath>

namespace hmk::policy {
namespace {

double part(Bytes some, Bytes all) {
  return static_cast<double>(some) / static_cast<double>(all);
}

Bytes part_of(Bytes bytes, double share) {
  return static_cast<Bytes>(std::llround(static_cast<double>(bytes) * share));
}

std::uint64_t end_of(const RegionView& region) {
  return region.start + region.length;
}

/// The first region from `at` on that ends beyond `address`; near ones are found sooner.
std::size_t first_beyond(std::span<const RegionView> regions, std::size_t at,
                         std::uint64_t address) {
  std::size_t step = 1;
  while (at + step <= regions.size() && end_of(regions[at + step - 1]) <= address) {
    at += step;
    step *= 2;
  }
  const auto near = regions.subspan(at, std::min(step, regions.size() - at));
  return at + static_cast<std::size_t>(std::ranges::upper_bound(near, address, {}, end_of) -
                                       near.begin());
}

}  // namespace

/// Goes through regions and extents together, both in address order.
class Ledger::Reckoning {
 public:
  Reckoning(std::span<const RegionView> regions, const GainModel& model)
      : regions_(regions), model_(model) {}

  /// Sets what an extent saves; false: nothing is there any more.
  bool reckon(std::uint64_t start, Extent& extent) {
    const std::uint64_t end = start + extent.length;
    const auto first = model_.tier_of(extent.first), now = model_.tier_of(extent.now);
    bool is_there = false;
    extent.realized = 0;
    for (at_ = first_beyond(regions_, at_, start);
         at_ < regions_.size() && regions_[at_].start < end; ++at_) {
      const RegionView& region = regions_[at_];
      const Bytes length = std::min(end, end_of(region)) - std::max(start, region.start);
      const Bytes bytes = std::min(part_of(extent.bytes, part(length, extent.length)),
                                   part_of(region.resident, part(length, region.length)));
      is_there = is_there || bytes > 0;
      if (!first || !now) continue;  // a node that is used no more
      const double saved = model_.saved_ns_per_s(heat_of(region), bytes, *first, *now);
      extent.realized += saved;
      add_error(region, saved);
      if (end_of(region) > end) break;  // the next extent may be in it, too
    }
    return is_there;
  }

  double deviation() {
    close_region();
    return std::sqrt(variance_);
  }

 private:
  /// What is told of one region errs as one.
  void add_error(const RegionView& region, double saved) {
    if (region.start != error_of_) close_region();
    error_of_ = region.start;
    error_ += saved * (std::exp2(region.rate_dev_q8 / 256.0) - 1);
  }
  void close_region() {
    variance_ += error_ * error_;
    error_ = 0;
  }

  std::span<const RegionView> regions_;
  const GainModel& model_;
  std::size_t at_ = 0;
  std::uint64_t error_of_ = 0;
  double error_ = 0, variance_ = 0;
};

/// An extent that reaches over `at` becomes two.
void Ledger::cut(std::uint64_t at) {
  auto over = extents_.upper_bound(at);
  if (over == extents_.begin()) return;
  --over;
  Extent& low = over->second;
  if (at <= over->first || at >= over->first + low.length) return;
  const double share = part(at - over->first, low.length);
  Extent high = low;
  high.length -= at - over->first;
  low.length = at - over->first;
  low.bytes = part_of(low.bytes, share);
  high.bytes -= low.bytes;
  low.promised *= share;
  low.realized *= share;
  high.promised -= low.promised;
  high.realized -= low.realized;
  extents_.emplace(at, high);
}

void Ledger::moved(const Moved& what) {
  spending_ns_[{what.from, what.to}] += what.spent_ns;
  if (what.bytes == 0 || what.length == 0) return;
  is_moving_ = true;
  const std::uint64_t end = what.start + what.length;
  cut(what.start);
  cut(end);
  std::uint64_t at = what.start;
  for (auto next = extents_.lower_bound(at); at < end;) {
    const bool is_gap = next == extents_.end() || next->first > at;
    const std::uint64_t stop = !is_gap
                                   ? at + next->second.length
                                   : (next == extents_.end() ? end : std::min(end, next->first));
    if (is_gap)
      next = extents_.emplace_hint(next, at, Extent{.length = stop - at, .first = what.from});
    Extent& extent = next->second;
    const double share = part(stop - at, what.length);
    extent.bytes = std::min(extent.length, std::max(extent.bytes, part_of(what.bytes, share)));
    extent.promised += what.promised * share;
    extent.now = what.to;
    // Back where it was: nothing is different from doing nothing.
    next = extent.first == extent.now ? extents_.erase(next) : std::next(next);
    at = stop;
  }
  if (extents_.size() > kMostExtents) forget_least();
}

void Ledger::forget_least() {
  const auto worth = [](const auto& entry) {
    return std::abs(entry.second.realized) + std::abs(entry.second.promised);
  };
  std::vector<double> all;
  for (const auto& entry : extents_) all.push_back(worth(entry));
  const auto eighth = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 8);
  std::ranges::nth_element(all, eighth);
  std::size_t left = all.size() / 8;
  std::erase_if(extents_, [&](const auto& entry) {
    return left > 0 && worth(entry) <= *eighth && left-- > 0;
  });
}

void Ledger::saw(std::span<const RegionView> regions, const GainModel& model,
                 const Interval& interval) {
  const double before = total_.realized;
  total_ = {};
  for (auto& [nodes, figures] : pairs_) figures.promised = figures.realized = 0;
  Reckoning reckoning(regions, model);
  for (auto at = extents_.begin(); at != extents_.end();) {
    Extent& extent = at->second;
    const bool is_there = reckoning.reckon(at->first, extent);
    if (is_there) {
      Figures& pair = pairs_[{extent.first, extent.now}];
      pair.promised += extent.promised;
      pair.realized += extent.realized;
    }
    at = is_there ? std::next(at) : extents_.erase(at);
  }
  realized_dev_ = reckoning.deviation();

  double spent_ns = 0;
  for (const auto& [nodes, ns] : spending_ns_) pairs_.try_emplace(nodes);
  for (auto& [nodes, pair] : pairs_) {
    const auto now = spending_ns_.find(nodes);
    const double ns = now == spending_ns_.end() ? 0 : static_cast<double>(now->second);
    spent_ns += ns;
    pair.spent += (ns / interval.seconds - pair.spent) / std::max(interval.horizon, 1.0);
    total_.promised += pair.promised;
    total_.realized += pair.realized;
    total_.spent += pair.spent;
  }
  spending_ns_.clear();
  is_rising_ = (total_.realized - before) * interval.seconds * interval.horizon > spent_ns;
  profiling_ = static_cast<double>(interval.profile_ns) / interval.seconds;
  sums_.promised += total_.promised * interval.seconds;
  sums_.saved += total_.realized * interval.seconds;
  sums_.spent += spent_ns + static_cast<double>(interval.profile_ns);
  has_moved_ = std::exchange(is_moving_, false);
}

std::vector<Ledger::Displaced> Ledger::displaced() const {
  std::vector<Displaced> all;
  all.reserve(extents_.size());
  for (const auto& [start, extent] : extents_)
    all.push_back({start, extent.length, extent.bytes, extent.first, extent.now});
  return all;
}

Bytes Ledger::displaced_bytes() const {
  Bytes bytes = 0;
  for (const auto& [start, extent] : extents_) bytes += extent.bytes;
  return bytes;
}

Ledger::Figures Ledger::figures(std::uint64_t start, std::uint64_t end) const {
  Figures sum;
  auto at = extents_.upper_bound(start);
  if (at != extents_.begin()) --at;
  for (; at != extents_.end() && at->first < end; ++at) {
    const auto& [first, extent] = *at;
    const std::uint64_t from = std::max(start, first), to = std::min(end, first + extent.length);
    if (from >= to) continue;
    sum.promised += extent.promised * part(to - from, extent.length);
    sum.realized += extent.realized * part(to - from, extent.length);
  }
  return sum;
}

}  // namespace hmk::policy

// SPDX-License-Identifier: MIT
#include "policy/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hmk::policy {
namespace {

double part(Bytes some, Bytes all) {
  return static_cast<double>(some) / static_cast<double>(all);
}

Bytes part_of(Bytes bytes, double share) {
  return static_cast<Bytes>(std::llround(static_cast<double>(bytes) * share));
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
  bool reckon(std::uint64_t start, Extent& extent, Of of) {
    const std::uint64_t end = start + extent.length;
    bool is_there = false;
    Bytes left = 0;
    extent.realized = 0;
    for (at_ = first_beyond(regions_, at_, start);
         at_ < regions_.size() && regions_[at_].start < end;) {
      const RegionView& region = regions_[at_];
      const std::span<const RegionView> classes = classes_at(at_);
      const Bytes length = std::min(end, end_of(region)) - std::max(start, region.start);
      const double share = part(length, region.length);
      const Bytes wanted = part_of(extent.bytes, part(length, extent.length));
      const bool by_node = of != Of::range || region.page_class != 0;
      const Lying all = lying(classes, extent, false);
      const Lying here = by_node ? lying(classes, extent, true) : all;
      const Bytes bytes = std::min(wanted, part_of(here.bytes, share));
      is_there = is_there || std::min(wanted, part_of(all.bytes, share)) > 0;
      left += bytes;
      if (bytes > 0) {
        const double saved = here.saved * part(bytes, here.bytes);
        extent.realized += saved;
        add_error(region, saved);
      }
      if (end_of(region) > end) break;  // the next extent may be in it, too
      at_ += classes.size();
    }
    if (of == Of::range) return is_there;
    extent.bytes = left;  // the rest has left again
    return left > 0;
  }

  double variance() {
    close_region();
    return variance_;
  }

 private:
  /// The records of one region.
  std::span<const RegionView> classes_at(std::size_t at) const {
    std::size_t end = at + 1;
    if (regions_[at].page_class != 0)
      while (end < regions_.size() && regions_[end].start == regions_[at].start) ++end;
    return regions_.subspan(at, end - at);
  }

  /// What lies somewhere, and saves there.
  struct Lying {
    Bytes bytes = 0;
    double saved = 0;
  };
  Lying lying(std::span<const RegionView> classes, const Extent& extent, bool there_only) const {
    const auto first = model_.tier_of(extent.first), now = model_.tier_of(extent.now);
    Lying sum;
    for (const RegionView& region : classes) {
      Bytes bytes = region.resident;
      if (there_only && region.node == extent.now)
        bytes -= region.away;
      else if (there_only)
        bytes = region.away_node == extent.now ? region.away : 0;
      sum.bytes += bytes;
      if (first && now)  // else a node that is used no more
        sum.saved += model_.saved_ns_per_s(heat_of(region), bytes, *first, *now);
    }
    return sum;
  }

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
void Ledger::cut(Extents& extents, std::uint64_t at) {
  auto over = extents.upper_bound(at);
  if (over == extents.begin()) return;
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
  extents.emplace(at, high);
}

/// As much of what came from where this goes to, in its range, as goes. Returns how much that was.
Bytes Ledger::take_back(Extents& extents, const Moved& what) {
  const std::uint64_t end = what.start + what.length;
  cut(extents, what.start);
  cut(extents, end);
  Bytes left = what.bytes;
  for (auto at = extents.lower_bound(what.start); at != extents.end() && at->first < end;) {
    Extent& extent = at->second;
    const bool came = extent.first == what.to && extent.now == what.from;
    const Bytes back = came ? std::min(extent.bytes, left) : 0;
    left -= back;
    if (back > 0) extent.promised *= 1 - part(back, extent.bytes);
    extent.bytes -= back;
    at = came && extent.bytes == 0 ? extents.erase(at) : std::next(at);
  }
  return what.bytes - left;
}

void Ledger::moved(const Moved& what) {
  spending_ns_[{what.from, what.to}] += what.spent_ns;
  if (what.bytes == 0 || what.length == 0) return;
  is_moving_ = true;
  if (what.of == Of::range) return add(what, what.bytes, what.promised);
  if (what.undoes) {
    take_back(extents(what.of == Of::risen ? Of::fallen : Of::risen), what);
    return;
  }
  const Bytes rest = what.bytes - take_back(extents(Of::range), what);
  if (rest > 0) add(what, rest, what.promised * part(rest, what.bytes));
}

void Ledger::add(const Moved& what, Bytes bytes, double promised) {
  Extents& extents = this->extents(what.of);
  const std::uint64_t end = what.start + what.length;
  cut(extents, what.start);
  cut(extents, end);
  std::uint64_t at = what.start;
  for (auto next = extents.lower_bound(at); at < end;) {
    const bool is_gap = next == extents.end() || next->first > at;
    const std::uint64_t stop = !is_gap ? at + next->second.length
                                       : (next == extents.end() ? end : std::min(end, next->first));
    if (is_gap)
      next = extents.emplace_hint(next, at, Extent{.length = stop - at, .first = what.from});
    Extent& extent = next->second;
    const double share = part(stop - at, what.length);
    const Bytes came = part_of(bytes, share);
    // Of a class others came before.
    extent.bytes = std::min(
        extent.length, what.of == Of::range ? std::max(extent.bytes, came) : extent.bytes + came);
    extent.promised += promised * share;
    extent.now = what.to;
    extent.is_new = true;
    // Back where it was: nothing is different from doing nothing.
    next = extent.first == extent.now ? extents.erase(next) : std::next(next);
    at = stop;
  }
  if (this->extents() > kMostExtents) forget_least();
}

void Ledger::forget_least() {
  const auto worth = [](const auto& entry) {
    return std::abs(entry.second.realized) + std::abs(entry.second.promised);
  };
  std::vector<double> all;
  for (const Extents& extents : extents_)
    for (const auto& entry : extents) all.push_back(worth(entry));
  const auto eighth = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 8);
  std::ranges::nth_element(all, eighth);
  std::size_t left = all.size() / 8;
  for (Extents& extents : extents_)
    std::erase_if(extents, [&](const auto& entry) {
      return left > 0 && worth(entry) <= *eighth && left-- > 0;
    });
}

void Ledger::saw(std::span<const RegionView> regions, const GainModel& model,
                 const Interval& interval) {
  const double before = total_.realized;
  total_ = {};
  for (auto& [nodes, figures] : pairs_) figures.promised = figures.realized = 0;
  double variance = 0;
  Figures fresh;  // of what moved in this interval: on average half of it went by before
  for (const Of of : {Of::range, Of::risen, Of::fallen}) {
    Reckoning reckoning(regions, model);
    Extents& extents = this->extents(of);
    for (auto at = extents.begin(); at != extents.end();) {
      Extent& extent = at->second;
      // Where the pages of a class lie the records tell when they know of the move.
      const bool is_fresh = std::exchange(extent.is_new, false);
      const bool is_unknown = is_fresh && of != Of::range;
      if (is_unknown) extent.realized = extent.promised;
      const bool is_there = is_unknown || reckoning.reckon(at->first, extent, of);
      if (is_there) {
        Figures& pair = pairs_[{extent.first, extent.now}];
        pair.promised += extent.promised;
        pair.realized += extent.realized;
        if (is_fresh) {
          fresh.promised += extent.promised;
          fresh.realized += extent.realized;
        }
      }
      at = is_there ? std::next(at) : extents.erase(at);
    }
    variance += reckoning.variance();
  }
  realized_dev_ = std::sqrt(variance);

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
  sums_.promised += (total_.promised - fresh.promised / 2) * interval.seconds;
  sums_.saved += (total_.realized - fresh.realized / 2) * interval.seconds;
  sums_.spent += spent_ns + static_cast<double>(interval.profile_ns);
  has_moved_ = std::exchange(is_moving_, false);
}

std::size_t Ledger::extents() const {
  std::size_t sum = 0;
  for (const Extents& extents : extents_) sum += extents.size();
  return sum;
}

std::vector<Ledger::Displaced> Ledger::displaced() const {
  std::vector<Displaced> all;
  all.reserve(extents());
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    for (const auto& [start, extent] : extents_[kind])
      all.push_back(
          {start, extent.length, extent.bytes, extent.first, extent.now, static_cast<Of>(kind)});
  return all;
}

Bytes Ledger::displaced_bytes() const {
  Bytes bytes = 0;
  for (const Extents& extents : extents_)
    for (const auto& [start, extent] : extents) bytes += extent.bytes;
  return bytes;
}

Ledger::Figures Ledger::figures(std::uint64_t start, std::uint64_t end) const {
  Figures sum;
  for (const Extents& extents : extents_) {
    auto at = extents.upper_bound(start);
    if (at != extents.begin()) --at;
    for (; at != extents.end() && at->first < end; ++at) {
      const auto& [first, extent] = *at;
      const std::uint64_t from = std::max(start, first), to = std::min(end, first + extent.length);
      if (from >= to) continue;
      sum.promised += extent.promised * part(to - from, extent.length);
      sum.realized += extent.realized * part(to - from, extent.length);
    }
  }
  return sum;
}

}  // namespace hmk::policy

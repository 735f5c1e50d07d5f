// SPDX-License-Identifier: MIT
#include "policy/join.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "policy/gain.hpp"

namespace hmk::policy {
namespace {

constexpr std::uint8_t kSmallLeaf = 12;
constexpr int kQuarterQ8 = 2 * 256;  // of a rate
constexpr double kPages = static_cast<double>(kHuge) / kPage;

std::uint64_t first_in(const RegionView& region) {
  return (region.start + kHuge - 1) & ~(kHuge - 1);
}

/// The nodes of the first tier lie side by side.
std::span<const TierView> fastest(std::span<const TierView> tiers) {
  std::size_t nodes = tiers.empty() ? 0 : 1;
  while (nodes < tiers.size() && tiers[nodes].joins) ++nodes;
  return tiers.first(nodes);
}

/// All there, where it belongs, alike, and not about to move.
bool is_whole(const RegionView& region, std::span<const TierView> fast) {
  return region.page_class == 0 && region.movable && region.resident == region.length &&
         region.away == 0 && std::ranges::find(fast, region.node, &TierView::node) != fast.end();
}

bool pays(double saved_ns_per_s, const Joins::Terms& terms) {
  return saved_ns_per_s * terms.horizon_s > kPages * terms.ns_per_page;
}

/// To less than a quarter, and by more than chance explains.
bool has_cooled(int rate_q8, double dev_q8, int now_q8, double now_dev_q8) {
  const int fall = rate_q8 - now_q8;
  return fall > kQuarterQ8 && fall > kDeviations * std::hypot(dev_q8, now_dev_q8);
}

/// A stretch of several regions, the first of which begins it, as a region of its own: as hot as
/// the coldest of them. None where something is not mapped.
std::optional<RegionView> across(std::span<const RegionView> regions) {
  RegionView whole = regions.front();
  whole.start = end_of(whole) & ~(kHuge - 1);
  if (whole.start == end_of(regions.front()) || whole.start < regions.front().start) return {};
  whole.length = whole.resident = kHuge;
  whole.away = 0;
  for (std::uint64_t at = whole.start; const RegionView& part : regions) {
    if (part.start > at && &part != &regions.front()) return {};
    if (part.rate_q8 < whole.rate_q8) {
      whole.whi_q16 = part.whi_q16;
      whole.rate_q8 = part.rate_q8;
      whole.rate_dev_q8 = part.rate_dev_q8;
    }
    if (part.resident < part.length || part.node != whole.node) whole.resident = 0;
    whole.away += part.away;
    whole.leaf_shift = std::max(whole.leaf_shift, part.leaf_shift);
    whole.page_class = std::max(whole.page_class, part.page_class);
    whole.movable = whole.movable && part.movable;
    whole.stale = whole.stale || part.stale;
    at = end_of(part);
    if (at >= whole.start + kHuge) return whole;
  }
  return {};
}

}  // namespace

bool Joins::hold(Areas areas, std::uint64_t start) {
  const auto after = std::ranges::upper_bound(areas, start, {}, [](auto& a) { return a.first; });
  return after != areas.begin() && std::prev(after)->second >= start + kHuge;
}

Joins::Watched Joins::follow(const Watched& before, const Watched& now) {
  Watched followed = now;
  if (before.node != now.node ||
      has_cooled(before.rate_q8, before.rate_dev_q8, now.rate_q8, now.rate_dev_q8))
    return followed;
  followed.rate_q8 = before.rate_q8;
  followed.rate_dev_q8 = before.rate_dev_q8;
  followed.intervals = std::min(before.intervals + 1, kSteady);
  return followed;
}

/// Of a region without any huge entry: all that lies in it.
void Joins::watch(const RegionView& region, const Terms& terms, ByStart& now) const {
  Watched seen{.node = region.node,
               .rate_q8 = region.rate_q8,
               .rate_dev_q8 = region.rate_dev_q8,
               .intervals = 1,
               .saved_ns_per_s = accesses_per_s(heat_of(region), kHuge) * terms.scale * kWalkNs};
  if (!pays(seen.saved_ns_per_s, terms)) return restart(region, now);
  for (std::uint64_t at = first_in(region); at + kHuge <= end_of(region); at += kHuge) {
    if (terms.areas && !hold(*terms.areas, at)) continue;
    const auto before = watched_.find(at);
    const bool is_known = before != watched_.end();
    if (!is_left_alone(at, terms.seq))
      now.emplace_hint(now.end(), at, is_known ? follow(before->second, seen) : seen);
    else if (is_known)
      now.emplace_hint(now.end(), *before)->second.intervals = 0;
  }
}

/// Of a region that says nothing new of the heat of its stretches: what is known of them.
void Joins::keep(const RegionView& region, std::uint64_t seq, ByStart& now) const {
  for (auto at = watched_.lower_bound(region.start);
       at != watched_.end() && at->first + kHuge <= end_of(region); ++at) {
    if (at->second.node != region.node) continue;
    Watched& kept = now.emplace_hint(now.end(), *at)->second;
    if (is_left_alone(at->first, seq))
      kept.intervals = 0;
    else if (!region.stale)
      kept.intervals = std::min(kept.intervals + 1, kSteady);
  }
}

/// What is known stays known: were it forgotten, and its neighbours joined meanwhile, the entries
/// of those would hide its heat for good.
void Joins::restart(const RegionView& region, ByStart& now) const {
  for (auto at = watched_.lower_bound(region.start);
       at != watched_.end() && at->first + kHuge <= end_of(region); ++at)
    now.emplace_hint(now.end(), *at)->second.intervals = 0;
}

std::vector<Join> Joins::choose(std::span<const RegionView> regions, const Terms& terms) {
  forget_old(terms.seq);
  const std::span<const TierView> fast = fastest(terms.tiers);
  ByStart now;
  const auto see = [&](const RegionView& region) {
    if (!is_whole(region, fast))
      restart(region, now);
    else if (!region.stale && region.leaf_shift == kSmallLeaf)
      watch(region, terms, now);
    else  // where some of it was joined, that hides the heat of the rest
      keep(region, terms.seq, now);
  };
  for (std::size_t i = 0; i < regions.size(); ++i) {
    see(regions[i]);
    if (const auto border = across(regions.subspan(i))) see(*border);
  }
  std::vector<Join> all;
  all.reserve(now.size());
  for (const auto& [start, seen] : now) all.push_back({start, seen.node, seen.saved_ns_per_s});
  std::ranges::stable_sort(all, std::greater{}, &Join::saved_ns_per_s);
  for (; all.size() > kMostWatched; all.pop_back()) now.erase(all.back().start);
  watched_ = std::move(now);

  std::map<NodeId, Bytes> free;
  for (const TierView& tier : fast) free[tier.node] = tier.free;
  std::vector<Join> chosen;
  for (const Join& join : all) {
    if (chosen.size() == kMostBytes / kHuge) break;
    if (watched_.at(join.start).intervals < kSteady || free[join.node] < kHuge) continue;
    free[join.node] -= kHuge;
    chosen.push_back(join);
  }
  return chosen;
}

bool Joins::is_left_alone(std::uint64_t start, std::uint64_t seq) const {
  const auto left = left_.find(start);
  return left != left_.end() && seq <= left->second.until;
}

void Joins::leave_alone(Left& left, std::uint64_t seq, std::uint64_t pause) {
  left.pause = pause;
  left.until = seq + pause;
}

void Joins::joined(std::uint64_t start, std::uint64_t seq) {
  watched_.erase(start);
  Left& left = left_[start];
  left.refusals = 0;
  leave_alone(left, seq, kLeftAlone << std::min(left.joins++, kMostDoublings));
}

void Joins::refused(std::uint64_t start, std::uint64_t seq) {
  if (const auto watched = watched_.find(start); watched != watched_.end())
    watched->second.intervals = 0;
  Left& left = left_[start];
  leave_alone(left, seq, std::uint64_t{kSteady} << std::min(left.refusals++, kMostDoublings));
}

/// As long again as it was left alone it is remembered; of too many, the half that ends first.
void Joins::forget_old(std::uint64_t seq) {
  std::erase_if(left_, [=](const auto& entry) {
    return seq > entry.second.until + entry.second.pause + kSteady;
  });
  if (left_.size() <= kMostLeft) return;
  std::vector<std::uint64_t> ends;
  ends.reserve(left_.size());
  for (const auto& [start, left] : left_) ends.push_back(left.until);
  const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2);
  std::ranges::nth_element(ends, middle);
  std::erase_if(left_, [end = *middle](const auto& entry) { return entry.second.until <= end; });
}

}  // namespace hmk::policy

// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hmk::sim {

RangeSet::RangeSet(const std::vector<Range>& ranges) {
  for (const Range& r : ranges) {
    if (r.start >= r.end) continue;
    if (!ranges_.empty() && ranges_.back().end == r.start)
      ranges_.back().end = r.end;
    else
      ranges_.push_back(r);
  }
  before_.reserve(ranges_.size());
  Bytes sum = 0;
  for (const Range& r : ranges_) {
    before_.push_back(sum);
    sum += r.end - r.start;
  }
}

bool RangeSet::contains(std::uint64_t address) const {
  const auto next = std::ranges::upper_bound(ranges_, address, {}, &Range::start);
  return next != ranges_.begin() && address < std::prev(next)->end;
}

Bytes RangeSet::bytes_below(std::uint64_t address) const {
  const auto next = std::ranges::upper_bound(ranges_, address, {}, &Range::start);
  if (next == ranges_.begin()) return 0;
  const auto at = std::prev(next);
  return before_[static_cast<std::size_t>(at - ranges_.begin())] + std::min(address, at->end) -
         at->start;
}

Bytes RangeSet::bytes_in(std::uint64_t start, std::uint64_t end) const {
  return bytes_below(end) - bytes_below(start);
}

Bytes World::bytes() const {
  Bytes sum = 0;
  for (const hmk_span& s : spans) sum += s.end - s.start;
  return sum;
}

namespace {

std::uint64_t mix(std::uint64_t z) {  // the finalizer of splitmix64 (Vigna)
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// Probability of at least one access in the window, as a bound for 64 random bits.
std::uint64_t below(double rate, double window_s) {
  const double p = -std::expm1(-rate * window_s);
  return p >= 1 ? ~0ull : static_cast<std::uint64_t>(std::ldexp(p, 64));
}

}  // namespace

std::uint64_t hash(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;
  return mix(mix(mix(seed + kStep + a) + kStep + (b << 32)) + kStep + c);
}

Accesses::Accesses(const World& world, std::uint64_t seed, std::uint32_t interval,
                   unsigned leaf_shift, double window_s)
    : world_(&world),
      seed_(seed),
      interval_(interval),
      leaf_shift_(leaf_shift),
      window_s_(window_s),
      hot_below_(below(world.rates.hot, window_s)),
      cold_below_(below(world.rates.cold, window_s)) {}

std::uint64_t Accesses::bound(std::uint64_t address) const {
  if (world_->zones.empty()) return world_->hot.contains(address) ? hot_below_ : cold_below_;
  return below(rate(address), window_s_);
}

double Accesses::rate(std::uint64_t address) const {
  if (world_->zones.empty())
    return world_->hot.contains(address) ? world_->rates.hot : world_->rates.cold;
  const auto next = std::ranges::upper_bound(world_->zones, address, {}, &Zone::start);
  if (next == world_->zones.begin() || address >= std::prev(next)->end) return 0;
  return std::prev(next)->rate;
}

double Accesses::first_access_s(std::uint64_t address) const {
  const double per_second = rate(address);
  if (per_second <= 0) return std::numeric_limits<double>::infinity();
  const std::uint64_t bits = hash(seed_, address >> leaf_shift_, interval_, 0) >> 11;
  return -std::log1p(-std::ldexp(static_cast<double>(bits), -53)) / per_second;
}

unsigned Accesses::count(std::uint64_t address, unsigned rounds) const {
  const std::uint64_t below = bound(address);
  unsigned n = 0;
  for (unsigned round = 1; round <= rounds; round++) n += hit(address, below, round);
  return n;
}

}  // namespace hmk::sim

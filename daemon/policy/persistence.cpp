// SPDX-License-Identifier: MIT
#include "policy/persistence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "policy/gain.hpp"

namespace hmk::policy {
namespace {

constexpr unsigned kMemory = 8;      // shares in a moving average
constexpr double kChanged = 0.5;     // of what is usually left after the longest lag
constexpr std::size_t kSettled = 2;  // a lag of 4 intervals is known

float rate_per_page(const RegionView& region) {
  return static_cast<float>(accesses_per_s(heat_of(region), kPage));
}

}  // namespace

/// In proportion to heat, and evenly over it: each sample stands for as many accesses.
Persistence::Cohort Persistence::draw(std::span<const RegionView> regions,
                                      std::span<const float> hits) {
  Cohort cohort;
  const double all = std::accumulate(hits.begin(), hits.end(), 0.0), step = all / kSamples;
  if (!(all > 0)) return cohort;
  cohort.reserve(kSamples);
  double end = 0, next = step / 2;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const double before = end;
    end += hits[i];
    for (; next < end && cohort.size() < kSamples; next += step) {
      const RegionView& region = regions[i];
      const double at = (next - before) / hits[i] * static_cast<double>(region.length - 1);
      cohort.push_back({region.start + static_cast<Bytes>(at), rate_per_page(region),
                        static_cast<float>(std::exp2(region.rate_dev_q8 / 256.0))});
    }
  }
  return cohort;
}

/// The mean of what each sample has kept of its rate; what one deviation of then explains has not
/// gone.
double Persistence::left_of(const Cohort& then, std::span<const RegionView> regions) {
  double left = 0;
  for (const Sample& sample : then) {
    const auto after = std::ranges::upper_bound(regions, sample.address, {}, &RegionView::start);
    if (after == regions.begin()) continue;
    const RegionView& region = *std::prev(after);
    if (sample.address - region.start >= region.length) continue;
    left += std::min(1.0, static_cast<double>(rate_per_page(region) * sample.spread / sample.rate));
  }
  return left / static_cast<double>(then.size());
}

void Persistence::saw(std::span<const RegionView> regions, std::span<const float> hits) {
  const auto unknown = std::ranges::find(shares_, false, &std::optional<double>::has_value);
  const auto known = static_cast<std::size_t>(unknown - shares_.begin());
  has_changed_ = false;
  for (std::size_t lag = 0; lag < kLags.size() && kLags[lag] <= cohorts_.size(); ++lag) {
    const Cohort& then = cohorts_[kLags[lag] - 1];
    if (then.empty()) continue;  // it did nothing then
    const double left = left_of(then, regions);
    if (lag == 0) has_changed_ = known > kSettled && left < kChanged * *shares_[known - 1];
    const double share = shares_[lag].value_or(1);
    counts_[lag] = std::min(counts_[lag] + 1, kMemory);
    shares_[lag] = share + (left - share) / counts_[lag];
  }
  cohorts_.push_front(draw(regions, hits));
  if (cohorts_.size() > kLags.back()) cohorts_.pop_back();
}

/// Straight between the lags that are known, and beyond them it falls as between the last two.
double Persistence::horizon(double most) const {
  double sum = 0, share = 1, ratio = 1;
  unsigned at = 0;
  for (std::size_t lag = 0; lag < kLags.size() && shares_[lag]; ++lag) {
    const double next = *shares_[lag], steps = kLags[lag] - at;
    sum += steps * (share + next) / 2 + (next - share) / 2;  // of at + 1 .. kLags[lag]
    ratio = share > 0 ? std::pow(std::min(next / share, 1.0), 1 / steps) : 0;
    share = next;
    at = kLags[lag];
  }
  const double rest = std::max(most - at, 0.0);
  sum += share * (ratio < 1 ? ratio * (1 - std::pow(ratio, rest)) / (1 - ratio) : rest);
  return std::min(sum, most);
}

}  // namespace hmk::policy

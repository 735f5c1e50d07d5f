// SPDX-License-Identifier: MIT
#include "policy/persistence.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "policy/gain.hpp"
#include "policy/rate_scale.hpp"

namespace hmk::policy {
namespace {

constexpr unsigned kMemory = 8;     // shares in a moving average
constexpr double kContrast = 0.05;  // of heat, at least beyond what is everywhere
constexpr unsigned kOld = 3;        // intervals: heat of then has settled
constexpr double kChanged = 0.5;    // of the old heat that usually stays
constexpr double kLeveled = 0.4;    // of what of it usually stands out
constexpr double kLasting = 0.25;   // of heat, at least, for the usual to say something
constexpr double kFaint = 0.5;      // of the usual rate of all: little was read, or little done

float rate_per_page(const Heat& heat) {
  return static_cast<float>(accesses_per_s(heat, kPage));
}

/// Places one step apart on a line that is gone along in pieces; the first is half a step in.
class Steps {
 public:
  explicit Steps(double all) : step_(all / Persistence::kSamples), next_(step_ / 2) {}
  /// Calls `found` with how far into this piece each place is, in 0 .. 1.
  void over(double piece, auto&& found) {
    const double before = end_;
    end_ += piece;
    for (; next_ < end_ && count_ < Persistence::kSamples; next_ += step_, ++count_)
      found((next_ - before) / piece);
  }

 private:
  double step_, next_, end_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

/// What an interval says of all memory.
struct Persistence::Seen {
  Cohort cohort;  // in proportion to heat, and evenly over it: each stands for as many accesses
  std::vector<float> any;    // rates of memory drawn evenly, rising
  std::vector<double> sums;  // of them up to each
  RateScale scale;

  Seen(std::span<const RegionView> regions, std::span<const float> hits, Bytes resident,
       std::span<const RegionView> parts);
  float rate_of(const RegionView& region) const;
  double mean_up_to(double most) const;
  double mean() const { return any.empty() ? 0 : sums.back() / static_cast<double>(any.size()); }
};

/// In one pass: there may be 50 MiB of regions.
Persistence::Seen::Seen(std::span<const RegionView> regions, std::span<const float> hits,
                        Bytes resident, std::span<const RegionView> parts) {
  for (const RegionView& part : parts) scale.learn(part.whi_q16, part.rate_q8);
  Steps by_heat(std::accumulate(hits.begin(), hits.end(), 0.0));
  Steps by_size(static_cast<double>(resident));
  std::vector<const RegionView*> drawn;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const RegionView& region = regions[i];
    if (parts.empty()) scale.learn(region.whi_q16, region.rate_q8);
    by_size.over(static_cast<double>(region.resident), [&](double) { drawn.push_back(&region); });
    by_heat.over(hits[i], [&](double at) {
      cohort.push_back(
          {region.start + static_cast<Bytes>(at * static_cast<double>(region.length - 1)),
           rate_per_page(heat_of(region)),
           static_cast<float>(std::exp2(region.rate_dev_q8 / 256.0))});
    });
  }
  for (std::size_t d = 0; d < drawn.size(); ++d)
    any.push_back(d > 0 && drawn[d] == drawn[d - 1] ? any.back() : rate_of(*drawn[d]));
  std::ranges::sort(any);
  std::inclusive_scan(any.begin(), any.end(), std::back_inserter(sums), std::plus<>(), 0.0);
}

/// Accesses a second to a page in the last interval alone.
float Persistence::Seen::rate_of(const RegionView& region) const {
  return rate_per_page(scale.last_heat_of(region));
}

/// The mean of the lesser of `most` and the rate of any memory.
double Persistence::Seen::mean_up_to(double most) const {
  if (any.empty()) return 0;
  const auto below = static_cast<std::size_t>(
      std::ranges::upper_bound(any, static_cast<float>(most)) - any.begin());
  const double sum = below == 0 ? 0 : sums[below - 1];
  return (sum + most * static_cast<double>(any.size() - below)) / static_cast<double>(any.size());
}

/// What the samples have kept of their heat, and beyond any other memory. What one deviation of
/// then explains has not gone.
Persistence::Left Persistence::left_of(const Cohort& then, std::span<const RegionView> regions,
                                       const Seen& now) {
  double kept = 0, any = 0;
  double unexplained = -1, anywhere = 0;  // that lie side by side have mostly the same
  const RegionView* region = nullptr;
  double rate = 0;
  for (const Sample& sample : then) {
    if (const double own = sample.rate / sample.spread; own != unexplained) {
      unexplained = own;
      anywhere = now.mean_up_to(unexplained) / unexplained;
    }
    any += anywhere;
    if (region == nullptr || sample.address - region->start >= region->length) {
      region = region_at(regions, sample.address);
      if (region == nullptr) continue;
      rate = now.rate_of(*region);
    }
    kept += std::min(1.0, rate / unexplained);
  }
  const auto all = static_cast<double>(then.size());
  if (all - any < kContrast * all) return {kept / all, 0};  // all memory is alike
  return {kept / all, std::max((kept - any) / (all - any), -1.0)};
}

bool Persistence::Old::has_fallen_with(const Old& last) const {
  if (lags == 0 || last.lags == 0) return false;
  const auto falls = [&](double Left::*what, double part) {
    const double before = usual.*what + last.usual.*what;
    return before >= kLasting * (lags + last.lags) && is.*what + last.is.*what < part * before;
  };
  return falls(&Left::stays, kChanged) || falls(&Left::stands_out, kLeveled);
}

/// `mean`: accesses a second to any page.
void Persistence::judge(const Old& old, double mean) {
  const bool is_faint = mean < kFaint * mean_;
  const bool counts = !is_faint || was_faint_;
  was_faint_ = is_faint;
  has_changed_ = counts && old.has_fallen_with(std::exchange(old_, old));
  if (counts) mean_ += (mean - mean_) / (mean_ > 0 ? kMemory : 1);
}

void Persistence::saw(std::span<const RegionView> regions, std::span<const float> hits,
                      Bytes resident, std::span<const RegionView> parts) {
  Seen now(regions, hits, resident, parts);
  Old old;
  for (std::size_t lag = 0; lag < kLags.size() && kLags[lag] <= cohorts_.size(); ++lag) {
    const Cohort& then = cohorts_[kLags[lag] - 1];
    if (then.empty()) continue;  // it did nothing then
    const Left left = left_of(then, regions, now);
    if (const auto usual = stays_.share(lag); usual && kLags[lag] >= kOld)
      old.add(left, {*usual, *stands_out_.share(lag)});
    stays_.add(lag, left.stays);
    stands_out_.add(lag, left.stands_out);
  }
  judge(old, now.mean());
  scale_ = now.scale;
  cohorts_.push_front(std::move(now.cohort));
  if (cohorts_.size() > kLags.back()) cohorts_.pop_back();
}

void Persistence::Curve::add(std::size_t lag, double share) {
  counts_[lag] = std::min(counts_[lag] + 1, kMemory);
  const double before = shares_[lag].value_or(counts_[lag] > 1 ? 1 : share);
  shares_[lag] = before + (share - before) / counts_[lag];
}

std::size_t Persistence::Curve::known() const {
  const auto unknown = std::ranges::find(shares_, false, &std::optional<double>::has_value);
  return static_cast<std::size_t>(unknown - shares_.begin());
}

/// Straight between the lags that are known; beyond them it falls as between the last two, or as it
/// has done since the first when that is faster. What the first has less than all is chance as
/// well.
double Persistence::Curve::horizon(double most) const {
  double sum = 0, share = 1, ratio = 1, least = 1;
  unsigned at = 0;
  for (std::size_t lag = 0; lag < known(); ++lag) {
    const double next = *shares_[lag], first = *shares_[0], steps = kLags[lag] - at;
    sum += steps * (share + next) / 2 + (next - share) / 2;  // of at + 1 .. kLags[lag]
    ratio = share > 0 && next > 0 ? std::pow(next / share, 1 / steps) : 0;
    if (lag > 0 && ratio > 0 && first > 0)
      ratio = std::min(ratio, std::pow(next / first, 1.0 / (kLags[lag] - kLags[0])));
    share = next;
    least = std::min(least, share);
    at = kLags[lag];
  }
  const double rest = std::max(most - at, 0.0);
  const double left = std::max(least, 0.0);
  sum += left * (ratio < 1 ? ratio * (1 - std::pow(ratio, rest)) / (1 - ratio) : rest);
  return std::clamp(sum, 0.0, most);
}

}  // namespace hmk::policy

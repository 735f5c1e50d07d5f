// SPDX-License-Identifier: MIT
#include "policy/gain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hmk::policy {
namespace {

constexpr double kMostSeen = 1023.0 / 1024;  // of the windows of an interval
constexpr double kMiB = 1 << 20;

double pages(Bytes bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kPage);
}

double bytes_per_ns(const TierView& tier) {
  return tier.bandwidth_mib == 0 ? std::numeric_limits<double>::infinity()
                                 : tier.bandwidth_mib * kMiB / 1e9;
}

}  // namespace

GainModel::GainModel(std::span<const TierView> tiers, const PolicyParams& params)
    : tiers_(tiers.begin(), tiers.end()),
      num_scans_(std::max(params.num_scans, 1u)),
      intervals_(2 / params.alpha - 1),
      horizon_(params.horizon),
      knows_(!tiers.empty() &&
             std::ranges::all_of(tiers, [](const TierView& tier) { return tier.latency_ns > 0; })) {
}

/// With one look of each kind added, so that it is not 0 where every look said the same.
HotnessQ16 GainModel::bound_q16(HotnessQ16 whi_q16, std::uint32_t samples,
                                double deviations) const {
  const double looks = std::max(samples, 1u) * num_scans_ * intervals_;
  const double seen = static_cast<double>(whi_q16) / kOneQ16 / num_scans_;
  const double likely = (seen * looks + 1) / (looks + 2);
  const double bound = seen + deviations * std::sqrt(likely * (1 - likely) / looks);
  return static_cast<HotnessQ16>(std::clamp(bound, 0.0, 1.0) * num_scans_ * kOneQ16);
}

HotnessQ16 GainModel::at_least_q16(HotnessQ16 whi_q16, std::uint32_t samples) const {
  return knows_ ? bound_q16(whi_q16, samples, -kDeviations) : whi_q16;
}

HotnessQ16 GainModel::at_most_q16(HotnessQ16 whi_q16, std::uint32_t samples) const {
  return knows_ ? bound_q16(whi_q16, samples, kDeviations) : whi_q16;
}

double GainModel::saved_ns(HotnessQ16 whi_q16, Bytes bytes, std::uint32_t from,
                           std::uint32_t to) const {
  const double seen = static_cast<double>(whi_q16) / kOneQ16 / num_scans_;
  const double visits = -num_scans_ * std::log1p(-std::min(seen, kMostSeen));
  const double difference =
      knows_ ? static_cast<double>(tiers_[from].latency_ns) - tiers_[to].latency_ns
             : static_cast<double>(from) - to;
  return visits * kMissesPerVisit * pages(bytes) * difference * horizon_;
}

double GainModel::cost_ns(Bytes bytes, std::uint32_t from, std::uint32_t to) const {
  if (!knows_) return 0;
  const double rate = std::min(bytes_per_ns(tiers_[from]), bytes_per_ns(tiers_[to]));
  return static_cast<double>(bytes) / rate + pages(bytes) * kNsPerPage;
}

}  // namespace hmk::policy

// SPDX-License-Identifier: MIT
#include "policy/gain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hmk::policy {
namespace {

constexpr double kOneQ8 = 256;
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
      interval_s_(params.interval_s),
      horizon_(params.horizon),
      knows_(!tiers.empty() && tiers.front().latency_ns > 0 &&
             std::ranges::is_sorted(tiers, {}, &TierView::latency_ns)) {}

bool GainModel::is_surely_hotter(const Heat& hot, const Heat& cold) const {
  if (!knows_) return hot.whi_q16 > cold.whi_q16;
  const double difference = hot.rate_q8 - cold.rate_q8;
  return difference > kDeviations * std::hypot(hot.rate_dev_q8, cold.rate_dev_q8);
}

double GainModel::latency_ns(std::uint32_t tier, const Heat& heat) const {
  const TierView& view = tiers_[tier];
  if (!heat.written || view.write_latency_ns == 0) return view.latency_ns;
  return (static_cast<double>(view.latency_ns) + view.write_latency_ns) / 2;
}

double GainModel::saved_ns(const Heat& heat, Bytes bytes, std::uint32_t from,
                           std::uint32_t to) const {
  if (heat.whi_q16 == 0) return 0;  // never seen accessed
  const double leaves =
      static_cast<double>(bytes) / static_cast<double>(Bytes{1} << heat.leaf_shift);
  const double visits = std::exp2(heat.rate_q8 / kOneQ8) * interval_s_ * leaves;
  const double difference =
      knows_ ? latency_ns(from, heat) - latency_ns(to, heat) : static_cast<double>(from) - to;
  return visits * kMissesPerVisit * difference * horizon_;
}

Bytes auto_limit(std::span<const TierView> tiers, double budget_ns) {
  double rate = std::numeric_limits<double>::infinity();
  for (const TierView& tier : tiers) rate = std::min(rate, bytes_per_ns(tier));
  const double ns_per_byte = 1 / rate + GainModel::kNsPerPage / static_cast<double>(kPage);
  return static_cast<Bytes>(budget_ns / (2 * ns_per_byte)) & ~(kPage - 1);
}

double GainModel::cost_ns(Bytes bytes, std::uint32_t from, std::uint32_t to) const {
  if (!knows_) return 0;
  const double rate = std::min(bytes_per_ns(tiers_[from]), bytes_per_ns(tiers_[to]));
  return static_cast<double>(bytes) / rate + pages(bytes) * kNsPerPage;
}

}  // namespace hmk::policy

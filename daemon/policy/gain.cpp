// SPDX-License-Identifier: MIT
#include "policy/gain.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace hmk::policy {
namespace {

constexpr double kMiB = 1 << 20;

double pages(Bytes bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kPage);
}

double bytes_per_ns(const TierView& tier) {
  return tier.bandwidth_mib == 0 ? std::numeric_limits<double>::infinity()
                                 : tier.bandwidth_mib * kMiB / 1e9;
}

/// 2^(n / 256)
const std::array<double, 256> kRoots = [] {
  std::array<double, 256> roots{};
  for (std::size_t n = 0; n < roots.size(); ++n) roots[n] = std::exp2(static_cast<double>(n) / 256);
  return roots;
}();

}  // namespace

double accesses_per_s(const Heat& heat, Bytes bytes) {
  if (heat.whi_q16 == 0) return 0;
  // Of a byte: the exponent of a double, less the leaf's.
  const auto exponent = static_cast<std::uint64_t>(1023 + (heat.rate_q8 >> 8) - heat.leaf_shift);
  return kRoots[heat.rate_q8 & 0xff] * std::bit_cast<double>(exponent << 52) *
         static_cast<double>(bytes);
}

void MoveCosts::add(NodeId from, NodeId to, bool is_huge, std::uint64_t pages, std::uint64_t ns) {
  Sum& sum = sums_[{{from, to}, is_huge}];
  const double forgotten = std::min(static_cast<double>(pages) / kMemoryPages, 1.0);
  sum.pages += static_cast<double>(pages) - forgotten * sum.pages;
  sum.ns += static_cast<double>(ns) - forgotten * sum.ns;
}

double MoveCosts::ns_per_page(NodeId from, NodeId to, bool is_huge, double assumed_ns) const {
  const auto sum = sums_.find({{from, to}, is_huge});
  if (sum == sums_.end()) return assumed_ns;
  return (assumed_ns * kPriorPages + sum->second.ns) / (kPriorPages + sum->second.pages);
}

GainModel::GainModel(std::span<const TierView> tiers, const PolicyParams& params,
                     const Measured& measured)
    : tiers_(tiers.begin(), tiers.end()),
      scale_(measured.scale),
      horizon_s_(params.interval_s * std::min<double>(params.horizon, measured.horizon)),
      exchange_s_(std::min(horizon_s_, params.interval_s * measured.exchange_horizon)),
      deviations_(measured.deviations),
      knows_(!tiers.empty() && tiers.front().latency_ns > 0 &&
             std::ranges::is_sorted(tiers, {}, &TierView::latency_ns)) {
  const MoveCosts none;
  const MoveCosts& costs = measured.costs == nullptr ? none : *measured.costs;
  for (std::uint32_t from = 0; from < tiers_.size(); ++from)
    for (std::uint32_t to = 0; to < tiers_.size(); ++to)
      for (const bool is_huge : {false, true})
        ns_per_page_.push_back(costs.ns_per_page(tiers_[from].node, tiers_[to].node, is_huge,
                                                 assumed_ns_per_page(from, to, is_huge)));
}

double GainModel::assumed_ns_per_page(std::uint32_t from, std::uint32_t to, bool is_huge) const {
  const auto& calibrated = is_huge ? tiers_[from].huge_ns : tiers_[from].page_ns;
  if (to < calibrated.size() && calibrated[to] > 0) return calibrated[to];
  const double rate = std::min(bytes_per_ns(tiers_[from]), bytes_per_ns(tiers_[to]));
  return static_cast<double>(kPage) / rate + kNsPerPage;
}

std::optional<std::uint32_t> GainModel::tier_of(NodeId node) const {
  const auto tier = std::ranges::find(tiers_, node, &TierView::node);
  if (tier == tiers_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(tier - tiers_.begin());
}

std::uint32_t GainModel::next(std::uint32_t tier) const {
  for (std::uint32_t after = tier + 1; after < tiers_.size(); ++after)
    if (!tiers_[after].joins) return after;
  return tier;
}

bool GainModel::is_surely_hotter(const Heat& hot, const Heat& cold) const {
  const double difference = hot.rate_q8 - cold.rate_q8;
  return difference > deviations_ * std::hypot(hot.rate_dev_q8, cold.rate_dev_q8);
}

double GainModel::latency_ns(std::uint32_t tier, bool written) const {
  const TierView& view = tiers_[tier];
  if (!written || view.write_latency_ns == 0) return view.latency_ns;
  return (static_cast<double>(view.latency_ns) + view.write_latency_ns) / 2;
}

double GainModel::saved_ns_per_s(const Heat& heat, Bytes bytes, std::uint32_t from,
                                 std::uint32_t to) const {
  const double accesses = accesses_per_s(heat, bytes);
  if (!knows_) return accesses * kMissesPerVisit * scale_ * (static_cast<double>(from) - to);
  return stall_ns_per_s(accesses, heat.written, from) - stall_ns_per_s(accesses, heat.written, to);
}

double GainModel::most_ns_per_page() const {
  return ns_per_page_.empty() ? kNsPerPage : std::ranges::max(ns_per_page_);
}

Bytes auto_limit(std::span<const TierView> tiers, double budget_ns, const Measured& measured) {
  const double ns_per_page = GainModel(tiers, {}, measured).most_ns_per_page();
  const double ns_per_byte = ns_per_page / static_cast<double>(kPage);
  return static_cast<Bytes>(budget_ns / (2 * ns_per_byte)) & ~(kPage - 1);
}

double GainModel::cost_ns(Bytes bytes, std::uint32_t from, std::uint32_t to,
                          std::uint8_t leaf_shift) const {
  if (!knows_) return 0;
  const std::size_t pair = std::size_t{from} * tiers_.size() + to;
  return pages(bytes) * ns_per_page_[2 * pair + (leaf_shift > 12)];
}

}  // namespace hmk::policy

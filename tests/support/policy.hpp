// SPDX-License-Identifier: MIT
//
// Tiers and regions for policy tests, in MiB and in whole hotness.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "policy/plan.hpp"
#include "support/random.hpp"
#include "support/sizes.hpp"

namespace hmk::test {

using policy::Bytes;
using policy::HotnessQ16;
using policy::Move;
using policy::NodeId;
using policy::Plan;
using policy::PolicyParams;
using policy::Reason;
using policy::RegionView;
using policy::TierView;

inline HotnessQ16 q16(double hotness) {
  return static_cast<HotnessQ16>(hotness * 65536);
}

/// The rate that WHI stands for, where it was counted in `scans` equal windows of an interval of a
/// second by so many samples, and smoothed by alpha 1/2. One look of each kind is added: where all
/// said the same there is some doubt, too.
inline void set_rate(RegionView& r, unsigned samples, std::uint32_t scans = 3) {
  const double looks = 3.0 * samples * scans;
  const double seen = std::min(static_cast<double>(r.whi_q16) / policy::kOneQ16 / scans, 1.0);
  const double likely = (seen * looks + 1) / (looks + 2), none = -std::log1p(-likely);
  const double dev = std::sqrt(likely * (1 - likely) / looks) / ((1 - likely) * none * std::log(2));
  r.rate_q8 = static_cast<std::int16_t>(std::lround(256 * std::log2(scans * none)));
  r.rate_dev_q8 = static_cast<std::uint16_t>(std::lround(256 * dev));
}

/// The same without a doubt.
inline void set_sure_rate(RegionView& r) {
  set_rate(r, 1);
  r.rate_dev_q8 = 0;
}

/// A fully resident region of `mib` MiB at address `at_mib` MiB, whose rate is known for sure.
inline RegionView region(std::uint64_t at_mib, Bytes mib, NodeId node, double hotness) {
  RegionView r;
  r.start = at_mib * kMiB;
  r.length = r.resident = mib * kMiB;
  r.node = node;
  r.hi_q16 = r.whi_q16 = q16(hotness);
  r.generation = 1;
  set_sure_rate(r);
  return r;
}

inline TierView tier(NodeId node, Bytes free_mib, Bytes reserve_mib = 0) {
  return {
      .node = node, .total = 1024 * kMiB, .free = free_mib * kMiB, .reserve = reserve_mib * kMiB};
}

/// Nodes 0 and 1, 250 ns apart.
inline std::vector<TierView> two_tiers(Bytes free_mib = 0) {
  std::vector<TierView> tiers = {tier(0, free_mib), tier(1, free_mib)};
  tiers[0].latency_ns = 100;
  tiers[1].latency_ns = 350;
  return tiers;
}

/// Two MiB whose pages are surely accessed 2^`log_rate` times a second.
inline RegionView warm(std::uint64_t at_mib, NodeId node, int log_rate) {
  RegionView r = region(at_mib, 2, node, 2);
  r.rate_q8 = static_cast<std::int16_t>(256 * log_rate);
  r.rate_dev_q8 = 0;
  return r;
}

/// Of a region of `mib` MiB the pages of one class and node, so many MiB.
inline RegionView class_of(std::uint64_t at_mib, Bytes mib, NodeId node, unsigned page_class,
                           Bytes resident_mib) {
  RegionView r = region(at_mib, mib, node, (page_class - 1) / 2.0);
  r.page_class = static_cast<std::uint8_t>(page_class);
  r.resident = resident_mib * kMiB;
  return r;
}

inline PolicyParams limit(Bytes mib) {
  PolicyParams params;
  params.promote_limit = mib * kMiB;
  return params;
}

}  // namespace hmk::test

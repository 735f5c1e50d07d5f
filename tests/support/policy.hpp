// SPDX-License-Identifier: MIT
//
// Tiers and regions for policy tests, in MiB and in whole hotness.
#pragma once

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

/// A fully resident region of `mib` MiB at address `at_mib` MiB.
inline RegionView region(std::uint64_t at_mib, Bytes mib, NodeId node, double hotness) {
  RegionView r;
  r.start = at_mib * kMiB;
  r.length = r.resident = mib * kMiB;
  r.node = node;
  r.hi_q16 = r.whi_q16 = q16(hotness);
  r.generation = 1;
  return r;
}

inline TierView tier(NodeId node, Bytes free_mib, Bytes reserve_mib = 0) {
  return {
      .node = node, .total = 1024 * kMiB, .free = free_mib * kMiB, .reserve = reserve_mib * kMiB};
}

inline PolicyParams limit(Bytes mib) {
  PolicyParams params;
  params.promote_limit = mib * kMiB;
  return params;
}

}  // namespace hmk::test

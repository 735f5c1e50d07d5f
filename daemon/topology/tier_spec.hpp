// SPDX-License-Identifier: MIT
//
// A tier as the configuration names it.
#pragma once

#include <cstdint>
#include <vector>

namespace hmk {

struct TierSpec {
  std::vector<int> nodes;              ///< at least one
  std::uint32_t latency_ns = 0;        ///< of a read; 0: as the machine says
  std::uint32_t write_latency_ns = 0;  ///< 0: as the machine says, or as a read's
  std::uint32_t bandwidth_mib = 0;     ///< MiB/s, of all nodes together; 0: as the machine says

  bool operator==(const TierSpec&) const = default;
};

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// A tier as a bar: # hot memory of the process, = its other memory, - of others, . free.
#pragma once

#include <cstdint>
#include <string>

namespace hmkctl {

struct TierUse {
  std::uint64_t hot = 0;       ///< bytes of the process that are hot
  std::uint64_t resident = 0;  ///< bytes of the process, the hot ones among them
  std::uint64_t free = 0, total = 0;
};

/// `width` characters in brackets; what is there takes one at least, as long as there are enough.
std::string tier_bar(const TierUse& use, std::size_t width);

}  // namespace hmkctl

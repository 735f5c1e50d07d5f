// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace hmk {

/// [start, end) of addresses.
using Spans = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// What a fast tier of some share of the memory serves of all accesses when it holds what is
// hottest. Worlds whose zones say the rates.
#pragma once

#include <span>

#include "profiler.hpp"

namespace hmk::sim {

/// By what is published: of what is published alike a part, as chance would have it; what is not
/// published is coldest.
double served(const World& world, std::span<const Estimate> published, double share);

/// By the truth: the most that any placement serves.
double most_served(const World& world, double share);

}  // namespace hmk::sim

// SPDX-License-Identifier: MIT
//
// The least cost of a small forecast by trying every way of every region.
#pragma once

#include <cstdint>
#include <span>

#include "policy/horizon.hpp"

namespace hmk::plan {

/// Of a region that lies in these tiers, by window.
double cost_of(const policy::Forecast& forecast, const policy::Forecast::Group& group,
               std::span<const std::uint8_t> tier);

/// Of groups with a count of 1. What costs more than the best so far, whatever the regions that are
/// left do, is not followed. Infinite where nothing fits.
double least_of_everything(const policy::Forecast& forecast);

}  // namespace hmk::plan

// SPDX-License-Identifier: MIT
//
// /proc/PID/maps as a recording keeps it.
#pragma once

#include <string_view>
#include <vector>

#include "record/recording.hpp"

namespace hmk {

/// Neighbours of one name are joined; what makes no sense is left out.
std::vector<RecordedMapping> parse_mappings(std::string_view maps);

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// Config -> text that read_config_text() reads back to the same values.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/read.hpp"

namespace hmk {

/// A line for each of these keys; behind it where its value comes from, if not the default.
std::string to_yaml(const Config& config, const Origins& origins,
                    std::span<const std::string_view> names);

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// How far moves have come: what of the plan is done, what is hot in slow tiers, and the time until
// memory rests, where that can be told.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace hmkctl {

struct Progress {
  std::string text;
  std::optional<std::chrono::nanoseconds> rest;  ///< 0: it rests
};

/// `target`: a row of `status`. At the pace of its last interval, which takes `interval`.
Progress progress_of(const nlohmann::json& target, std::chrono::nanoseconds interval);

}  // namespace hmkctl

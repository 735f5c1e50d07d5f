// SPDX-License-Identifier: MIT
#include "config/config.hpp"

#include <algorithm>

namespace hmk {

std::uint64_t reserve_for(const Config& config, std::uint64_t tier_bytes) {
  return config.reserve.value_or(std::min(config.promote_limit, tier_bytes / 20));
}

std::string to_string(Mode mode) {
  if (mode == Mode::dry_run) return "dry-run";
  return mode == Mode::manage ? "manage" : "track-only";
}

}  // namespace hmk

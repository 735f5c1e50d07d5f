// SPDX-License-Identifier: MIT
#include "config/config.hpp"

#include <algorithm>

namespace hmk {

std::uint64_t reserve_for(const Config& config, std::uint64_t tier_bytes) {
  return config.reserve.value_or(std::min(config.promote_limit, tier_bytes / 128));
}

std::uint64_t page_ns(const Config& config) {
  return config.move_cost ? static_cast<std::uint64_t>(config.move_cost->count()) : 0;
}

double horizon_for(const Config& config, std::uint64_t intervals_known) {
  if (config.horizon != 0) return config.horizon;
  return static_cast<double>(std::max<std::uint64_t>(intervals_known, Config{}.horizon));
}

std::string to_string(Mode mode) {
  if (mode == Mode::dry_run) return "dry-run";
  return mode == Mode::manage ? "manage" : "track-only";
}

}  // namespace hmk

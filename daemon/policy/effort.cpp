// SPDX-License-Identifier: MIT
#include "policy/effort.hpp"

#include <algorithm>

namespace hmk::policy {

bool Effort::saw(const Seen& seen) {
  const unsigned before = halvings_;
  if (seen.has_changed || seen.earns > 2 * seen.takes) {
    halvings_ = losses_ = 0;
    slowest_ = kSlowest;
  } else if (seen.is_stretched && halvings_ > 0) {
    slowest_ = --halvings_;
    losses_ = 0;
  } else if (seen.earns > seen.takes) {
    losses_ = 0;
  } else if (++losses_ >= kPatience && halvings_ < slowest_) {
    ++halvings_;
    losses_ = 0;
  }
  return halvings_ != before;
}

std::uint32_t Effort::budget_bp(std::uint32_t whole) const {
  return std::max(whole >> halvings_, 1u);
}

}  // namespace hmk::policy

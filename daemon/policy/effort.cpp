// SPDX-License-Identifier: MIT
#include "policy/effort.hpp"

#include <algorithm>

namespace hmk::policy {
namespace {

constexpr unsigned kMostHalvings = 16;  // of 50 % far below the probe

}  // namespace

bool Effort::saw(const Seen& seen) {
  const unsigned before = halvings_;
  if (seen.has_changed) {
    halvings_ = losses_ = 0;
  } else if (seen.earns > seen.takes) {
    losses_ = 0;
    if (seen.earns > 2 * seen.takes && halvings_ > 0) --halvings_;
  } else if (++losses_ >= kPatience && halvings_ < kMostHalvings) {
    ++halvings_;
    losses_ = 0;
  }
  return halvings_ != before;
}

std::uint32_t Effort::budget_bp(std::uint32_t whole) const {
  return std::max(whole >> halvings_, std::min(whole, kProbeBp));
}

}  // namespace hmk::policy

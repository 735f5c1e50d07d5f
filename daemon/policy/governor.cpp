// SPDX-License-Identifier: MIT
#include "policy/governor.hpp"

#include <algorithm>

namespace hmk::policy {

bool Governor::saw(const Seen& seen) {
  const unsigned before = halvings_;
  if (seen.has_changed) {
    halvings_ = losses_ = gains_ = 0;
  } else if (seen.net > 0) {
    losses_ = 0;
    if (++gains_ >= kProof && halvings_ > 0) --halvings_, gains_ = 0;
  } else if (seen.has_moved && seen.net < 0) {
    gains_ = 0;
    if (!seen.is_rising && ++losses_ >= kPatience && halvings_ < kSlowest) ++halvings_, losses_ = 0;
  }
  return halvings_ != before;
}

Bytes Governor::limit(Bytes whole) const {
  return std::min(whole, std::max(whole >> halvings_, kProbe));
}

}  // namespace hmk::policy

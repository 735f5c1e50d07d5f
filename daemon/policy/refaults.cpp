// SPDX-License-Identifier: MIT
#include "policy/refaults.hpp"

#include <algorithm>
#include <cmath>

namespace hmk::policy {

void RefaultLimit::saw(const Seen& seen, double allowed) {
  if (seen.seconds <= 0) return;
  const double now = static_cast<double>(seen.refaults) / seen.seconds;
  per_s_ += (now - per_s_) * (1 - std::exp(-seen.seconds / kMeanOf_s));
  const bool was_resting = is_resting();
  rest_s_ = std::max(0., rest_s_ - seen.seconds);
  if (per_s_ > allowed) {
    if (was_resting) return;
    times_ = 1;
    rest_s_ = next_rest_s_;
    next_rest_s_ = std::min(2 * next_rest_s_, kLongestRest_s);
  } else if (seen.sent > 0) {
    times_ = std::min<std::uint64_t>(times_ * kGrowth, 1u << 20);
    if (times_ > kProbePart) next_rest_s_ = kFirstRest_s;  // all that is cold was sent
  }
}

Bytes RefaultLimit::most(Bytes cold) const {
  return is_resting() ? 0 : std::max(kProbe, cold / kProbePart) * times_;
}

}  // namespace hmk::policy

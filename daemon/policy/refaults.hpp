// SPDX-License-Identifier: MIT
//
// How much may be paged out in an interval, by how much of it comes back: a probe first, four times
// as much each time nothing objects; too many refaults stop it for a while, twice as long each
// time.
//
//   limit.saw({.seconds = 10, .refaults = 3, .sent = bytes}, 0.1);
//   const Bytes most = limit.most(cold.bytes());
#pragma once

#include <cstdint>

#include "policy/types.hpp"

namespace hmk::policy {

class RefaultLimit {
 public:
  static constexpr Bytes kProbe = Bytes{8} << 20;
  static constexpr unsigned kProbePart = 32;  // or so much of what is cold, if that is more
  static constexpr unsigned kGrowth = 4;
  static constexpr double kMeanOf_s = 60;
  static constexpr double kFirstRest_s = 60, kLongestRest_s = 86'400;

  struct Seen {
    double seconds = 0;          // since the last one
    std::uint64_t refaults = 0;  // pages that came back within them
    Bytes sent = 0;              // paged out before them
  };
  /// `allowed`: refaults a second.
  void saw(const Seen& seen, double allowed);

  /// 0 while it rests.
  Bytes most(Bytes cold) const;
  double refaults_per_s() const { return per_s_; }  // a moving average
  bool is_resting() const { return rest_s_ > 0; }

 private:
  double per_s_ = 0, rest_s_ = 0, next_rest_s_ = kFirstRest_s;
  std::uint64_t times_ = 1;  // a probe
};

}  // namespace hmk::policy

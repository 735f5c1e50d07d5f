// SPDX-License-Identifier: MIT
//
// What the first intervals of a session leave open. Where windows climb, half of the regions begin
// with shorter windows than the longest, so that one interval tells the decade (kmod/core/judge.c).
// Of what is accessed in none of its windows it is only known that it is no hotter than they could
// miss, and it has that hotness: cold memory looks warm until it has had longer ones.
//
//   if (FirstLooks(snapshot.interval).leave_open(record)) ...   it may be cold
#pragma once

#include <linux/hmk.h>

#include "policy/types.hpp"

namespace hmk {

class FirstLooks {
 public:
  FirstLooks() = default;
  explicit FirstLooks(const hmk_interval& interval);
  /// Whether its hotness may be a bound and no more.
  bool leave_open(const hmk_record& record) const;

 private:
  // The most that a bound can be, of what was read in this interval and of what was not.
  policy::HotnessQ16 read_q16_ = 0, stale_q16_ = 0;
};

}  // namespace hmk

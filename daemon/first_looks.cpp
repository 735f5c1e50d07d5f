// SPDX-License-Identifier: MIT
#include "first_looks.hpp"

#include <hmk/core/quota.h>

#include <algorithm>
#include <cstdint>

namespace hmk {
namespace {

policy::HotnessQ16 to_q16(std::uint64_t windows) {
  return static_cast<policy::HotnessQ16>(windows * policy::kOneQ16);
}

}  // namespace

/// A region has num_scans neighbours of the windows. It begins at most `beyond` windows after the
/// longest, and where it is accessed in none of its windows it next has those that end with the
/// first it had.
FirstLooks::FirstLooks(const hmk_interval& interval) {
  const std::uint32_t beyond =
      interval.hotness_max - std::min(interval.hotness_max, interval.num_scans);
  const std::uint64_t step = std::max(interval.num_scans, 2u) - 1, seq = interval.seq;
  const std::uint64_t nr = 1 + (beyond + step - 1) / step;  // looks, until it has the longest
  if (seq < nr) read_q16_ = to_q16(beyond - (seq - 1) * step);
  // Where not all can be read in one interval, regions take turns.
  if (seq <= nr * HMK_QUOTA_TURNS) stale_q16_ = to_q16(beyond);
}

/// Of a bound all samples say the same, a whole number of windows.
bool FirstLooks::leave_open(const hmk_record& record) const {
  const bool is_stale = (record.flags & HMK_RECORD_STALE) != 0;
  const policy::HotnessQ16 hotness = record.hi_q16;
  return hotness > 0 && hotness % policy::kOneQ16 == 0 &&
         hotness <= (is_stale ? stale_q16_ : read_q16_);
}

}  // namespace hmk

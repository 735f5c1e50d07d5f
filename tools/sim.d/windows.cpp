// SPDX-License-Identifier: MIT
#include "windows.hpp"

#include <algorithm>
#include <cmath>

namespace hmk::sim {

namespace {

/// All windows of an interval end 1/16 before it does.
double span_ns(const Means& means) {
  return means.interval_s * 1e9 * 15 / 16;
}

}  // namespace

Windows::Windows(const Means& means) : means_(means) {
  const auto span = static_cast<__u64>(span_ns(means));
  if (means.equal_windows)
    hmk_ladder_make_equal(&ladder_, span / means.num_scans, means.num_scans);
  else
    hmk_ladder_make(&ladder_, span, means.num_scans);
}

void Windows::begin() {
  visits_ = flushes_ = 0;
  busy_ns_ = 0;
  all_of_it_ = false;
  std::ranges::fill(room_, 0);
}

std::uint32_t Windows::group(unsigned rung) const {
  return hmk_ladder_group(&ladder_, rung, 0, static_cast<__u32>(std::lround(means_.scan_cost_ns)));
}

bool Windows::take(unsigned rung) {
  if (equal()) return true;
  if (!room_[rung]) {
    const double longest = static_cast<double>(ladder_.window_ns[rung]);
    // The longest windows take all of the interval: one group of them, beside the others.
    if (!rung && all_of_it_) return false;
    if (rung && busy_ns_ + longest > span_ns(means_)) return false;
    if (rung)
      busy_ns_ += longest;
    else
      all_of_it_ = true;
    room_[rung] = group(rung);
    flushes_++;
  }
  room_[rung]--;
  return true;
}

unsigned Windows::seen(const Accesses& accesses, std::uint64_t address, unsigned rung) const {
  const double first_ns = accesses.first_access_s(address) * 1e9;
  unsigned saw = means_.num_scans;
  while (saw && static_cast<double>(ladder_.window_ns[rung + saw - 1]) <= first_ns) saw--;
  return saw;
}

__u8 Windows::count(const Accesses& accesses, std::uint64_t address, unsigned rung) {
  if (equal()) {
    visits_ += means_.num_scans + 1;
    return static_cast<__u8>(accesses.count(address, means_.num_scans));
  }
  const unsigned saw = seen(accesses, address, rung);
  // Cleared once, then read from the shortest window on until it is found accessed.
  visits_ += 1 + std::min(means_.num_scans, means_.num_scans - saw + 1);
  return static_cast<__u8>(rung + saw);
}

double Windows::cost_ns() const {
  return static_cast<double>(visits_) * means_.scan_cost_ns +
         static_cast<double>(flushes_) * means_.flush_cost_ns;
}

}  // namespace hmk::sim

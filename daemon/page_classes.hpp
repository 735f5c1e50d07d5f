// SPDX-License-Identifier: MIT
//
// Where the module reads page by page it tells the classes of a region apart: a record for each
// class and node. The planner works on these; all others on one record for each region.
//
//   Snapshot snapshot = read();
//   const std::vector<hmk_record> parts = fold(snapshot);
//   plan(parts.empty() ? snapshot.records : parts);
#pragma once

#include <linux/hmk.h>

#include <vector>

#include "device/device.hpp"

namespace hmk {

/// Class of its pages + 1; 0: it is about all pages of its region.
inline std::uint8_t page_class(const hmk_record& record) {
  return (record.flags & HMK_RECORD_CLASS_MASK) >> HMK_RECORD_CLASS_SHIFT & 0x3f;
}

/// Leaves one record for each region: pages are summed, hotness is their mean, the rate that of all
/// their accesses. Returns the records as they were, or nothing when none was of a class.
std::vector<hmk_record> fold(Snapshot& snapshot);

}  // namespace hmk

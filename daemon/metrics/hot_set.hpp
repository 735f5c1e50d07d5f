// SPDX-License-Identifier: MIT
//
// What is called hot where memory is shown: the hottest memory that together gets nine tenths of
// the accesses that were seen. The policy needs no such line; it ranks.
//
//   const HotSet hot(snapshot.records);
//   hot.pages(record)              ->  its resident pages, or 0
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "device/device.hpp"

namespace hmk {

class HotSet {
 public:
  static constexpr double kShare = 0.9;  ///< of all accesses, at least

  explicit HotSet(std::span<const hmk_record> records);
  /// Resident pages of a record that is hot, else 0.
  std::uint32_t pages(const hmk_record& record) const;
  std::map<int, std::uint64_t> bytes_by_node(std::span<const hmk_record> records) const;

 private:
  double rate_;  ///< of the coldest that is hot
};

}  // namespace hmk

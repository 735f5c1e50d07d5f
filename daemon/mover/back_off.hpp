// SPDX-License-Identifier: MIT
//
// Ranges that would not move are left alone for one interval, then two, four and
// so on: a pinned buffer must not cost an attempt each time. Where a class of the pages of a range
// would not move, that class is: page_class as in policy::Move.
//
//   back_off.failed(start, length, seq);
//   if (back_off.is_blocked(start, length, seq + 1)) skip;
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "mover/spans.hpp"

namespace hmk {

class BackOff {
 public:
  /// The move planned from interval `seq` failed for this range of bytes.
  void failed(std::uint64_t start, std::uint64_t length, std::uint64_t seq,
              std::uint8_t page_class = 0);
  void succeeded(std::uint64_t start, std::uint8_t page_class = 0);
  /// True when some part of the range must still be left alone at interval `seq`.
  bool is_blocked(std::uint64_t start, std::uint64_t length, std::uint64_t seq,
                  std::uint8_t page_class = 0) const;
  /// All that is, of any class up to `last`; 0: as a whole.
  void add_blocked(std::uint64_t seq, Spans& spans, std::uint8_t last = 255) const;
  /// Forget what has been quiet for long.
  void forget_old(std::uint64_t seq);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t end = 0;
    std::uint64_t until = 0;  ///< last interval it is left alone
    unsigned failures = 0;
  };
  std::map<std::pair<std::uint8_t, std::uint64_t>, Entry> entries_;  // by class and start
};

}  // namespace hmk

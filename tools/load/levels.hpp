// SPDX-License-Identifier: MIT
// Which word the next access goes to, when memory is hot by degrees and not hot or cold.
//
//   Levels levels({.words = 1 << 27, .chunk_words = 1 << 18, .nr_levels = 20}, random);
//   words[levels.word(random.next())];
//
// Each level has as many chunks as the others, anywhere; the first has twice the accesses of the
// second, three times those of the third, and so on.
#ifndef HMK_LOAD_LEVELS_HPP
#define HMK_LOAD_LEVELS_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "hot_set.hpp"

namespace hmk::load {

class Levels {
 public:
  struct Plan {
    std::uint64_t words, chunk_words;  // 64-bit words; at most 2^32, and a power of two
    std::uint64_t nr_levels;           // 2 to kMost; of the chunks each has a whole number
  };
  static constexpr std::uint64_t kMost = 64;

  Levels(const Plan& plan, Random& random)
      : nr_(plan.nr_levels),
        level_words_(plan.words / plan.nr_levels),
        chunk_shift_(static_cast<unsigned>(std::countr_zero(plan.chunk_words))),
        chunks_(plan.words / plan.chunk_words) {
    std::iota(chunks_.begin(), chunks_.end(), 0u);
    for (std::uint64_t left = chunks_.size(); left > 1; --left)
      std::swap(chunks_[left - 1], chunks_[random.below(left)]);
    double below = 0, whole = 0;
    for (std::uint64_t level = 0; level < nr_; ++level) whole += weight(level);
    for (std::uint64_t level = 0, draw = 0; level < nr_; ++level) {
      below += weight(level) / whole;
      const auto end =
          level + 1 == nr_ ? kDraws : static_cast<std::uint64_t>(std::llround(below * kDraws));
      for (; draw < end; ++draw) level_of_[draw] = static_cast<std::uint8_t>(level);
    }
  }

  /// Uses the lower 12 and the upper 32 of 64 random bits.
  std::uint64_t word(std::uint64_t bits) const {
    const std::uint64_t level = level_of_[bits % kDraws];
    const std::uint64_t at = level * level_words_ + (((bits >> 32) * level_words_) >> 32);
    const std::uint64_t chunk = chunks_[at >> chunk_shift_];
    return (chunk << chunk_shift_) | (at & ((1ull << chunk_shift_) - 1));
  }

  /// The levels that take more than an even share, as HotSet::ranges().
  std::vector<Range> ranges() const {
    std::uint64_t hot = 0;
    double whole = 0;
    for (std::uint64_t level = 0; level < nr_; ++level) whole += weight(level);
    while (weight(hot) * static_cast<double>(nr_) > whole) ++hot;
    std::vector<std::uint32_t> chunks(
        chunks_.begin(),
        chunks_.begin() + static_cast<std::ptrdiff_t>(hot * level_words_ >> chunk_shift_));
    std::sort(chunks.begin(), chunks.end());
    return joined(chunks, 8ull << chunk_shift_);
  }

 private:
  static constexpr std::uint64_t kDraws = 1 << 12;

  static double weight(std::uint64_t level) { return 1 / static_cast<double>(level + 1); }

  std::uint64_t nr_, level_words_;
  unsigned chunk_shift_;
  std::array<std::uint8_t, kDraws> level_of_{};
  std::vector<std::uint32_t> chunks_;  // the hottest level's first
};

}  // namespace hmk::load

#endif

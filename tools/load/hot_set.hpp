// SPDX-License-Identifier: MIT
// Which word the next access goes to, when a known part of the memory takes a known share of them.
//
//   HotSet hot({.words = 1 << 27, .chunk_words = 1 << 18, .nr_hot = 51, .hot_accesses = 0.9},
//   random); words[hot.word(random.next())]; hot.ranges();                                   // the
//   truth
#ifndef HMK_LOAD_HOT_SET_HPP
#define HMK_LOAD_HOT_SET_HPP

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "memory.hpp"
#include "random.hpp"

namespace hmk::load {

/// What ascending chunks of so many bytes hold, neighbours in one piece.
inline std::vector<Range> joined(const std::vector<std::uint32_t>& chunks, std::uint64_t bytes) {
  std::vector<Range> ranges;
  for (const std::uint64_t chunk : chunks) {
    if (ranges.empty() || ranges.back().start + ranges.back().length != chunk * bytes)
      ranges.push_back({chunk * bytes, 0});
    ranges.back().length += bytes;
  }
  return ranges;
}

class HotSet {
 public:
  struct Plan {
    std::uint64_t words, chunk_words;  // 64-bit words; at most 2^32, and a power of two
    std::uint64_t nr_hot;              // chunks
    double hot_accesses;  // share of the accesses that go there, at least its own share
    bool is_contiguous = false;
  };

  HotSet(const Plan& plan, Random& random)
      : words_(plan.words),
        hot_words_(plan.nr_hot * plan.chunk_words),
        chunk_shift_(static_cast<unsigned>(std::countr_zero(plan.chunk_words))) {
    const std::uint64_t nr_chunks = plan.words / plan.chunk_words;
    // Accesses to anywhere hit hot words, too, so that no table of the cold chunks is needed:
    // reading it would be one more access to memory nobody knows to be hot or cold.
    const double share = static_cast<double>(plan.nr_hot) / static_cast<double>(nr_chunks);
    const double chosen = share < 1 ? (plan.hot_accesses - share) / (1 - share) : 0;
    hot_below_ = static_cast<std::uint64_t>(chosen * 0x1p16);
    std::uint64_t next = plan.is_contiguous ? random.below(nr_chunks - plan.nr_hot + 1) : 0;
    for (; chunks_.size() < plan.nr_hot; ++next)
      if (plan.is_contiguous || random.below(nr_chunks - next) < plan.nr_hot - chunks_.size())
        chunks_.push_back(static_cast<std::uint32_t>(next));
  }

  /// Uses the lower 16 and the upper 32 of 64 random bits.
  std::uint64_t word(std::uint64_t bits) const {
    const std::uint64_t upper = bits >> 32;
    if ((bits & 0xffff) >= hot_below_) return (upper * words_) >> 32;
    const std::uint64_t at = (upper * hot_words_) >> 32;
    const std::uint64_t chunk = chunks_[at >> chunk_shift_];
    return (chunk << chunk_shift_) | (at & ((1ull << chunk_shift_) - 1));
  }

  /// In order of addresses, neighbours in one piece, in bytes from the start of the memory.
  std::vector<Range> ranges() const { return joined(chunks_, 8ull << chunk_shift_); }

 private:
  std::uint64_t words_, hot_words_, hot_below_ = 0;
  unsigned chunk_shift_;
  std::vector<std::uint32_t> chunks_;  // the hot ones, ascending
};

}  // namespace hmk::load

#endif

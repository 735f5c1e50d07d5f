// SPDX-License-Identifier: MIT
// How long an application stood still: times between the ends of consecutive batches of its work.
//
//   Gaps gaps;
//   gaps.add(end_of_this_batch - end_of_the_last);
//   gaps.quantile(0.99);              // at most 1/32 below the exact one
//
// Times are whole numbers of any unit. Log-linear: 32 buckets for each doubling, so that adding is
// a handful of instructions and the same few lines of memory whatever the load.
#ifndef HMK_LOAD_GAPS_HPP
#define HMK_LOAD_GAPS_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace hmk::load {

class Gaps {
 public:
  void add(std::uint64_t time) {
    ++buckets_[bucket(time)];
    ++count_;
    longest_ = std::max(longest_, time);
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t longest() const { return longest_; }

  /// The lower bound of the bucket that holds the q-th of all times; 0 without any.
  std::uint64_t quantile(double q) const {
    const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
    std::uint64_t below = 0;
    for (unsigned i = 0; i < buckets_.size(); ++i)
      if ((below += buckets_[i]) >= rank && below > 0) return lowest(i);
    return 0;
  }

 private:
  static constexpr unsigned kBits = 5;

  static unsigned bucket(std::uint64_t time) {
    const auto doublings = static_cast<unsigned>(std::bit_width(time | 1));
    if (doublings <= kBits) return static_cast<unsigned>(time);
    const unsigned shift = doublings - kBits - 1;
    return (shift << kBits) + static_cast<unsigned>(time >> shift);
  }

  static std::uint64_t lowest(unsigned bucket) {
    if (bucket < 2u << kBits) return bucket;
    const unsigned shift = (bucket >> kBits) - 1;
    return std::uint64_t{(1u << kBits) + (bucket & ((1u << kBits) - 1))} << shift;
  }

  std::array<std::uint64_t, (65 - kBits) << kBits> buckets_{};
  std::uint64_t count_ = 0, longest_ = 0;
};

}  // namespace hmk::load

#endif

// SPDX-License-Identifier: MIT
// STREAM's triad in whole numbers: what every word must be is known after any number of words.
#ifndef HMK_LOAD_TRIAD_HPP
#define HMK_LOAD_TRIAD_HPP

#include <array>
#include <cstdint>

namespace hmk::load {

/// Three arrays of `nr` words; a sweep writes target[i] = first[i] + 3 * second[i] from front to
/// back, then the arrays change roles. Each holds offset + slope * i, of before its last sweep
/// behind the place that sweep has reached.
class Triad {
 public:
  using Word = std::uint64_t;

  Triad(Word* words, std::uint64_t nr) : nr_(nr), arrays_{words, words + nr, words + 2 * nr} {
    for (unsigned array = 0; array < 3; ++array)
      for (std::uint64_t i = 0; i < nr; ++i) arrays_[array][i] = now_[array].at(i);
  }

  /// At most `words` further words, fewer at the end of a sweep; how many.
  std::uint64_t work(std::uint64_t words) {
    const std::uint64_t end = words < nr_ - done_ ? done_ + words : nr_, began = done_;
    Word* const target = arrays_[target_];
    const Word *const first = arrays_[(target_ + 1) % 3], *const second =
                                                              arrays_[(target_ + 2) % 3];
    for (; done_ < end; ++done_) target[done_] = first[done_] + 3 * second[done_];
    if (done_ == nr_) turn();
    return end - began;
  }

  std::uint64_t sweeps() const { return sweeps_; }

  /// Words that are not what they must be.
  std::uint64_t wrong() const {
    std::uint64_t wrong = 0;
    for (unsigned array = 0; array < 3; ++array)
      for (std::uint64_t i = 0; i < nr_; ++i) {
        const bool is_new = array == target_ && i < done_;
        wrong += arrays_[array][i] != (is_new ? next() : now_[array]).at(i);
      }
    return wrong;
  }

 private:
  struct Line {
    Word offset, slope;
    Word at(std::uint64_t i) const { return offset + slope * i; }
  };

  Line next() const {
    const Line &first = now_[(target_ + 1) % 3], &second = now_[(target_ + 2) % 3];
    return {first.offset + 3 * second.offset, first.slope + 3 * second.slope};
  }

  void turn() {
    now_[target_] = next();
    target_ = (target_ + 1) % 3;
    done_ = 0;
    ++sweeps_;
  }

  std::uint64_t nr_, done_ = 0, sweeps_ = 0;
  unsigned target_ = 0;
  std::array<Word*, 3> arrays_;
  std::array<Line, 3> now_{{{1, 5}, {2, 7}, {3, 11}}};
};

}  // namespace hmk::load

#endif

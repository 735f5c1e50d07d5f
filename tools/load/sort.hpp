// SPDX-License-Identifier: MIT
// TeraSort on one machine: records of 100 bytes by keys of 10; sample, partition, sort each part.
//
//   Sorter sorter(input, output, parts, nr_records, seed);   // three pieces of memory
//   sorter.fill(work);
//   sorter.round(work);               // sort, with new keys from the second on; true: `input` is
//   in order sorter.wrong_order();             // pairs of neighbours that are not
//   sorter.is_changed();              // a record was lost, torn or made up
//
// `work` is anything with bool goes_on(records): Stage, or a test's own. It may stop a round at any
// moment; input or output then still holds every record.
#ifndef HMK_LOAD_SORT_HPP
#define HMK_LOAD_SORT_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "random.hpp"

namespace hmk::load {

struct Record {
  static constexpr std::size_t kWords = 12;  // and four bytes

  std::array<std::uint8_t, 100> bytes;

  std::uint64_t word(std::size_t i) const {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + 8 * i, 8);
    return word;
  }
  /// The key's first eight bytes, as a number that compares as they do.
  std::uint64_t upper() const { return __builtin_bswap64(word(0)); }
  unsigned lower() const { return bytes[8] << 8 | bytes[9]; }

  bool operator<(const Record& other) const {
    const std::uint64_t mine = upper(), others = other.upper();
    return mine != others ? mine < others : lower() < other.lower();
  }

  void set_key(std::uint64_t draw, std::uint64_t more) {
    std::memcpy(bytes.data(), &draw, 8);
    std::memcpy(bytes.data() + 8, &more, 2);
  }

  /// Of all bytes. A sum of these over many records shows words exchanged between them, too.
  std::uint64_t hash() const {
    std::uint32_t last;
    std::memcpy(&last, bytes.data() + 8 * kWords, 4);
    std::uint64_t sum = last;
    for (std::size_t i = 0; i < kWords; ++i) sum = sum * 0x9e3779b97f4a7c15ull + word(i);
    return mix(sum);
  }
};

class Sorter {
 public:
  /// input and output: nr records each; parts: nr bytes.
  Sorter(Record* input, Record* output, std::uint8_t* parts, std::uint64_t nr, std::uint64_t seed)
      : input_(input), output_(output), parts_(parts), nr_(nr), random_(seed) {
    index_.resize(2 * nr / kParts);
  }

  template <typename Work>
  bool fill(Work& work) {
    return each(work, nr_, [&](std::uint64_t i) {
      Record& record = input_[i];
      for (std::size_t k = 0; k < Record::kWords; ++k) {
        const std::uint64_t word = i * 0x9e3779b97f4a7c15ull + k;
        std::memcpy(record.bytes.data() + 8 * k, &word, 8);
      }
      std::memset(record.bytes.data() + 8 * Record::kWords, 0, 4);
      record.set_key(random_.next(), random_.next());
      sum_ += record.hash();
    });
  }

  template <typename Work>
  bool round(Work& work) {
    if (!is_drawn_ && !draw_keys(work)) return false;
    is_drawn_ = false;
    return partition(work) && sort_parts(work);
  }

  std::uint64_t wrong_order() const {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 1; i < nr_; ++i) wrong += input_[i] < input_[i - 1];
    return wrong;
  }

  bool is_changed() const {
    const Record* records = is_in_output_ ? output_ : input_;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < nr_; ++i) sum += records[i].hash();
    return sum != sum_;
  }

  /// Both in one pass, as a part of the work; adds to `wrong`. False: stopped.
  template <typename Work>
  bool validate(Work& work, std::uint64_t& wrong) const {
    std::uint64_t sum = 0, disorder = 0;
    const bool goes_on = each(work, nr_, [&](std::uint64_t i) {
      sum += input_[i].hash();
      disorder += i > 0 && input_[i] < input_[i - 1];
    });
    wrong += disorder + (goes_on && sum != sum_);
    return goes_on;
  }

 private:
  static constexpr std::size_t kParts = 256;

  struct Entry {
    std::uint64_t upper;
    const Record* record;
  };

  template <typename Work, typename Step>
  static bool each(Work& work, std::uint64_t nr, Step step) {
    constexpr std::uint64_t kBatch = 64;
    for (std::uint64_t i = 0; i < nr;) {
      const std::uint64_t stop = std::min(nr, i + kBatch);
      const std::uint64_t records = stop - i;
      for (; i < stop; ++i) step(i);
      if (!work.goes_on(records)) return false;
    }
    return true;
  }

  template <typename Work>
  bool draw_keys(Work& work) {
    is_in_output_ = false;
    return each(work, nr_, [&](std::uint64_t i) {
      sum_ -= input_[i].hash();
      input_[i].set_key(random_.next(), random_.next());
      sum_ += input_[i].hash();
    });
  }

  template <typename Work>
  bool partition(Work& work) {
    const auto splitters = sample();
    std::array<std::uint64_t, kParts> sizes{};
    const auto choose = [&](std::uint64_t i) {
      const auto above = std::upper_bound(splitters.begin(), splitters.end(), input_[i].upper());
      const auto part = static_cast<std::uint8_t>(above - splitters.begin());
      parts_[i] = part;
      ++sizes[part];
    };
    if (!each(work, nr_, choose)) return false;
    std::array<std::uint64_t, kParts> next;
    for (std::size_t p = 0; p < kParts; ++p) {
      next[p] = p == 0 ? 0 : ends_[p - 1];
      ends_[p] = next[p] + sizes[p];
    }
    const auto send = [&](std::uint64_t i) { output_[next[parts_[i]]++] = input_[i]; };
    if (!each(work, nr_, send)) return false;
    is_in_output_ = true;
    return true;
  }

  /// Keys between which parts end: quantiles of a sample.
  std::array<std::uint64_t, kParts - 1> sample() {
    constexpr std::size_t kPerPart = 16;
    std::vector<std::uint64_t> keys(kParts * kPerPart);
    for (auto& key : keys) key = input_[random_.below(nr_)].upper();
    std::sort(keys.begin(), keys.end());
    std::array<std::uint64_t, kParts - 1> splitters;
    for (std::size_t p = 0; p < splitters.size(); ++p) splitters[p] = keys[(p + 1) * kPerPart];
    return splitters;
  }

  template <typename Work>
  bool sort_parts(Work& work) {
    std::uint64_t begin = 0;
    for (const std::uint64_t end : ends_) {
      const std::uint64_t nr = end - begin;
      if (index_.size() < nr) index_.resize(nr);
      Record* const out = input_ + begin;
      const Record* const in = output_ + begin;
      const auto list = [&](std::uint64_t i) { index_[i] = {in[i].upper(), in + i}; };
      if (!each(work, nr, list)) return false;
      sort_index(work, nr);
      const auto put = [&](std::uint64_t i) { out[i] = *index_[i].record; };
      if (!each(work, nr, put)) return false;
      begin = end;
    }
    is_in_output_ = false;
    return true;
  }

  /// Tells `work` now and then, so that sorting does not look like standing still.
  template <typename Work>
  void sort_index(Work& work, std::uint64_t nr) {
    unsigned nr_compared = 0;
    std::sort(index_.begin(), index_.begin() + static_cast<std::ptrdiff_t>(nr),
              [&](const Entry& a, const Entry& b) {
                if (++nr_compared % 256 == 0) work.goes_on(0);
                return a.upper != b.upper ? a.upper < b.upper
                                          : a.record->lower() < b.record->lower();
              });
  }

  Record *input_, *output_;
  std::uint8_t* parts_;
  std::uint64_t nr_;
  Random random_;
  std::vector<Entry> index_;
  std::array<std::uint64_t, kParts> ends_{};
  std::uint64_t sum_ = 0;      // of the hashes of all records
  bool is_in_output_ = false;  // where all records are for certain
  bool is_drawn_ = true;       // keys that no round has sorted
};

}  // namespace hmk::load

#endif

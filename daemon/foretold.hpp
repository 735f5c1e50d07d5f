// SPDX-License-Identifier: MIT
//
// What a program has said of its memory, for how long that counts, and how often it came true.
//
//   if (foretold.heard(table->read(), seq)) ...       something is about to be used
//   policy::foresee(regions, foretold.expected(seq), horizon_s)
//   foretold.saw(regions, seq);                        an interval has ended
//
// "About to be used" counts until an interval has passed that began after it was said: from then on
// it is measured. "Not for a while" counts until the opposite is said, or measured. Of both the
// next such interval says whether they came true; of a program that is wrong more often than not
// nothing counts for a while.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "hints/hint_table.hpp"
#include "policy/foresee.hpp"
#include "policy/types.hpp"

namespace hmk {

class Foretold {
 public:
  /// Of the last so many that were judged at least half have to have come true, once there are
  /// kLeastJudged; else nothing counts for kIgnored intervals, and judging begins anew.
  static constexpr unsigned kJudged = 64, kLeastJudged = 16;
  static constexpr std::uint64_t kIgnored = 64;

  /// The objects as the program has them now, while interval `seq` + 1 runs. Whether something new
  /// is about to be used.
  bool heard(std::vector<Hint> hints, std::uint64_t seq);
  /// Judges by interval `seq`: its regions, as they were measured.
  void saw(std::span<const policy::RegionView> regions, std::uint64_t seq);
  /// What counts in a decision from interval `seq`: in address order and disjoint. Of two objects
  /// that meet the one counts that begins first.
  std::vector<policy::Expectation> expected(std::uint64_t seq) const;

  const std::vector<Hint>& objects() const { return hints_; }
  bool is_ignored(std::uint64_t seq) const { return seq < ignored_until_; }
  std::uint64_t ignored_until() const { return ignored_until_; }
  std::uint64_t nr_kept() const { return kept_; }      ///< came true
  std::uint64_t nr_broken() const { return broken_; }  ///< did not

 private:
  struct Word {
    std::uint64_t number = 0, start = 0, end = 0;
    std::uint64_t since = 0;  // the last interval that had ended when it was said
    enum class State : std::uint8_t { open, kept, broken } state = State::open;
  };

  static bool counts(const Hint& hint, const Word& word, std::uint64_t seq);
  void judge(bool came_true, std::uint64_t seq);

  std::vector<Hint> hints_;
  std::map<std::uint32_t, Word> words_;  // by slot
  std::uint64_t judged_ = 0;             // a bit each, the last one lowest: 1 came true
  unsigned nr_judged_ = 0;
  std::uint64_t kept_ = 0, broken_ = 0, ignored_until_ = 0;
};

}  // namespace hmk

// SPDX-License-Identifier: MIT
//
// Whether managing a process helps it, by a figure of the program's own: blocks in which it is
// watched beside blocks in which it is managed, and when to stop. Pure: no clock, no process.
//
//   Comparison comparison({.seed = 1});
//   while (const auto arm = comparison.next()) comparison.add(measure(*arm));
//   const Estimate found = comparison.estimate();
//
// Order. A pair is one block of each. The first four begin by watching, watching, managing,
// managing: a figure that fails does so before anything was moved, and the guard has two blocks of
// each soon. Then they come in twos, watch-manage-manage-watch or manage-watch-watch-manage, drawn
// by the seed. So what drifts steadily cancels at every look.
//
// Interval. Of each pair the difference of the logarithms counts, once: what disturbs a whole block
// is noise between pairs and widens the interval. Its mean lies within Student's t. It is looked at
// after each two pairs from four on, and an interval holds for all looks together (Bonferroni: half
// of the 5 % for the last look, the others share the rest), so stopping early is no cheating.
//
// Guard. After the second managed block, and each later one: the mean of the managed blocks is
// worse than that of the watched ones by more than the guard, and chance alone makes it worse at
// all in 10 % of cases (later 1 %) at most. The noise of a block is what blocks of one kind differ
// by, or what their parts say if that is more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hmkctl {

enum class Arm { watch, manage };
enum class Better { higher, lower };

struct ComparisonRules {
  unsigned most_pairs = 12;  ///< even, at least 4
  double alpha = 0.05;       ///< share of runs whose interval misses the truth, at most
  double within = 0.03;      ///< a change that does not matter
  std::optional<double> guard = std::nullopt;  ///< a loss of more than this ends it
  Better better = Better::higher;
  std::uint64_t seed = 1;
};

enum class Found {
  gain,     ///< the interval lies on the better side of nothing
  loss,     ///< on the worse side
  same,     ///< no change of more than `within`
  unclear,  ///< the interval is too wide to say
  guard,    ///< stopped for a loss
};
/// "gain", "loss", "same", "unclear", "guard".
std::string_view found_name(Found found);

struct Estimate {
  Found found = Found::unclear;
  unsigned pairs = 0;
  double watched = 0, managed = 0;  ///< means of the figure; 0 where no block was
  double change = 0;                ///< managed relative to watched, minus 1
  /// Of `change`; none below two pairs, and none where the guard ended it: between two looks.
  std::optional<double> low = std::nullopt, high = std::nullopt;
};

class Comparison {
 public:
  static constexpr unsigned kFirstLook = 4, kLookEvery = 2;  // pairs

  explicit Comparison(const ComparisonRules& rules);

  /// What the next block is; none: it has stopped.
  std::optional<Arm> next() const;
  /// The figure in each part of that block, of equal lengths; their mean is above 0.
  void add(std::span<const double> parts);
  /// At the end, or of what there is.
  Estimate estimate() const;

  unsigned blocks() const { return static_cast<unsigned>(blocks_.size()); }
  const ComparisonRules& rules() const { return rules_; }

 private:
  struct Block {
    Arm arm;
    double mean;
    double log_variance;  ///< of its mean's logarithm, as its parts say
    std::size_t parts;
  };
  unsigned pairs() const { return blocks() / 2; }
  std::vector<double> differences() const;
  double alpha_at(unsigned pairs) const;
  Found judge(const Estimate& estimate) const;
  /// The change of the figure where the guard is broken.
  std::optional<double> broken_guard() const;

  ComparisonRules rules_;
  std::vector<Arm> order_;
  std::vector<Block> blocks_;
  std::optional<Estimate> end_;
};

}  // namespace hmkctl

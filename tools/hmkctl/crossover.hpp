// SPDX-License-Identifier: MIT
//
// Blocks in which hmkd watches a process and blocks in which it manages it, in turns, with a figure
// of the process read in each. Over one connection that holds the mode: whatever ends this program,
// hmkd puts the mode back.
//
// What one block leaves behind for the next is its placement. So what was moved goes back to where
// it lay before a watched block begins, and is moved anew in a managed one; both are over, or at
// least well under way, after a time to settle that nothing is read in. The figure of a managed
// block is thus of memory that is being kept in its place, with all that this goes on costing, not
// of the first moves; that of a watched one is of the placement as it was, with the cost of
// watching in both. What cannot be put back (memory that is new, tiers that have filled, what hmkd
// has forgotten) makes the two alike: the difference is then told too small, never too large.
//
//   Crossover crossover(context, {.pid = 4711}, meter);
//   if (auto trouble = crossover.run(comparison, show)) return fail(context, *trouble);
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "meter.hpp"
#include "verb.hpp"

namespace hmkctl {

struct CrossoverOptions {
  int pid = 0;
  std::chrono::nanoseconds block{0};    ///< 0: six intervals
  std::chrono::nanoseconds settle{-1};  ///< before each; below 0: six intervals
};

class Crossover {
 public:
  static constexpr unsigned kParts = 6;  ///< of a block, each with a figure of its own

  struct Block {
    Arm arm = Arm::watch;
    double figure = 0;
    std::uint64_t displaced_bytes = 0;  ///< that lay elsewhere than at first when it began
  };

  Crossover(const Context& context, const CrossoverOptions& options, Meter& meter);

  using Shown = std::function<void(const Block&)>;
  /// Until the comparison stops, a signal comes, or there is trouble. Then all is put back.
  std::optional<Reply> run(Comparison& comparison, const std::function<void()>& began,
                           const Shown& shown);

  const CrossoverOptions& options() const { return options_; }
  const std::string& comm() const { return comm_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  /// At the end, that could not be put back.
  std::uint64_t left_bytes() const { return left_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<Reply> look_around();
  std::optional<Reply> run_blocks(Comparison& comparison, const Shown& shown);
  std::optional<Reply> hold(Arm arm);
  std::optional<Reply> settle(Arm arm);
  std::optional<Reply> put_back();
  std::optional<Reply> measure(std::vector<double>& parts);
  std::optional<Reply> wait_until(Clock::time_point until);
  std::optional<Reply> wait_until_back();
  std::optional<Reply> look_at_process();
  bool is_stopped() const;

  const Context& context_;
  CrossoverOptions options_;
  Meter& meter_;
  Connection held_;
  std::chrono::nanoseconds interval_{0};
  bool was_managed_ = false;  ///< before: hmkd would move it all again
  std::string comm_;
  std::vector<Block> blocks_;
  std::uint64_t displaced_bytes_ = 0, left_bytes_ = 0;
  unsigned signals_ = 0;  ///< that do not stop it any more
};

}  // namespace hmkctl

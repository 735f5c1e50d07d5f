// SPDX-License-Identifier: MIT
//
// A plan of `hmkctl plan schedule` on another run of the program: which tier it has for which of
// the program's memory now. Memory is found again by the name and the order of its mappings.
// The clock of the plan begins with the first question, or when begin() says.
//
//   Result<Follower> follower = Follower::make(plan, machine, parse_mappings(maps));
//   misplaced(records, follower->wanted(parse_mappings(maps), now_ns), tiers, most);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "misplaced.hpp"
#include "record/tier_plan.hpp"

namespace hmk {

class Follower {
 public:
  /// Fails where the plan is for another machine, or less than half of its memory is there.
  static Result<Follower> make(TierPlan plan, const RecordedMachine& machine,
                               const std::vector<RecordedMapping>& mappings);

  /// What this process's plan has in which tier at `now_ns` of the module's clock.
  std::vector<policy::Wanted> wanted(const std::vector<RecordedMapping>& mappings,
                                     std::uint64_t now_ns);
  /// The part of it that lies elsewhere, as found of what wanted() has told last.
  void found(const Misplaced& misplaced) { misplaced_bytes_ = misplaced.bytes; }

  /// By the module's clock.
  void begin(std::uint64_t ns) { begin_ns_ = ns; }
  std::optional<std::uint64_t> begun_ns() const { return begin_ns_; }
  const TierPlan& plan() const { return plan_; }
  std::uint32_t window() const { return window_; }  ///< at the last question, from 0
  std::uint64_t misplaced_bytes() const { return misplaced_bytes_; }
  /// Of the planned memory, at the last question.
  double found_percent() const { return found_percent_; }

 private:
  explicit Follower(TierPlan plan) : plan_(std::move(plan)) {}
  std::vector<policy::Wanted> ranges_in(const std::vector<RecordedMapping>& mappings);

  TierPlan plan_;
  std::optional<std::uint64_t> begin_ns_;
  std::uint32_t window_ = 0;
  std::uint64_t misplaced_bytes_ = 0;
  double found_percent_ = 0;
};

}  // namespace hmk

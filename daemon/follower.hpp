// SPDX-License-Identifier: MIT
//
// A plan of `hmkctl plan schedule` on another run of the program: which of its memory lies where
// the plan does not have it now. Memory is found again by the name and the order of its mappings.
// The clock of the plan begins with the first question.
//
//   Result<Follower> follower = Follower::make(plan, machine, parse_mappings(maps));
//   plan_of(follower->misplaced(records, parse_mappings(maps), tiers, now_ns));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "mover/tier_nodes.hpp"
#include "policy/ledger.hpp"
#include "record/tier_plan.hpp"

namespace hmk {

class Follower {
 public:
  /// Fails where the plan is for another machine, or less than half of its memory is there.
  static Result<Follower> make(TierPlan plan, const RecordedMachine& machine,
                               const std::vector<RecordedMapping>& mappings);

  /// At most `most` bytes that are to rise, and as many that are to fall; in address order.
  /// `tiers`: nodes of each. `now_ns`: of the module's clock.
  std::vector<policy::Ledger::Displaced> misplaced(std::span<const hmk_record> records,
                                                   const std::vector<RecordedMapping>& mappings,
                                                   const TierNodes& tiers, std::uint64_t now_ns,
                                                   std::uint64_t most);

  const TierPlan& plan() const { return plan_; }
  std::uint32_t window() const { return window_; }  ///< at the last question, from 0
  std::uint64_t misplaced_bytes() const { return misplaced_bytes_; }
  /// Of the planned memory, at the last question.
  double found_percent() const { return found_percent_; }

 private:
  struct Range {
    std::uint64_t start = 0, end = 0;
    const std::vector<std::uint8_t>* tier = nullptr;
  };

  explicit Follower(TierPlan plan) : plan_(std::move(plan)) {}
  std::vector<Range> ranges_in(const std::vector<RecordedMapping>& mappings);

  TierPlan plan_;
  std::optional<std::uint64_t> begin_ns_;
  std::uint32_t window_ = 0;
  std::uint64_t misplaced_bytes_ = 0;
  double found_percent_ = 0;
};

}  // namespace hmk

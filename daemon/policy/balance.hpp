// SPDX-License-Identifier: MIT
//
// The closed loop of one process: what an interval has shown of its moves, and what that says of
// the next ones.
//
//   balance.moved(move, came);                  each part of a move that has ended
//   balance.saw(regions, tiers, interval);      the interval has ended
//   view.measured = balance.plans_by();         for the next plan
//   view.promote_limit = balance.governor().limit(promote_limit);
//   balance.conserve(plan);
//   balance.planned(plan);
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "policy/effort.hpp"
#include "policy/exchanges.hpp"
#include "policy/gain.hpp"
#include "policy/governor.hpp"
#include "policy/ledger.hpp"
#include "policy/persistence.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

class Balance {
 public:
  /// What came of a part of a move.
  struct Came {
    Bytes bytes = 0;
    std::uint64_t spent_ns = 0;  // preparing, copying and committing
  };
  void moved(const Move& move, const Came& came);

  struct Interval {
    double seconds = 0;
    std::uint64_t cpu_ns = 0;      // that the process used, all threads
    std::uint64_t profile_ns = 0;  // and profiling it
    double horizon = 0;            // intervals, at most
    bool is_governed = false;
    bool is_stretched = false;  // well beyond what was asked for
    /// What moving a page takes, from here on; 0: what its result says.
    std::uint64_t page_ns = 0;
  };
  /// Each region once, in address order; where the pages of some differ, all of them by class and
  /// node as well.
  struct Seen {
    std::span<const RegionView> regions, parts;
    Seen() = default;
    Seen(const std::vector<RegionView>& all, std::span<const RegionView> by_class = {})
        : regions(all), parts(by_class) {}
    std::span<const RegionView> finest() const { return parts.empty() ? regions : parts; }
  };
  /// Returns whether the governor has changed the speed. 16 ms for 786,432 regions and a full
  /// ledger on a busy machine (hmk-bench policy), against 24 for ranking them.
  bool saw(const Seen& seen, std::span<const TierView> tiers, const Interval& interval);
  /// A plan that goes by what is assumed may promise more time than the process has: no more.
  void conserve(Plan& plan) const;
  /// Returns whether effort() has changed.
  bool planned(const Plan& plan);

  /// Whether the tiers' latencies are known: without them nothing above is time.
  bool knows() const { return model_.knows(); }
  Measured measured() const {
    return {scale_, horizon_, exchange_horizon_, &costs_, exchanges_.deviations()};
  }
  /// What the next plan goes by: what was measured where the process is governed, else what is
  /// assumed of all.
  Measured plans_by() const { return is_governed_ ? measured() : Measured{.horizon = most_}; }
  const MoveCosts& costs() const { return costs_; }
  const Ledger& ledger() const { return ledger_; }
  const Persistence& persistence() const { return persistence_; }
  const Exchanges& exchanges() const { return exchanges_; }
  const Governor& governor() const { return governor_; }
  const Effort& effort() const { return effort_; }

  /// Of the newest plan, ns a second and ns once.
  struct Advice {
    double saves = 0, costs = 0;
  };
  const Advice& advice() const { return advice_; }
  double cpu() const { return cpu_; }  // ns a second that the process used

 private:
  NodeId source_of(const Move& move) const;
  double conserving_scale(double stalls);

  MoveCosts costs_;
  Ledger ledger_;
  Persistence persistence_;
  Exchanges exchanges_;
  Governor governor_;
  Effort effort_;
  GainModel model_{{}, {}};  // of the last interval
  Advice advice_;
  bool is_governed_ = false, is_stretched_ = false;
  std::uint64_t page_ns_ = 0;
  // Intervals: the horizon of the configuration.
  double most_ = std::numeric_limits<double>::infinity();
  double scale_ = 1, horizon_ = 1, exchange_horizon_ = 1, cpu_ = 0, cpu_mean_ = 0, stalls_mean_ = 0;
};

}  // namespace hmk::policy

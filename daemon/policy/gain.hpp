// SPDX-License-Identifier: MIT
//
// What a move is worth and what it costs, in nanoseconds of the application,
// from the latencies and bandwidths of the tiers.
//
//   const GainModel model(tiers, params, measured);
//   if (model.saved_ns(heat, bytes, 3, 0) > model.cost_ns(bytes, 3, 0, heat.leaf_shift)) move it
//
// The profiler says how often a leaf of the page table is accessed. Two assumptions
// make misses of the caches out of it:
//  - a visit misses kMissesPerVisit times: a quarter of the lines of a page.
//  - a visit to a huge leaf is one to one of its pages.
// They promise more than there is; Measured::scale says how much there can be.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policy/types.hpp"

namespace hmk::policy {

/// Accesses a second to `bytes` of what has this heat; 0 when it was never seen accessed.
double accesses_per_s(const Heat& heat, Bytes bytes);

/// What moving a page has taken, as a moving average by nodes and size of the page.
class MoveCosts {
 public:
  /// The average is of about so many pages: 256 MiB.
  static constexpr double kMemoryPages = 65'536;
  /// What is assumed counts as much as so many pages measured.
  static constexpr double kPriorPages = 256;

  void add(NodeId from, NodeId to, bool is_huge, std::uint64_t pages, std::uint64_t ns);
  /// Of 4096 bytes, also of a huge page; `assumed_ns` as long as little is known.
  double ns_per_page(NodeId from, NodeId to, bool is_huge, double assumed_ns) const;

 private:
  struct Sum {
    double pages = 0, ns = 0;
  };
  std::map<std::pair<std::pair<NodeId, NodeId>, bool>, Sum> sums_;
};

/// One of two alike regions is that much hotter once in 740 times. But the hottest of a tier meet
/// the coldest of another: of many alike 1.7 % change places at 3 deviations, 14 % at 1.5.
inline constexpr double kDeviations = 3;

/// What measuring says of the moves of one process; as it stands, nothing.
struct Measured {
  double scale = 1;  // of a miss's time, so that all misses fit into the CPU time of the process
  double horizon = std::numeric_limits<double>::infinity();  // intervals that heat lasts
  /// And those for which it is more than that of other memory: what two that change places gain.
  double exchange_horizon = std::numeric_limits<double>::infinity();
  const MoveCosts* costs = nullptr;
  /// That one region is hotter than another before they change places: exchanges.hpp.
  double deviations = kDeviations;
};

/// Which of the two horizons counts: of what moves into room, or of what changes places.
enum class Lasts : std::uint8_t { here, beyond_others };

class GainModel {
 public:
  static constexpr double kMissesPerVisit = 16;
  /// Kernel work for a page, and the time the application may wait for it, until it was measured.
  static constexpr double kNsPerPage = 5'000;

  /// `tiers`: by tier, fastest first. Without a latency of each of them, or when they are told in
  /// another order than their latencies', the model knows no times: moves then cost nothing and
  /// everything that is surely warmer saves.
  GainModel(std::span<const TierView> tiers, const PolicyParams& params,
            const Measured& measured = {});

  bool knows() const { return knows_; }
  std::optional<std::uint32_t> tier_of(NodeId node) const;
  NodeId node(std::uint32_t tier) const { return tiers_[tier].node; }
  /// The first node of the next slower tier; of the slowest tier the node itself.
  std::uint32_t next(std::uint32_t tier) const;
  /// Whether `hot` is hotter than `cold` by more than Measured::deviations of the difference of
  /// their rates: what chance can explain is no reason to let two regions change places.
  bool is_surely_hotter(const Heat& hot, const Heat& cold) const;
  /// Time a second that misses of `accesses` a second take in a tier.
  double stall_ns_per_s(double accesses, bool written, std::uint32_t tier) const {
    return accesses * kMissesPerVisit * scale_ * latency_ns(tier, written);
  }
  /// Time a second that accesses to `bytes` take less in tier `to` than in tier `from`. Negative
  /// when `to` is the slower one.
  double saved_ns_per_s(const Heat& heat, Bytes bytes, std::uint32_t from, std::uint32_t to) const;
  /// The same over the horizon.
  double saved_ns(const Heat& heat, Bytes bytes, std::uint32_t from, std::uint32_t to,
                  Lasts lasts = Lasts::here) const {
    return saved_ns_per_s(heat, bytes, from, to) *
           (lasts == Lasts::here ? horizon_s_ : exchange_s_);
  }
  /// Time to move them, as measured; before that as calibrated; else the copy at the lesser
  /// bandwidth, and kNsPerPage each.
  double cost_ns(Bytes bytes, std::uint32_t from, std::uint32_t to,
                 std::uint8_t leaf_shift = 12) const;
  /// Of the dearest pair of tiers and size of page.
  double most_ns_per_page() const;

 private:
  double latency_ns(std::uint32_t tier, bool written) const;
  double assumed_ns_per_page(std::uint32_t from, std::uint32_t to, bool is_huge) const;

  std::vector<TierView> tiers_;
  std::vector<double> ns_per_page_;  // by (from, to, is huge)
  double scale_, horizon_s_, exchange_s_, deviations_;
  bool knows_;
};

/// N by itself: what may be promoted so that moving keeps within `budget_ns` of an interval.
/// Each byte is taken to need a demotion as well, and both to take what the dearest pair of tiers
/// does:
///
///   N = budget / (2 * most_ns_per_page() / page), in whole pages
Bytes auto_limit(std::span<const TierView> tiers, double budget_ns, const Measured& measured = {});

}  // namespace hmk::policy

// SPDX-License-Identifier: MIT
//
// From one interval's regions to an up-to-date histogram, and the order in
// which regions of one bucket take their turn.
//
//   Ranking ranking({.buckets = 64, .hotness_max = 3}, nodes);
//   ranking.update(process, regions);   // once per process and interval
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "policy/histogram.hpp"

namespace hmk::policy {

/// Whether `a` is promoted before `b`, both of one bucket: by hotness of the
/// last interval, then what is written, then the smaller one, then by process and address.
bool promotes_before(const Histogram::Entry& a, const Histogram::Entry& b);

/// Whether `a` is a victim before `b`: of a lower bucket, then the colder in the
/// last interval, then what is not written, then the smaller one, then by process and address.
bool demotes_before(const Histogram::Entry& a, const Histogram::Entry& b);

/// The first regions of some lists in a given order, at most kMost of them, of the
/// kMostLookedAt of each list that have been in it longest: neither memory nor time grows
/// with a bucket that holds half the machine. What does not get in has its turn in a
/// later interval.
class Shortlist {
 public:
  using Before = bool (*)(const Histogram::Entry&, const Histogram::Entry&);
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostLookedAt = 8 * kMost;

  Shortlist(const Histogram& histogram, Before order) : histogram_(&histogram), before_(order) {}

  /// Adds the regions of one list that `takes` lets in; all add() come before seal().
  template <typename Takes>
  void add(std::uint32_t bucket, std::uint32_t column, Takes&& takes) {
    std::size_t looked_at = 0;
    histogram_->for_each(bucket, column, [&](Histogram::Id id) {
      if (!takes(id)) return true;
      consider(id);
      return ++looked_at < kMostLookedAt;
    });
  }
  /// Orders what was added. Then front() is the first.
  void seal();

  bool empty() const { return ids_.empty(); }
  Histogram::Id front() const { return ids_.front(); }
  void pop();
  void push(Histogram::Id id);

 private:
  void consider(Histogram::Id id);
  bool before(Histogram::Id a, Histogram::Id b) const {
    return before_((*histogram_)[a], (*histogram_)[b]);
  }

  const Histogram* histogram_;
  Before before_;
  std::vector<Histogram::Id> ids_;  // a heap: its last while adding, its first once sealed
};

/// Keeps the histogram equal to the last snapshot of every process.
class Ranking {
 public:
  Ranking(Histogram::Shape shape, std::span<const NodeId> nodes);

  /// Replaces what is known about `process`. `regions`: in address order, without overlap but for
  /// the classes of one region, which lie side by side. List work is done only for regions whose
  /// bucket or node changed, or that appeared or vanished.
  void update(ProcessId process, std::span<const RegionView> regions);

  /// Drops a process that has gone. Unknown ones are ignored.
  void forget(ProcessId process);

  /// Other nodes, or another shape of the histogram. Nothing is known afterwards until update()
  /// was called for each process again.
  void reset(Histogram::Shape shape, std::span<const NodeId> nodes);

  const Histogram& histogram() const { return histogram_; }

 private:
  Histogram histogram_;
  std::unordered_map<ProcessId, std::vector<Histogram::Id>> by_process_;  // address order
};

}  // namespace hmk::policy

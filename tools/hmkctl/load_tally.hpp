// SPDX-License-Identifier: MIT
//
// What samples of loads tell: how many of them each node's memory served, and how long they took.
// Samples are records as the kernel writes them behind perf_event_open(2), with kSampleFields.
//
//   LoadTally tally(spans, {4711});
//   tally.take(bytes);                whole records
//   tally.nodes().at(0).loads         estimated, of all that there were
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "node_spans.hpp"

namespace hmkctl {

/// The values of a sample, in this order, of 8 bytes each: PID and TID, period, latency in cycles,
/// where it was served from, physical address.
extern const std::uint64_t kSampleFields;

class LoadTally {
 public:
  struct Node {
    std::uint64_t samples = 0;
    double loads = 0;   ///< as many as the samples stand for
    double cycles = 0;  ///< that these took, together
  };

  /// Of these processes; of all where none is named.
  LoadTally(NodeSpans spans, std::set<int> pids)
      : spans_(std::move(spans)), pids_(std::move(pids)) {}

  /// Records one after the other. What is left of an incomplete or impossible one is not looked at
  /// and counted as broken.
  void take(std::span<const std::byte> records);

  const std::map<int, Node>& nodes() const { return nodes_; }
  std::uint64_t samples() const { return samples_; }  ///< that memory served, of these processes
  std::uint64_t seen() const { return seen_; }        ///< of anything, each has a cost
  std::uint64_t lost() const { return lost_; }        ///< the kernel had no room for them
  std::uint64_t untold() const { return untold_; }    ///< without an address of any node
  std::uint64_t broken() const { return broken_; }    ///< records that are none

 private:
  void take_sample(std::span<const std::byte> values, bool is_user);

  NodeSpans spans_;
  std::set<int> pids_;
  std::map<int, Node> nodes_;
  std::uint64_t samples_ = 0, seen_ = 0, lost_ = 0, untold_ = 0, broken_ = 0;
};

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
//
// A plan -> tickets of the module -> results -> counters. One ticket per
// direction is in flight: demotions run beside the promotions that already have
// room, and the other promotions follow as the demotions make it.
//
//   mover.start(plan, room, tier_nodes, seq);
//   on HMK_EVENT_TICKET: mover.finish(cookie);
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "metrics/counters.hpp"
#include "mover/back_off.hpp"
#include "policy/types.hpp"

namespace hmk {

/// Bytes that may still be put on a node: free, less its reserve.
using Room = std::map<int, std::int64_t>;

class Mover {
 public:
  explicit Mover(Device& device) : device_(device) {}

  /// Begin a plan made from interval `seq`. Only when !is_busy().
  /// Fails when the module refuses; what was not sent is dropped then.
  Result<void> start(const policy::Plan& plan, Room room, std::vector<int> tier_nodes,
                     std::uint64_t seq);
  /// A ticket has finished: account for it and send what became possible.
  Result<void> finish(std::uint64_t cookie);
  /// Try again what found the module's queue full.
  Result<void> retry() { return pump(); }
  /// Ask the module whether it would take a plan; moves nothing.
  Result<void> rehearse(const policy::Plan& plan);
  /// Send nothing more of this plan; tickets in flight finish by themselves.
  void abandon();

  /// Called for each range that has ended.
  using OnEnd = std::function<void(const policy::Move&, const hmk_range_result&)>;
  void on_end(OnEnd told) { on_end_ = std::move(told); }

  /// HMK_MOVE_* of the tickets sent from now on.
  void set_flags(std::uint32_t flags) { flags_ = flags; }

  bool is_busy() const;
  const MoveCounters& counters() const { return counters_; }
  const BackOff& back_off() const { return back_off_; }
  BackOff& back_off() { return back_off_; }

 private:
  struct Ticket {
    std::uint64_t cookie = 0;
    std::vector<policy::Move> moves;
  };
  struct Lane {
    std::deque<policy::Move> waiting;
    std::optional<Ticket> in_flight;
  };

  Result<void> pump();
  Result<void> send(Lane& lane, bool needs_room);
  std::size_t batch_size(const Lane& lane, bool needs_room);
  void account(const Lane& lane, const policy::Move& move, const hmk_range_result& result);
  int tier_of(int node) const;

  Device& device_;
  Lane promotions_, demotions_;
  Room room_;
  std::vector<int> tier_nodes_;
  std::uint64_t seq_ = 0;
  std::uint32_t flags_ = 0;
  std::int64_t lead_bytes_ = 0;  // demoted less promoted in this plan, as sent
  std::uint64_t next_cookie_ = 1;
  MoveCounters counters_;
  BackOff back_off_;
  OnEnd on_end_ = [](const policy::Move&, const hmk_range_result&) {};
};

}  // namespace hmk

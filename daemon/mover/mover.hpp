// SPDX-License-Identifier: MIT
//
// A plan -> tickets of the module -> results -> counters. One ticket is in
// flight; in it, and from ticket to ticket, a piece that makes room is followed
// by the piece that uses it, so that no tier stands empty while a plan runs. What
// makes room for another process goes first; until it has, the reserve lends it.
// Where a tier has several nodes each piece that goes there is asked where its pages are just
// before it is sent, and what is in that tier stays: a record tells two nodes of a region, as they
// were when it was counted. With HMK_MOVE_PAIRED two pieces are under way at a time, so that one is
// demoted while the one before is promoted, and what makes room leads by one piece more.
// What finds no room goes on in smaller pieces, down and up by turns, before the rest of the plan:
// full tiers change places through what little is free. It is given up when that, too, leads to
// nothing.
//
//   mover.start(plan, tiers, seq);
//   on HMK_EVENT_TICKET: mover.finish(cookie, time_ns);
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "metrics/counters.hpp"
#include "mover/back_off.hpp"
#include "mover/cache_room.hpp"
#include "mover/pace.hpp"
#include "mover/ping_pong.hpp"
#include "mover/tier_nodes.hpp"
#include "policy/types.hpp"

namespace hmk {

/// In address order and apart.
struct LeftAlone {
  Spans all, backed_off;
};

class Mover {
 public:
  explicit Mover(Device& device) : device_(device) {}

  /// Begin a plan made from interval `seq`; what still waits of the last one is dropped.
  /// Fails when the module refuses; what was not sent is dropped then, too.
  Result<void> start(const policy::Plan& plan, TierNodes tiers, std::uint64_t seq);
  /// A ticket has finished, at `time_ns` of the module's clock: account for it and send the next.
  Result<void> finish(std::uint64_t cookie, std::uint64_t time_ns);
  /// The newest records know of what had ended before `counted_ns` of that clock.
  void forget_ended_before(std::uint64_t counted_ns);
  /// Try again what found the module's queue full or was held back.
  Result<void> retry() { return send(); }
  /// Ask the module whether it would take a plan; moves nothing.
  Result<void> rehearse(const policy::Plan& plan);
  /// Send nothing more of this plan; the ticket in flight finishes by itself.
  void abandon() {
    waiting_.clear();
    ++plan_;
  }
  /// And stop that one, too: it ends soon, and is accounted for as far as it came.
  Result<void> cancel();

  /// Called for each range that has ended.
  using OnEnd = std::function<void(const policy::Move&, const hmk_range_result&)>;
  void on_end(OnEnd told) { on_end_ = std::move(told); }

  /// Of the tickets sent from now on.
  void set_how(const MoveHow& how) { how_ = how; }

  /// What the tiers' bandwidth is kept to; must outlive the mover.
  void set_pace(Pace* pace) { pace_ = pace; }
  /// What makes room where it is the page cache's; null: there is what is free. Must outlive the
  /// mover.
  void set_cache_room(CacheRoom* room) { cache_room_ = room; }
  /// When to retry() what is held back; nothing when it holds nothing.
  std::optional<Pace::Clock::time_point> held_until() const {
    return in_flight_ || waiting_.empty() ? std::nullopt : held_until_;
  }

  /// Bytes by node that the ticket in flight brings, less what it takes away.
  std::map<int, std::int64_t> arriving() const;
  /// Some of the last plan is in flight or waits.
  bool is_busy() const { return in_flight_ || !waiting_.empty(); }
  /// Some of [start, start + length) is in flight, or was when the newest records were counted.
  bool is_moving(std::uint64_t start, std::uint64_t length) const;
  /// All that is_moving(), or that back_off() or ping_pong() leaves alone at interval `seq`, if
  /// only one class of its pages: in address order and apart.
  Spans held(std::uint64_t seq) const;
  /// What back_off() or ping_pong() leaves alone at interval `seq`, whatever class its pages are
  /// of.
  LeftAlone left_alone(std::uint64_t seq) const;
  const MoveCounters& counters() const { return counters_; }
  const BackOff& back_off() const { return back_off_; }
  BackOff& back_off() { return back_off_; }
  const PingPong& ping_pong() const { return ping_pong_; }

 private:
  struct Step {
    policy::Move move;
    bool rises;
    unsigned idle = 0;  // tickets in a row in which it found no room and hardly anything moved
  };
  struct Ticket {
    std::uint64_t cookie;
    std::uint64_t plan;       // that it is of
    std::vector<Step> steps;  // in the order in which they run
    Spans spans;              // of these, in address order and apart
  };
  struct Ended {
    std::uint64_t time_ns;
    Spans spans;
  };

  /// With one thread to copy there is none for a second range.
  bool is_paired() const { return how_.flags & HMK_MOVE_PAIRED && how_.copy_threads != 1; }
  static Spans joined(Spans spans);
  void lead_by_a_piece();
  void enqueue(const policy::Move& promotion, std::span<const policy::Move> victims);
  Result<void> send();
  bool has_room() const;
  void send_next(std::span<const Step> steps);
  bool may_be_there(const policy::Move& move) const;
  void leave_what_is_there();
  std::vector<Step> parts_elsewhere(const Step& step);
  void account(const Step& step, hmk_range_result result, bool goes_on);
  Pace::Pair pair_of(const Step& step) const;
  void give_back(const Step& step, std::uint64_t bytes) const;

  Device& device_;
  Pace* pace_ = nullptr;
  CacheRoom* cache_room_ = nullptr;
  std::optional<Pace::Clock::time_point> held_until_;
  std::deque<Step> waiting_;
  std::optional<Ticket> in_flight_;
  std::vector<Ended> ended_;
  TierNodes tiers_;
  std::uint64_t seq_ = 0;
  MoveHow how_;
  std::uint64_t next_cookie_ = 1;
  std::uint64_t plan_ = 0;  // number of the one that is under way
  MoveCounters counters_;
  BackOff back_off_;
  PingPong ping_pong_;
  OnEnd on_end_ = [](const policy::Move&, const hmk_range_result&) {};
};

}  // namespace hmk

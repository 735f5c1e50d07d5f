// SPDX-License-Identifier: MIT
//
// One managed process, and what happens to it in an interval: step() reads the
// table, orders the tiers and ranks; take() accounts for its plan and moves.
// What lies between is decide.cpp: one plan over all processes.
//
//   Target target(pid, info, std::move(session));
//   target.handle_events(surroundings);        when its descriptor is readable
//   target.take(plan, surroundings);
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "device/device.hpp"
#include "follower.hpp"
#include "foretold.hpp"
#include "joiner.hpp"
#include "metrics/history.hpp"
#include "metrics/timeline.hpp"
#include "movable.hpp"
#include "mover/mover.hpp"
#include "pager.hpp"
#include "pinned.hpp"
#include "policy/balance.hpp"
#include "policy/plan.hpp"
#include "policy/rank.hpp"
#include "record/recording.hpp"
#include "shared_memory.hpp"
#include "topology/homes.hpp"
#include "topology/numa_balancing.hpp"
#include "topology/process.hpp"
#include "topology/tiers.hpp"
#include "util/cost_limit.hpp"

namespace hmk {

/// What all targets share; app.cpp owns it.
struct Surroundings {
  const Machine& machine;  ///< read once for all of them, before each decision
  const std::filesystem::path& root;
  Pace& pace;
  CacheRoom* cache_room = nullptr;  ///< null: the page cache is no room
  /// Of the time; one is the most that what rarely changes takes. 0: all is read each time.
  unsigned look_parts = 0;
  bool is_short_of_memory = false;  ///< nothing is promoted then, and nothing joined
  SharedMemory* shared = nullptr;   ///< null: each process for itself
};

/// What the last interval brought, for `status` and `top`.
struct LastInterval {
  hmk_interval interval{};
  std::uint64_t planned_promote_bytes = 0, planned_demote_bytes = 0;
  std::uint64_t promoted_bytes = 0, demoted_bytes = 0;  ///< moved while it was profiled
};

class Target {
 public:
  Target(std::int32_t pid, ProcessInfo process, Session session,
         std::shared_ptr<const Config> config);

  enum class State { alive, gone, stopped, broken };
  /// Take what the module has to say. gone: the address space has ended; stopped: it can
  /// no longer be profiled; broken: the session cannot go on (both logged). Never throws.
  State handle_events(const Surroundings& around);
  /// Start the moves that were planned from its last interval and those of the others.
  void take(policy::Plan plan, const Surroundings& around);
  /// The same for a plan that is made before its interval has ended: where nothing is in it of what
  /// the program says, what is under way goes on.
  void take_at_once(policy::Plan plan, const Surroundings& around);
  /// From now on.
  void configure(std::shared_ptr<const Config> config);
  /// What counts for this process.
  const Config& config() const { return *config_; }

  /// Send no more of the plan that is moving, and stop what is under way; join and page out no
  /// more.
  void stop_moves() {
    check(mover_.cancel());
    joiner_.stop();
    pager_.stop();
  }

  /// When to retry_moves() what the tiers' bandwidth holds back.
  auto held_until() const { return mover_.held_until(); }
  void retry_moves() { check(mover_.retry()); }

  Device& device() { return *session_.device; }
  std::int32_t pid() const { return pid_; }
  const ProcessInfo& process() const { return process_; }
  const Session& session() const { return session_; }
  /// The mode in force: a kernel that cannot move is only tracked.
  Mode mode() const;
  /// A mode of its own instead of the config's; none: the config's again.
  void hold(std::optional<Mode> mode);
  /// Until the next hold(), what was moved goes back to where it lay first, as far as that is
  /// remembered and there is room: at once, and what is left at each interval. Not in `manage`.
  void put_back(const Surroundings& around);

  /// A plan from a file instead of the policy's, or none.
  void follow(std::optional<Follower> follower);
  const std::optional<Follower>& follower() const { return follower_; }
  /// What it has to move now: of promotions and of demotions at most so many bytes.
  policy::Plan followed_plan(const Surroundings& around, policy::Bytes most);

  /// What is pinned and lies elsewhere: as much as may move in an interval.
  std::vector<policy::Ledger::Displaced> misplaced_pins(policy::Bytes most) const;
  /// Of its memory what is pinned, and by which pin of config().
  const std::vector<policy::Wanted>& pinned() const { return pinned_; }
  /// By pin of config(), as the last interval saw it.
  std::vector<Presence> pins_there() const;
  /// Of the last plan: what was pinned elsewhere and found no room beside what else is pinned.
  /// By a node of the tier.
  const std::map<policy::NodeId, policy::Bytes>& pinned_no_room() const { return pinned_no_room_; }

  /// What the program says of its memory now; nothing: it says nothing.
  void hear(std::vector<Hint> hints);
  const Foretold& foretold() const { return foretold_; }
  /// It has said something since the last decision that may let memory rise at once.
  bool has_news() const;

  /// Intervals since the last decision, and whether the next one should wait for one.
  unsigned new_intervals() const { return new_intervals_; }
  bool is_awaited() const { return is_awaited_; }
  /// Its first interval has passed: there is something to plan from.
  bool has_seen() const { return has_seen_; }
  /// Of the regions as its last interval saw them.
  const policy::Histogram& histogram() const { return ranking_.histogram(); }
  /// Before a plan: its tiers as the machine is now.
  void prepare(const Surroundings& around);
  /// And its regions as the program says they will be.
  void prepare_at_once(const Surroundings& around);
  /// The nodes of its tiers with what is free of them now.
  std::vector<policy::TierView> tier_views(const Surroundings& around) const;

  const std::optional<LastInterval>& last() const { return last_; }
  /// One record for each region.
  const Snapshot& snapshot() const { return snapshot_; }
  /// One for each class and node of a region whose pages differ, where that is known.
  std::span<const hmk_record> parts() const { return parts_.empty() ? snapshot_.records : parts_; }
  const std::vector<Tier>& tiers() const { return tiers_; }
  const std::set<int>& homes() const { return homes_.nodes(); }
  const Mover& mover() const { return mover_; }
  bool is_joining() const { return joiner_.is_busy(); }
  const JoinCounters& joins() const { return joiner_.counters(); }
  const Pager& pager() const { return pager_; }
  const History& history() const { return history_; }
  const Timeline& timeline() const { return timeline_; }
  /// Moves and pieces of them that ended between the end of the last interval and that before.
  const std::vector<RecordedMove>& ended_moves() const { return ended_moves_; }
  /// What its moves earn.
  const policy::Balance& balance() const { return balance_; }
  std::uint64_t planned_promote_bytes() const { return planned_promote_bytes_; }
  std::uint64_t planned_demote_bytes() const { return planned_demote_bytes_; }
  /// By node what has come since its last interval ended or is on its way, less what has gone.
  std::map<int, std::int64_t> arrived_since() const;
  /// Moved since its last interval ended.
  std::uint64_t moved_since_bytes() const {
    const MoveCounters& moved = mover_.counters();
    return moved.promoted_bytes + moved.demoted_bytes - promoted_before_ - demoted_before_;
  }
  std::uint64_t plans_replaced() const { return plans_replaced_; }
  const Movable::Stayed& stayed() const { return stayed_; }
  const NumaBalancing& numa_balancing() const { return numa_balancing_; }
  Result<hmk_stats> stats() { return session_.device->stats(); }
  /// Bytes per node; read from the kernel at most once per interval, and above 8 GiB as the module
  /// has counted them: a walk of the page tables would hold up all that hmkd does.
  const std::map<int, std::uint64_t>& resident(const std::filesystem::path& root);

  /// Where it runs, and its tiers as seen from there.
  void look_around(const Surroundings& around);

 private:
  void step(const Surroundings& around);
  bool is_pinned(const policy::Move& move) const;
  void look_at_pins(const Surroundings& around);
  void look_closely(const Surroundings& around);
  void share(const Surroundings& around, std::span<policy::RegionView> regions);
  std::uint64_t cpu_of_sharers(const Surroundings& around, std::uint64_t wall_ns) const;
  void judge_foretold(std::span<const policy::RegionView> regions);
  std::vector<policy::RegionView> foreseen(std::span<const policy::RegionView> regions) const;
  void rank(const std::vector<policy::RegionView>& measured);
  void weigh(const Surroundings& around, const policy::Balance::Seen& seen);
  void order_tiers(const Surroundings& around);
  /// Good until the next call.
  const std::vector<policy::RegionView>& part_views(Movable::Stayed* stayed,
                                                    const Surroundings& around);
  void doubt(const policy::Move& move, const hmk_range_result& result);
  void finish(const hmk_event& event);
  void move(const policy::Plan& plan, const Surroundings& around);
  MoveHow how_to_move(const policy::Plan& plan, const Machine& machine);
  void start_moves(const policy::Plan& plan, const Surroundings& around);
  void send_back(const Surroundings& around);
  void join(const policy::Plan& plan, const Surroundings& around);
  void page_out(const Surroundings& around);
  std::vector<policy::RegionView> last_tier_views() const;
  bool is_there(const policy::Join& join, const policy::Plan& plan);
  void account(const policy::Plan& plan);
  void serve_others(const policy::Plan& plan, const Surroundings& around);
  void tell_pins(const policy::Plan& plan);
  void spend();
  Moment moment(Mode mode) const;
  void check(const Result<void>& moved);

  std::int32_t pid_;
  ProcessInfo process_;
  Session session_;
  std::shared_ptr<const Config> config_;
  Mover mover_;
  Movable movable_;
  Joiner joiner_;
  Pager pager_;
  History history_;
  Timeline timeline_;
  std::vector<RecordedMove> ending_moves_, ended_moves_;  // since the last interval, and before it
  policy::Balance balance_;
  std::uint64_t weighed_ns_ = 0, weighed_cpu_ns_ = 0;  // end and CPU time of the last interval
  unsigned busy_threads_ = 1;  // of the process in the last interval, by its CPU time
  NumaBalancing numa_balancing_;
  CostLimit looks_;  // closely
  std::optional<Mode> held_;
  std::optional<Follower> follower_;
  Foretold foretold_;
  std::vector<policy::Expectation> told_;           ///< that the ranking counted
  std::vector<SharedMapping> shared_mappings_;      ///< where `shared` is on
  std::vector<policy::Wanted> pinned_, set_apart_;  ///< from the ranking: pinned, or left alone
  bool has_new_doubt_ = false;
  bool has_news_ = false;  ///< of the program
  std::map<policy::NodeId, policy::Bytes> pinned_no_room_;
  bool has_new_pins_ = false;  ///< that are not looked at yet
  bool is_putting_back_ = false;
  bool has_told_threads_ = false;  ///< that copy_threads is ignored

  Snapshot snapshot_, spare_;  ///< of the last interval, and memory for the next one
  std::vector<hmk_record> parts_;
  std::vector<policy::RegionView> part_views_;  ///< kept for its memory: tens of MiB an interval
  std::vector<Tier> tiers_;
  Homes homes_;
  policy::Ranking ranking_;
  policy::Histogram::Shape shape_{};
  std::vector<policy::NodeId> ranked_nodes_;
  unsigned new_intervals_ = 0;
  bool is_awaited_ = true, has_seen_ = false;

  std::optional<LastInterval> last_;
  std::uint64_t planned_promote_bytes_ = 0, planned_demote_bytes_ = 0, plans_replaced_ = 0;
  std::uint64_t promoted_before_ = 0, demoted_before_ = 0;
  Movable::Stayed stayed_;
  unsigned empty_wakeups_ = 0;
  std::optional<std::map<int, std::uint64_t>> resident_;
};

}  // namespace hmk

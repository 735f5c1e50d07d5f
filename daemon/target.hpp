// SPDX-License-Identifier: MIT
//
// One managed process, and what happens to it in an interval, read top to
// bottom in step(): read the table -> order the tiers -> plan -> move.
//
//   Target target(pid, info, std::move(session));
//   target.handle_events(surroundings);        when its descriptor is readable
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "device/device.hpp"
#include "metrics/history.hpp"
#include "mover/mover.hpp"
#include "policy/plan.hpp"
#include "policy/rank.hpp"
#include "topology/process.hpp"
#include "topology/tiers.hpp"

namespace hmk {

/// What all targets share; app.cpp owns it.
struct Surroundings {
  const Config& config;
  Machine& machine;
  const std::filesystem::path& root;
  std::size_t nr_targets;  ///< share promote_limit
};

/// What the last interval brought, for `status` and `top`.
struct LastInterval {
  hmk_interval interval{};
  std::uint64_t planned_promote_bytes = 0, planned_demote_bytes = 0;
  std::uint64_t promoted_bytes = 0, demoted_bytes = 0;  ///< moved while it was profiled
};

class Target {
 public:
  Target(std::int32_t pid, ProcessInfo process, Session session);

  enum class State { alive, gone, broken };
  /// Take what the module has to say. gone: the address space has ended;
  /// broken: the session cannot go on (logged). Never throws for either.
  State handle_events(const Surroundings& around);
  /// The mode or the tiers may have changed.
  void config_changed(const Config& config);

  /// Send no more of the plan that is moving.
  void abandon_moves() { mover_.abandon(); }

  Device& device() { return *session_.device; }
  std::int32_t pid() const { return pid_; }
  const ProcessInfo& process() const { return process_; }
  const Session& session() const { return session_; }
  /// The mode in force: a kernel that cannot move is only tracked.
  Mode mode(const Config& config) const;

  const std::optional<LastInterval>& last() const { return last_; }
  const Snapshot& snapshot() const { return snapshot_; }
  const std::vector<Tier>& tiers() const { return tiers_; }
  int home() const { return home_; }
  const Mover& mover() const { return mover_; }
  const History& history() const { return history_; }
  std::uint64_t planned_promote_bytes() const { return planned_promote_bytes_; }
  std::uint64_t planned_demote_bytes() const { return planned_demote_bytes_; }
  std::uint64_t plans_replaced() const { return plans_replaced_; }
  Result<hmk_stats> stats() { return session_.device->stats(); }
  /// Bytes per node; read from the kernel at most once per interval.
  const std::map<int, std::uint64_t>& resident(const std::filesystem::path& root);

  /// Order the tiers as this process sees them now.
  void look_around(const Surroundings& around);

 private:
  void step(const Surroundings& around);
  policy::Plan plan(const Surroundings& around);
  std::vector<policy::RegionView> region_views() const;
  std::vector<policy::TierView> tier_views(const Config& config) const;
  void move(const policy::Plan& plan, const Surroundings& around);
  void account(const policy::Plan& plan);
  void check(const Result<void>& moved);

  std::int32_t pid_;
  ProcessInfo process_;
  Session session_;
  Mover mover_;
  History history_;

  Snapshot snapshot_;
  std::vector<Tier> tiers_;
  int home_ = -1;
  policy::Ranking ranking_;
  policy::Histogram::Shape shape_{};
  std::vector<policy::NodeId> ranked_nodes_;

  std::optional<LastInterval> last_;
  std::uint64_t planned_promote_bytes_ = 0, planned_demote_bytes_ = 0, plans_replaced_ = 0;
  std::uint64_t promoted_before_ = 0, demoted_before_ = 0;
  unsigned empty_wakeups_ = 0;
  std::optional<std::map<int, std::uint64_t>> resident_;
};

}  // namespace hmk

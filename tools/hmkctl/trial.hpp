// SPDX-License-Identifier: MIT
//
// A process watched for a while without moving anything. hmkd holds it in track-only as long as
// this program is connected, and puts everything back when it ends, however it ends.
//
//   Trial trial(context, {.pid = 4711, .time = 60s});
//   if (const auto trouble = trial.watch(progress)) return fail(context, *trouble);
//   const Outlook outlook = look_ahead(trial.seen());
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "outlook.hpp"
#include "watch.hpp"

namespace hmkctl {

class Trial {
 public:
  Trial(const Context& context, const WatchOptions& options)
      : context_(context), options_(options), held_(context.socket), target_{options.pid, ""} {}

  /// Called when it begins, and after each interval, with what has passed of the time.
  using Progress = std::function<void(const hmk::RecordedTarget&, std::chrono::nanoseconds)>;
  /// Until the time is over or a signal asks to end; none when at least one interval was seen.
  std::optional<Reply> watch(const Progress& progress);

  const hmk::RecordedTarget& target() const { return target_; }
  const Seen& seen() const { return seen_; }
  /// The last answer of `tiers`: what a row of seen().tiers is about.
  const nlohmann::json& tiers() const { return tiers_; }
  /// From the begin of the first interval seen to the end of the last.
  std::uint64_t time_ns() const { return end_ns_ - start_ns_; }

 private:
  std::optional<Reply> watch_held(const Progress& progress);
  std::optional<Reply> ask_tiers();
  void add(const nlohmann::json& row);
  void take_in_tiers();

  const Context& context_;
  WatchOptions options_;
  Connection held_;
  hmk::RecordedTarget target_;
  nlohmann::json tiers_;
  Seen seen_;
  std::uint64_t start_ns_ = 0, end_ns_ = 0;
};

/// What `try --json` prints.
nlohmann::json trial_json(const Trial& trial, const Outlook& outlook);
/// An outlook as `try --json` prints it and `report` shows it: {tiers[], curve[]}.
nlohmann::json outlook_json(const Outlook& outlook, const nlohmann::json& tiers);

/// Index of a node's tier in the rows of `tiers`; -1 outside all of them.
int tier_of(const nlohmann::json& tiers, int node);
/// Of the rows of `tiers`.
std::vector<SeenTier> seen_tiers(const nlohmann::json& tiers);
/// What stands for one row of `regions`; `tiers`: of `tiers`.
SeenInterval seen_interval(const nlohmann::json& row, const nlohmann::json& tiers);

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
//
// One process watched over hmkd's socket: each interval as a frame, once.
//
//   Watch watch(context, {.pid = 4711, .intervals = 12});
//   while (std::optional<RecordedFrame> frame = watch.next()) use(*frame);
//   if (watch.trouble()) return fail(context, *watch.trouble());
#pragma once

#include <chrono>
#include <optional>

#include "mappings.hpp"
#include "record/recording.hpp"
#include "verb.hpp"

namespace hmkctl {

struct WatchOptions {
  int pid = 0;  ///< 0: the only one there is
  std::uint64_t intervals = UINT64_MAX;
  std::chrono::nanoseconds time = std::chrono::nanoseconds::max();
};

class Watch {
 public:
  /// Asks for the process; trouble() when there is none or more than one.
  Watch(const Context& context, const WatchOptions& options);

  const hmk::RecordedTarget& target() const { return target_; }
  /// The next interval that ends. None after the time or the intervals are over, after
  /// SIGINT or SIGTERM, when the process has ended, or in trouble.
  std::optional<hmk::RecordedFrame> next();
  /// The same as hmkd tells it: the target's row of `regions`, with all of them.
  std::optional<nlohmann::json> next_row();
  /// hmkd manages it no longer: it has ended, or can be watched no more.
  bool has_ended() const { return has_ended_; }
  /// Why it could not go on, to be told to the user.
  const std::optional<Reply>& trouble() const { return trouble_; }

 private:
  /// The target's row of `regions`, at most `limit` of them; null in trouble or at its end.
  nlohmann::json ask_target(int limit);
  bool wait() const;

  const Context& context_;
  WatchOptions options_;
  std::chrono::steady_clock::time_point end_;
  std::chrono::nanoseconds pause_{0};
  hmk::RecordedTarget target_;
  std::uint64_t seen_ = 0, seq_ = 0;
  bool has_ended_ = false;
  std::optional<Reply> trouble_;
};

/// A row of next_row() as it is recorded.
hmk::RecordedFrame frame_of(const nlohmann::json& row);

/// Rows of `tiers` as they are recorded.
std::vector<hmk::RecordedTier> recorded_tiers(const nlohmann::json& tiers);
/// Tiers and mappings now; what cannot be had is empty. `root`: where /proc is.
hmk::RecordedContext context_of(const Context& context, const std::string& root,
                                const hmk::RecordedTarget& target);

/// --for and --intervals.
void add_time_options(CLI::App& verb, WatchOptions& options);
/// --pid, --for and --intervals.
void add_watch_options(CLI::App& verb, WatchOptions& options);

/// Ctrl-C, SIGTERM and SIGHUP end next() from now on instead of the program.
void end_watch_on_signals();
/// How many of them have come since.
unsigned signals_seen();

}  // namespace hmkctl

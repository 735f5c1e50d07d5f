// SPDX-License-Identifier: MIT
// What all loads have in common: fill, say what is hot, wait, work, report, verify.
//
//   Stage stage(options);                       // takes --hold, --for, --ops, ... from them
//   stage.ready(memory, hot);                   // filled; prints, places if asked, waits if held
//   do {
//     if (stage.jump_is_due()) stage.jump(draw_another_hot_set());
//     work(64);
//   } while (stage.goes_on(64));
//   return stage.end(wrong_values);
//
// The lines it prints are described in README.md.
#ifndef HMK_LOAD_STAGE_HPP
#define HMK_LOAD_STAGE_HPP

#include <x86intrin.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gaps.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "place.hpp"

namespace hmk::load {

/// Whether a stage of a load whose truth is known takes --jump-* and --place.
enum class Truth { kKnown, kUnknown };

class Stage {
 public:
  static constexpr const char* kUsage =
      "Every load: --hold and --hold-end wait for a line on stdin before and after the work; ends\n"
      "after --for TIME, --ops N (or --updates N) or SIGTERM; --rate N: no more operations a "
      "second;\n"
      "--no-check leaves out the verification.\n"
      "JSON lines on stdout; exit code 0, 1 (a value was wrong, or the load failed), 2 (usage).";

  Stage(Options& options, Truth truth);

  /// Memory is filled; without a range it is another program's.
  void ready(std::optional<Range> memory = std::nullopt);
  /// With --place truth and one jump to come, `hot_next` is put in place, too: placing costs time.
  void ready(Range memory, const std::vector<Range>& hot, std::uint64_t page_bytes,
             const std::vector<Range>& hot_next);

  /// Call after each small batch of operations. False: stop now.
  bool goes_on(std::uint64_t ops) { return goes_on(ops, last_); }
  /// The same for a batch that began at `since`, by now(), before the last one ended.
  bool goes_on(std::uint64_t ops, std::uint64_t since) {
    ops_ += ops;
    const std::uint64_t now = Stage::now();
    gaps_.add(std::max(now, since) - since);
    last_ = now;
    return now < look_at_ && ops_ < max_ops_ && !stop_asked ? true : look();
  }

  static std::uint64_t now() { return __rdtsc(); }

  /// Puts what `more` returns, as ', "name": value', into each line of the work.
  void add_to_runs(std::function<std::string()> more) { more_ = std::move(more); }

  bool keeps_rate() const { return max_ops_per_second_ != 0; }

  bool jump_is_due() const { return is_jump_due_; }
  void jump(const std::vector<Range>& hot);

  bool checks() const { return checks_; }
  std::uint64_t ops() const { return ops_; }
  /// Work is over, verification may follow.
  void over();
  /// Prints the last line, `more` at its end, and returns the exit code.
  int end(std::uint64_t wrong_values, const std::string& more = "");

 private:
  using Clock = std::chrono::steady_clock;

  static volatile std::sig_atomic_t stop_asked;

  void say_ready(std::optional<Range> memory) const;
  void say_truth(const std::vector<Range>& hot, std::int64_t at_ms) const;
  void put_in_place(const std::vector<Range>& hot) const;
  bool jumps_once() const { return jump_after_.count() != 0 && jump_every_.count() == 0; }
  void begin();
  void keep_rate();
  bool look();

  bool is_held_, is_held_at_end_, checks_, is_jump_due_ = false;
  std::chrono::milliseconds for_, jump_after_{}, jump_every_{};
  std::uint64_t max_ops_, max_ops_per_second_;
  std::optional<PlaceOptions> placing_;
  Range memory_{};
  std::function<std::string()> more_ = [] { return std::string(); };
  std::uint64_t page_bytes_ = kPage;

  // The clock of a guest can be a device that takes thousands of instructions to read: gaps are
  // told in ticks of the CPU, and the clock is asked every few milliseconds of them.
  const Clock::time_point made_ = Clock::now();
  const std::uint64_t made_ticks_ = now();
  std::uint64_t last_ = 0, look_at_ = 0;
  Clock::time_point began_, report_at_;
  std::optional<Clock::time_point> jump_at_;
  std::uint64_t ops_ = 0;
  bool is_over_ = false;
  Gaps gaps_;
};

}  // namespace hmk::load

#endif

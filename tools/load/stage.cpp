// SPDX-License-Identifier: MIT
#include "stage.hpp"

#include <unistd.h>

#include <cstdio>
#include <thread>
#include <utility>

namespace hmk::load {
namespace {

void wait_for_line() {
  char c = 0;
  while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n') continue;
}

PlaceOptions read_placing(Options& options) {
  const std::uint64_t reserve = options.bytes("--reserve", 24ull << 20);
  PlaceOptions placing{options.numbers("--nodes", "0,1,2,3", "the fastest first"), reserve};
  if (placing.nodes.empty()) options.fail("--nodes: no node given");
  return placing;
}

}  // namespace

volatile std::sig_atomic_t Stage::stop_asked = 0;

Stage::Stage(Options& options, Truth truth)
    : is_held_(options.flag("--hold")),
      is_held_at_end_(options.flag("--hold-end")),
      checks_(!options.flag("--no-check")),
      for_(options.milliseconds("--for", 0)),
      max_ops_(options.number("--updates", options.number("--ops", 0))),
      max_ops_per_second_(options.number("--rate", 0)) {
  if (max_ops_ == 0) max_ops_ = UINT64_MAX;
  if (truth == Truth::kKnown) {
    jump_after_ = std::chrono::milliseconds(options.milliseconds("--jump-after", 0));
    jump_every_ = std::chrono::milliseconds(options.milliseconds("--jump-every", 0));
    if (jump_after_.count() == 0) jump_after_ = jump_every_;
    const PlaceOptions placing = read_placing(options);
    const std::string place = options.text("--place", "none");
    if (place == "truth") placing_ = placing;
    if (place != "truth" && place != "none")
      options.fail("--place " + place + ": want truth or none");
  }
  struct sigaction action {};
  action.sa_handler = [](int) { stop_asked = 1; };  // no SA_RESTART: ends a wait for a line, too
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

void Stage::ready(std::optional<Range> memory) {
  say_ready(memory);
  begin();
}

void Stage::ready(Range memory, const std::vector<Range>& hot, std::uint64_t page_bytes,
                  const std::vector<Range>& hot_next) {
  memory_ = memory;
  page_bytes_ = page_bytes;
  std::vector<Range> soon = hot;
  if (jumps_once()) soon.insert(soon.end(), hot_next.begin(), hot_next.end());
  put_in_place(soon);
  say_ready(memory);
  say_truth(hot, 0);
  begin();
}

void Stage::jump(const std::vector<Range>& hot) {
  is_jump_due_ = false;
  const auto due = Clock::now();
  if (!jumps_once()) put_in_place(hot);
  say_truth(hot, (due - began_) / std::chrono::milliseconds(1));
  // Placing and printing are no work of the application's: neither a gap nor a part of its time.
  const auto lost = Clock::now() - due;
  began_ += lost;
  report_at_ += lost;
  if (jump_at_) *jump_at_ += lost;
  last_ = now();
}

void Stage::say_ready(std::optional<Range> memory) const {
  std::printf("{\"verb\": \"ready\", \"pid\": %d", getpid());
  if (memory) std::printf(", \"start\": %lu, \"length\": %lu", memory->start, memory->length);
  std::printf("}\n");
  std::fflush(stdout);
}

void Stage::put_in_place(const std::vector<Range>& hot) const {
  if (!placing_) return;
  const Placed placed = place(memory_, hot, page_bytes_, *placing_);
  std::printf("{\"verb\": \"placed\", \"pages\": %lu, \"ms\": %.1f}\n", placed.pages, placed.ms);
  std::fflush(stdout);
}

void Stage::say_truth(const std::vector<Range>& hot, std::int64_t at_ms) const {
  std::printf(
      "{\"verb\": \"truth\", \"pid\": %d, \"start\": %lu, \"length\": %lu, \"at_ms\": %ld, "
      "\"hot\": [",
      getpid(), memory_.start, memory_.length, at_ms);
  for (std::size_t i = 0; i < hot.size(); ++i)
    std::printf("%s[%lu, %lu]", i == 0 ? "" : ", ", hot[i].start, hot[i].length);
  std::printf("]}\n");
  std::fflush(stdout);
}

void Stage::begin() {
  if (is_held_) wait_for_line();
  began_ = Clock::now();
  last_ = now();
  report_at_ = began_ + std::chrono::seconds(1);
  if (jump_after_.count() != 0) jump_at_ = began_ + jump_after_;
}

/// Whoever is ahead of the rate sleeps; that is no gap.
void Stage::keep_rate() {
  if (max_ops_per_second_ == 0) return;
  const std::chrono::duration<double> least(static_cast<double>(ops_) /
                                            static_cast<double>(max_ops_per_second_));
  std::this_thread::sleep_until(began_ + std::chrono::duration_cast<Clock::duration>(least));
  last_ = now();
}

bool Stage::look() {
  keep_rate();
  const auto now = Clock::now();
  const std::chrono::duration<double, std::milli> ms = now - made_;
  const double ticks_per_ms = static_cast<double>(last_ - made_ticks_) / ms.count();
  look_at_ = last_ + static_cast<std::uint64_t>(5 * ticks_per_ms);
  if (now >= report_at_) {
    std::printf("{\"verb\": \"run\", \"ops\": %lu%s}\n", ops_, more_().c_str());
    std::fflush(stdout);
    while (report_at_ <= now) report_at_ += std::chrono::seconds(1);
  }
  if (jump_at_ && now >= *jump_at_) {
    is_jump_due_ = true;
    jump_at_.reset();
    if (jump_every_.count() != 0) jump_at_ = now + jump_every_;
  }
  return !stop_asked && ops_ < max_ops_ && (for_.count() == 0 || now - began_ < for_);
}

void Stage::over() {
  if (std::exchange(is_over_, true)) return;
  std::printf("{\"verb\": \"over\", \"ops\": %lu}\n", ops_);
  std::fflush(stdout);
  if (is_held_at_end_) wait_for_line();
}

int Stage::end(std::uint64_t wrong_values, const std::string& more) {
  over();
  const std::chrono::duration<double, std::micro> us = Clock::now() - made_;
  const double us_per_tick = us.count() / static_cast<double>(now() - made_ticks_);
  const auto in_us = [&](std::uint64_t ticks) { return static_cast<double>(ticks) * us_per_tick; };
  std::printf(
      "{\"verb\": \"end\", \"ops\": %lu, \"wrong_values\": %lu, \"gap_p50_us\": %.1f, "
      "\"gap_p99_us\": %.1f, \"gap_max_us\": %.1f, \"gaps\": %lu%s}\n",
      ops_, wrong_values, in_us(gaps_.quantile(0.5)), in_us(gaps_.quantile(0.99)),
      in_us(gaps_.longest()), gaps_.count(), more.c_str());
  std::fflush(stdout);
  return wrong_values == 0 ? 0 : 1;
}

}  // namespace hmk::load

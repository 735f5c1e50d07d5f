// SPDX-License-Identifier: MIT
#include "crossover.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <numeric>

#include "watch.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

constexpr int kDefaultIntervals = 6;
constexpr int kPatience = 3;  // intervals in which nothing comes back

Reply trouble_of(const hmk::Error& error) {
  return {kFailed, error};
}

const char* mode_of(Arm arm) {
  return arm == Arm::watch ? "track-only" : "manage";
}

}  // namespace

Crossover::Crossover(const Context& context, const CrossoverOptions& options, Meter& meter)
    : context_(context), options_(options), meter_(meter), held_(context.socket) {}

bool Crossover::is_stopped() const {
  return signals_seen() > signals_;
}

std::optional<Reply> Crossover::run(Comparison& comparison, const std::function<void()>& began,
                                    const Shown& shown) {
  // Before anything else: what cannot be read must change nothing.
  if (const auto first = meter_.read(); !first) return trouble_of(first.error());
  if (auto trouble = look_around()) return trouble;
  if (auto trouble = hold(Arm::watch)) return trouble;
  began();
  auto trouble = run_blocks(comparison, shown);
  if (trouble && trouble->exit_code != kFailed) return trouble;
  if (auto gone = look_at_process()) return gone;  // which is why a metric fails
  signals_ = signals_seen();                       // another one ends this, too
  const auto not_back = was_managed_ ? std::nullopt : put_back();
  return trouble ? trouble : not_back;
}

/// What hmkd does, and with this process.
std::optional<Reply> Crossover::look_around() {
  const Reply status = ask(context_.socket, "status", {});
  if (status.exit_code != kOk) return status;
  interval_ =
      std::chrono::nanoseconds(status.data.at("daemon").at("interval_ns").get<std::int64_t>());
  for (const json& target : status.data.at("targets"))
    if (target.at("pid") == options_.pid) was_managed_ = target.at("mode") == "manage";
  if (options_.block.count() == 0) options_.block = kDefaultIntervals * interval_;
  if (options_.settle.count() < 0) options_.settle = kDefaultIntervals * interval_;
  return std::nullopt;
}

std::optional<Reply> Crossover::run_blocks(Comparison& comparison, const Shown& shown) {
  while (const auto arm = comparison.next()) {
    if (auto trouble = hold(*arm)) return trouble;
    if (auto trouble = settle(*arm)) return trouble;
    Block block{.arm = *arm, .displaced_bytes = displaced_bytes_};
    std::vector<double> parts;
    if (auto trouble = measure(parts)) return trouble;
    if (is_stopped()) return std::nullopt;
    block.figure = std::accumulate(parts.begin(), parts.end(), 0.0) / kParts;
    if (!(block.figure > 0))
      return trouble_of(
          {"the figure " + meter_.name() + " was " + to_text(block.figure, Unit::decimal) +
               " in a whole block",
           "a change in percent needs figures above 0; name another metric, or a longer --block"});
    comparison.add(parts);
    blocks_.push_back(block);
    shown(block);
  }
  return std::nullopt;
}

std::optional<Reply> Crossover::hold(Arm arm) {
  const Reply held = held_.ask(
      "hold", {{"pid", options_.pid}, {"mode", mode_of(arm)}, {"put_back", arm == Arm::watch}});
  if (held.exit_code != kOk) return held;
  const json& target = held.data.at("target");
  comm_ = target.at("comm");
  if (target.at("mode") != mode_of(arm))
    return trouble_of({"hmkd cannot move the memory of PID " + std::to_string(options_.pid) +
                           ", so there is nothing to compare",
                       "'hmkctl doctor' says what is missing"});
  return look_at_process();
}

/// Whether it is there, and how much of it lies elsewhere than at first.
std::optional<Reply> Crossover::look_at_process() {
  Reply gain = ask(context_.socket, "gain", {{"pid", options_.pid}});
  if (gain.exit_code == kFailed)
    gain.problem = {
        "PID " + std::to_string(options_.pid) + " has ended, or hmkd can manage it no longer",
        "its log says why"};
  if (gain.exit_code != kOk) return gain;
  displaced_bytes_ = gain.data.at("targets").at(0).at("displaced_bytes");
  return std::nullopt;
}

std::optional<Reply> Crossover::wait_until(Clock::time_point until) {
  using std::chrono::milliseconds;
  const auto often = std::clamp(std::chrono::duration_cast<milliseconds>(interval_ / 4),
                                milliseconds(5), milliseconds(1000));
  while (!is_stopped() && Clock::now() < until) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    ::poll(nullptr, 0, static_cast<int>(std::min(left, often).count()));
    if (auto trouble = look_at_process()) return trouble;
  }
  return std::nullopt;
}

std::optional<Reply> Crossover::settle(Arm arm) {
  if (auto trouble = wait_until(Clock::now() + options_.settle)) return trouble;
  return arm == Arm::watch ? wait_until_back() : std::nullopt;
}

/// For as long as something comes back.
std::optional<Reply> Crossover::wait_until_back() {
  std::uint64_t least = UINT64_MAX;
  for (int idle = 0; displaced_bytes_ > 0 && idle < kPatience && !is_stopped();) {
    idle = displaced_bytes_ < least ? 0 : idle + 1;
    least = std::min(least, displaced_bytes_);
    if (auto trouble = wait_until(Clock::now() + interval_)) return trouble;
  }
  return std::nullopt;
}

std::optional<Reply> Crossover::put_back() {
  auto trouble = hold(Arm::watch);
  if (!trouble) trouble = wait_until_back();
  left_bytes_ = displaced_bytes_;
  return trouble;
}

std::optional<Reply> Crossover::measure(std::vector<double>& parts) {
  const Clock::time_point begin = Clock::now();
  auto before = meter_.is_total() ? meter_.read() : Reading{};
  for (unsigned part = 1; before && part <= kParts && !is_stopped(); ++part) {
    if (auto trouble = wait_until(begin + options_.block * part / kParts)) return trouble;
    if (is_stopped()) break;
    auto now = meter_.read();
    if (!now) return is_stopped() ? std::nullopt : std::optional(trouble_of(now.error()));
    const auto figure =
        meter_.is_total() ? figure_between(meter_, *before, *now) : hmk::Result<double>(now->value);
    if (!figure) return trouble_of(figure.error());
    parts.push_back(*figure);
    before = now;
  }
  if (!before && !is_stopped()) return trouble_of(before.error());
  return std::nullopt;
}

}  // namespace hmkctl

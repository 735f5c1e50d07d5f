// SPDX-License-Identifier: MIT
#include "watch.hpp"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>

namespace hmkctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop_asked = 0;

Reply no_single_target(const json& targets) {
  if (targets.empty())
    return {kFailed, {"hmkd manages no process", "attach one with 'hmkctl attach PID'"}};
  std::string pids;
  for (const json& target : targets) pids += " " + target["pid"].dump();
  return {kUsage, {"hmkd manages several processes:" + pids, "name one with --pid"}};
}

std::uint32_t to_q8(const json& value) {
  return static_cast<std::uint32_t>(std::lround(std::max(value.get<double>(), 0.0) * 256));
}

/// An older hmkd tells no rates of the past.
std::int32_t to_rate_q4(const json& value) {
  const double rate = value.is_number() ? value.get<double>() : 0;
  return rate > 0 ? static_cast<std::int32_t>(std::lround(16 * std::log2(rate)))
                  : hmk::RecordedRegion::kNoRate;
}

hmk::RecordedRegion region_of(const json& row) {
  return {.start = row.at("start"),
          .length = row.at("length"),
          .hi_q8 = to_q8(row.at("hi")),
          .whi_q8 = to_q8(row.at("whi")),
          .node = row.at("node"),
          .resident_pages = row.at("resident_bytes").get<std::uint64_t>() / 4096,
          .rate_q4 = to_rate_q4(row.value("rate", json()))};
}

}  // namespace

hmk::RecordedFrame frame_of(const json& target) {
  hmk::RecordedFrame frame{target.at("seq"), target.at("start_ns"), target.at("end_ns"),
                           target.at("hotness_max")};
  for (const json& row : target.at("regions")) frame.regions.push_back(region_of(row));
  std::ranges::sort(frame.regions, {}, &hmk::RecordedRegion::start);
  return frame;
}

std::vector<hmk::RecordedTier> recorded_tiers(const json& tiers) {
  std::vector<hmk::RecordedTier> out;
  for (const json& tier : tiers) {
    const json latency = tier.value("latency_ns", json());
    out.push_back({tier.at("nodes").get<std::vector<std::int32_t>>(),
                   latency.is_number() ? latency.get<std::uint32_t>() : 0});
  }
  return out;
}

hmk::RecordedContext context_of(const Context& context, const std::string& root,
                                const hmk::RecordedTarget& target) {
  const Reply tiers = ask(context.socket, "tiers", {{"pid", target.pid}});
  return {{recorded_tiers(tiers.data.value("tiers", json::array()))},
          mappings_of(root, target.pid, target.comm).all()};
}

void add_watch_options(CLI::App& verb, WatchOptions& options) {
  verb.add_option("--pid", options.pid, "this process (default: the only one)");
  add_time_options(verb, options);
}

void add_time_options(CLI::App& verb, WatchOptions& options) {
  static const std::map<std::string, double> kSeconds{
      {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
  verb.add_option_function<double>(
          "--for",
          [&options](const double& seconds) {
            options.time = std::chrono::nanoseconds(std::llround(seconds * 1e9));
          },
          "end after this time, for example 10min")
      ->transform(CLI::AsNumberWithUnit(kSeconds, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(CLI::PositiveNumber);
  verb.add_option("--intervals", options.intervals, "end after so many intervals")
      ->check(CLI::PositiveNumber);
}

void end_watch_on_signals() {
  struct sigaction action {};
  // Without SA_RESTART: poll() returns.
  action.sa_handler = [](int) { stop_asked = stop_asked + 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

unsigned signals_seen() {
  return static_cast<unsigned>(stop_asked);
}

Watch::Watch(const Context& context, const WatchOptions& options)
    : context_(context), options_(options) {
  const Clock::time_point now = Clock::now();
  end_ = options.time < Clock::time_point::max() - now
             ? now + std::chrono::duration_cast<Clock::duration>(options.time)
             : Clock::time_point::max();
  const Reply status = ask(context.socket, "status", {});
  if (status.exit_code != kOk) {
    trouble_ = status;
    return;
  }
  json targets = status.data.at("targets");
  if (options_.pid != 0)
    std::erase_if(targets.get_ref<json::array_t&>(),
                  [&](const json& target) { return target.at("pid") != options_.pid; });
  if (targets.size() != 1) {
    trouble_ = options_.pid == 0
                   ? no_single_target(targets)
                   : Reply{kFailed,
                           {"PID " + std::to_string(options_.pid) + " is not managed",
                            "attach it with 'hmkctl attach " + std::to_string(options_.pid) + "'"}};
    return;
  }
  target_ = {targets[0].at("pid"), targets[0].at("comm")};
  // Asks four times per interval, so that none is missed.
  pause_ =
      std::chrono::nanoseconds(status.data.at("daemon").at("interval_ns").get<std::int64_t>() / 4);
}

json Watch::ask_target(int limit) {
  const Reply reply = ask(context_.socket, "regions", {{"pid", target_.pid}, {"limit", limit}});
  if (reply.exit_code == kOk && !reply.data.at("targets").empty())
    return reply.data.at("targets")[0];
  // Once it has been seen, kFailed says that the process has ended.
  has_ended_ = reply.exit_code == kFailed && seen_ != 0;
  if (!has_ended_) trouble_ = reply;
  return {};
}

bool Watch::wait() const {
  using std::chrono::milliseconds;
  const auto left = std::chrono::duration_cast<milliseconds>(end_ - Clock::now());
  const auto pause = std::chrono::duration_cast<milliseconds>(pause_);
  if (stop_asked != 0 || left.count() <= 0) return false;
  ::poll(nullptr, 0,
         static_cast<int>(
             std::clamp(std::min(pause, left), milliseconds(1), milliseconds(1000)).count()));
  return stop_asked == 0;
}

std::optional<hmk::RecordedFrame> Watch::next() {
  if (const auto row = next_row()) return frame_of(*row);
  return std::nullopt;
}

std::optional<json> Watch::next_row() {
  if (trouble_ || seen_ == options_.intervals) return std::nullopt;
  do {
    const json news = ask_target(1);  // all regions only when there is news
    if (news.is_null()) return std::nullopt;
    if (const std::uint64_t seq = news.at("seq"); seq == 0 || seq == seq_) continue;
    json target = ask_target(0);
    if (target.is_null()) return std::nullopt;
    seq_ = target.at("seq");
    ++seen_;
    return target;
  } while (wait());
  return std::nullopt;
}

}  // namespace hmkctl

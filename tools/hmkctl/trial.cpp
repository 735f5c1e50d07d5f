// SPDX-License-Identifier: MIT
#include "trial.hpp"

#include <algorithm>

#include "util/clock.hpp"
#include "util/file.hpp"
#include "verdict_text.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// CPU time of the process so far; 0 where the PID is another's here (of another namespace).
double cpu_ns(const hmk::RecordedTarget& target) {
  const auto comm = hmk::read_text("/proc/" + std::to_string(target.pid) + "/comm");
  const auto used = hmk::cpu_time_of(target.pid);
  if (comm.value_or("") != target.comm + "\n" || !used) return 0;
  return static_cast<double>(used->count());
}

double number(const json& value) {
  return value.is_number() ? value.get<double>() : 0;
}

}  // namespace

int tier_of(const json& tiers, int node) {
  for (const json& tier : tiers)
    for (const json& one : tier.at("nodes"))
      if (one == node) return tier.at("tier").get<int>() - 1;
  return -1;
}

SeenInterval seen_interval(const json& row, const json& tiers) {
  SeenInterval interval;
  for (const json& region : row.at("regions"))
    interval.push_back({.start = region.at("start"),
                        .length = region.at("length"),
                        .bytes = region.at("resident_bytes"),
                        .away_bytes = region.at("away_bytes"),
                        .tier = region.at("tier").is_null() ? -1 : region.at("tier").get<int>() - 1,
                        .away_tier = tier_of(tiers, region.at("away_node")),
                        // Where no access was ever seen, the rate is a bound and not a finding.
                        .rate = number(region.at("whi")) > 0 ? number(region.at("rate")) : 0,
                        .leaf_bytes = region.at("leaf_bytes")});
  std::ranges::sort(interval, {}, &SeenRegion::start);
  return interval;
}

json outlook_json(const Outlook& outlook, const json& tiers) {
  json rows = json::array(), curve = json::array();
  for (std::size_t t = 0; t < outlook.tiers.size(); ++t) {
    const Serving& here = outlook.tiers[t];
    rows.push_back({{"tier", t + 1},
                    {"nodes", tiers[t].at("nodes")},
                    {"latency_ns", tiers[t].at("latency_ns")},
                    {"resident_bytes", here.resident_bytes},
                    {"room_bytes", here.room_bytes},
                    {"now_percent", 100 * here.now},
                    {"best_percent", 100 * here.best}});
  }
  for (const SizeCurve::Corner& corner : outlook.curve.outline(100))
    curve.push_back({{"bytes", corner.bytes}, {"share_percent", 100 * corner.share}});
  return {{"tiers", std::move(rows)}, {"curve", std::move(curve)}};
}

json trial_json(const Trial& trial, const Outlook& outlook) {
  const auto known = [](const std::optional<double>& value, double factor = 1) {
    return value ? json(*value * factor) : json();
  };
  const bool is_seen = !trial.seen().intervals.empty();
  const std::uint64_t resident = trial.seen().resident_bytes;
  json answer = outlook_json(outlook, trial.tiers());
  answer["trial"] = {{"pid", trial.target().pid},
                     {"comm", is_seen ? json(trial.target().comm) : json()},
                     {"intervals", is_seen ? json(trial.seen().intervals.size()) : json()},
                     {"time_ns", is_seen ? json(trial.time_ns()) : json()},
                     {"verdict", verdict_name(outlook.verdict)},
                     {"text", verdict_text(outlook)},
                     {"remedy", verdict_remedy(outlook, trial.target().pid)},
                     {"accesses_per_second", is_seen ? json(outlook.curve.rate()) : json()},
                     {"measured_bytes", is_seen ? json(outlook.measured_bytes) : json()},
                     {"resident_bytes", resident == 0 ? json() : json(resident)},
                     {"huge_percent", is_seen ? json(100 * outlook.huge) : json()},
                     {"kept_percent", known(outlook.kept, 100)},
                     {"latency_now_ns", known(outlook.latency_now_ns)},
                     {"latency_best_ns", known(outlook.latency_best_ns)},
                     {"saved_ns_per_second", known(outlook.saved_ns_per_s)}};
  return answer;
}

std::vector<SeenTier> seen_tiers(const json& tiers) {
  std::vector<SeenTier> seen;
  for (const json& tier : tiers) {
    const std::uint64_t free =
        tier.at("free_bytes").get<std::uint64_t>() + tier.value("cache_bytes", std::uint64_t{0});
    const std::uint64_t reserve = tier.at("reserve_bytes");
    seen.push_back({static_cast<std::uint32_t>(number(tier.at("latency_ns"))),
                    free - std::min(free, reserve)});
  }
  return seen;
}

std::optional<Reply> Trial::ask_tiers() {
  const Reply reply = ask(context_.socket, "tiers", {{"pid", options_.pid}});
  if (reply.exit_code != kOk) return reply;
  tiers_ = reply.data.at("tiers");
  return std::nullopt;
}

void Trial::add(const json& row) {
  seen_.intervals.push_back(seen_interval(row, tiers_));
  if (seen_.intervals.size() == 1) start_ns_ = row.at("start_ns");
  end_ns_ = row.at("end_ns");
}

void Trial::take_in_tiers() {
  seen_.tiers = seen_tiers(tiers_);
  const Reply status = ask(context_.socket, "status", {});
  for (const json& target : status.data.value("targets", json::array()))
    if (target.at("pid") == options_.pid)
      for (const json& tier : target.at("tiers"))
        seen_.resident_bytes += tier.at("resident_bytes").get<std::uint64_t>();
}

std::optional<Reply> Trial::watch(const Progress& progress) {
  const Reply held = held_.ask("hold", {{"pid", options_.pid}, {"mode", "track-only"}});
  if (held.exit_code != kOk) return held;
  auto trouble = watch_held(progress);
  // It was there when it was held.
  if (trouble && trouble->exit_code == kFailed)
    trouble->problem = {
        "PID " + std::to_string(options_.pid) + " has ended, or hmkd can watch it no longer",
        "its log says why"};
  if (trouble || !seen_.intervals.empty()) return trouble;
  return Reply{kFailed,
               {"no interval of PID " + std::to_string(options_.pid) + " has ended",
                "watch longer with --for, or set a shorter interval"}};
}

std::optional<Reply> Trial::watch_held(const Progress& progress) {
  if (auto trouble = ask_tiers()) return trouble;
  Watch watch(context_, options_);
  target_ = watch.target();
  const Clock::time_point begin = Clock::now();
  const double cpu_before = cpu_ns(target_);
  progress(target_, {});
  while (const auto row = watch.next_row()) {
    add(*row);
    progress(target_, Clock::now() - begin);
  }
  if (watch.has_ended()) return Reply{kFailed, {}};
  if (watch.trouble()) return watch.trouble();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (cpu_before > 0) seen_.cpu_ns_per_s = (cpu_ns(target_) - cpu_before) / seconds;
  if (auto trouble = ask_tiers()) return trouble;
  take_in_tiers();
  return std::nullopt;
}

}  // namespace hmkctl

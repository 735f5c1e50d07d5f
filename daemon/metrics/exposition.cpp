// SPDX-License-Identifier: MIT
#include "metrics/exposition.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "bpf/waits.h"
#include "metrics/groups.hpp"
#include "util/printable.hpp"

namespace hmk {
namespace {

using nlohmann::json;
using Labels = std::vector<std::pair<std::string, std::string>>;

/// A metric of one figure per process.
struct Metric {
  const char* member;  ///< of a target in `stats`; "a/b" is member b of member a
  const char* name;
  const char* type;
  double scale;
  const char* help;
  bool stays = false;  ///< a gauge that has what processes brought that have ended, as counters do
};

constexpr double kSeconds = 1e-9, kRatio = 0.01;
constexpr std::array kMetrics{
    Metric{"intervals", "hmk_intervals", "counter", 1, "Profiling intervals since attach."},
    Metric{"late_intervals", "hmk_late_intervals", "counter", 1,
           "Intervals whose rounds were cut to end in time."},
    Metric{"degraded_intervals", "hmk_degraded_intervals", "counter", 1,
           "Intervals with more regions than samples."},
    Metric{"wall_ns", "hmk_wall_seconds", "counter", kSeconds, "Time profiled."},
    Metric{"profile_ns", "hmk_profile_seconds", "counter", kSeconds, "CPU time of profiling."},
    Metric{"budget_percent", "hmk_overhead_budget_ratio", "gauge", kRatio,
           "Share of an interval that profiling may take."},
    Metric{"state_bytes", "hmk_state_bytes", "gauge", 1, "Memory the module uses for the process."},
    Metric{"huge_examined", "hmk_huge_pages_examined", "counter", 1,
           "Huge pages whose mapping was split to see whether their parts differ (split_huge)."},
    Metric{"huge_split", "hmk_huge_pages_split", "counter", 1,
           "Of these, split because their parts differed."},
    Metric{"huge_left", "hmk_huge_pages_left", "counter", 1,
           "Of these, left because their parts were alike."},
    Metric{"huge_joined", "hmk_huge_pages_joined", "counter", 1,
           "Huge pages joined of small ones that were hot all over (join_huge)."},
    Metric{"page_out/cold_bytes", "hmk_cold_bytes", "gauge", 1,
           "Bytes on the last tier not accessed for page_out_after."},
    Metric{"page_out/swapped_bytes", "hmk_swapped_bytes", "gauge", 1,
           "Bytes of the process in swap, whoever put them there (page_out)."},
    Metric{"page_out/paged_out_bytes", "hmk_paged_out_bytes", "counter", 1,
           "Bytes paged out because they were cold (page_out)."},
    Metric{"page_out/refaults", "hmk_refaults", "counter", 1,
           "Pages that came back from swap (page_out)."},
    Metric{"join_ns", "hmk_join_seconds", "counter", kSeconds, "Time of joining, joined or not."},
    Metric{"join_max_ns", "hmk_join_longest_seconds", "gauge", kSeconds,
           "Longest time that joining one took."},
    Metric{"planned_promote_bytes", "hmk_planned_promote_bytes", "counter", 1,
           "Bytes planned to be promoted."},
    Metric{"planned_demote_bytes", "hmk_planned_demote_bytes", "counter", 1,
           "Bytes planned to be demoted."},
    Metric{"promoted_bytes", "hmk_promoted_bytes", "counter", 1, "Bytes moved to a faster tier."},
    Metric{"demoted_bytes", "hmk_demoted_bytes", "counter", 1, "Bytes moved to a slower tier."},
    Metric{"returned_bytes", "hmk_returned_bytes", "counter", 1,
           "Bytes moved back within eight intervals."},
    Metric{"plans_replaced", "hmk_plans_replaced", "counter", 1,
           "Plans whose rest was dropped for a newer one."},
    Metric{"backed_off_ranges", "hmk_backed_off_ranges", "gauge", 1,
           "Ranges skipped for now after a refusal."},
    Metric{"pages_clean", "hmk_clean_pages", "counter", 1,
           "Pages copied ahead, not written since."},
    Metric{"pages_recopied", "hmk_recopied_pages", "counter", 1,
           "Pages written while they were copied ahead, copied again."},
    Metric{"pages_sync", "hmk_sync_pages", "counter", 1, "Pages copied while unmapped."},
    Metric{"copy_ns", "hmk_copy_seconds", "counter", kSeconds, "Time of copying ahead."},
    Metric{"commit_ns", "hmk_commit_seconds", "counter", kSeconds,
           "Time in which pages were unmapped."},
    Metric{"commit_max_ns", "hmk_commit_max_seconds", "gauge", kSeconds,
           "Longest time in which a chunk was unmapped."},
    Metric{"gain/saved_ns", "hmk_saved_seconds", "gauge", kSeconds,
           "Time that moved memory has saved, compared with where it lay first; falls while it "
           "loses.",
           true},
    Metric{"gain/promised_ns", "hmk_promised_seconds", "gauge", kSeconds,
           "Time that it was expected to save.", true},
    Metric{"gain/spent_ns", "hmk_spent_seconds", "counter", kSeconds,
           "Time of moving and of profiling."},
    Metric{"gain/saves_ns_per_s", "hmk_saving_ratio", "gauge", kSeconds,
           "Seconds saved in a second now."},
    Metric{"gain/costs_ns_per_s", "hmk_spending_ratio", "gauge", kSeconds,
           "Seconds of moving and profiling in a second; moves over the time heat lasts."},
    Metric{"gain/promote_limit_divisor", "hmk_promote_limit_divisor", "gauge", 1,
           "By how much the governor divides promote_limit; 1: not at all."},
    Metric{"numa_balancing/moved_bytes", "hmk_numa_balancing_bytes", "counter", 1,
           "Bytes that the kernel's NUMA balancing moved meanwhile."},
    Metric{"waits/longest_ns", "hmk_wait_longest_seconds", "gauge", kSeconds,
           "Longest wait for a page that was being moved."},
    Metric{"waits/write_faults", "hmk_write_faults", "counter", 1,
           "Writes to a present page that was not writable."},
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {  // the name of a process may be any bytes
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

class Text {
 public:
  void family(const char* name, const char* type, const char* help) {
    name_ = name;
    is_counter_ = std::string_view(type) == "counter";
    text_ += "# TYPE " + name_ + " " + type + "\n# HELP " + name_ + " " + help + "\n";
  }
  void sample(const Labels& labels, const json& value, double scale = 1) {
    sample(labels, value, scale, is_counter_ ? "_total" : "");
  }
  void sample(const Labels& labels, const json& value, double scale, const char* suffix) {
    if (!value.is_number()) return;
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%.15g", value.get<double>() * scale);
    text_ += name_ + suffix;
    for (std::size_t i = 0; i < labels.size(); ++i)
      text_ += (i == 0 ? "{" : ",") + labels[i].first + "=\"" + escaped(labels[i].second) + "\"";
    text_ += (labels.empty() ? " " : "} ") + std::string(number.data()) + "\n";
  }
  std::string end() && { return std::move(text_) + "# EOF\n"; }

 private:
  std::string text_, name_;
  bool is_counter_ = false;
};

json member(const json& row, const std::string& name) {
  return row.value(json::json_pointer("/" + name), json());
}

std::string word(const json& row, const char* name) {
  const json value = member(row, name);
  if (value.is_null()) return "";  // not known: an empty label is none
  if (value.is_array()) {
    std::string text;
    for (const json& item : value) text += (text.empty() ? "" : ",") + item.dump();
    return text;
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// What a series is told apart by.
Labels labels_of(const json& row) {
  Labels labels;
  for (const char* const name : {"class", "rule", "pid", "comm"})
    if (const std::string value = word(row, name); !value.empty()) labels.emplace_back(name, value);
  return labels;
}

void each_row(const json& rows, const std::function<void(const json&, Labels)>& tell) {
  for (const json& row : rows) tell(row, labels_of(row));
}

/// One sample per row of a list inside each row, told apart by `keys`.
void lists(Text& text, const json& rows, const char* list, const std::vector<const char*>& keys,
           const char* value, double scale = 1) {
  each_row(rows, [&](const json& target, const Labels& who) {
    for (const json& row : member(target, list)) {
      Labels labels = who;
      for (const char* const key : keys) labels.emplace_back(key, word(row, key));
      text.sample(labels, member(row, value), scale);
    }
  });
}

/// A counter for each member of an object inside each row.
void by_reason(Text& text, const json& rows, const char* object,
               const std::pair<const char*, const char*>& name_and_help) {
  text.family(name_and_help.first, "counter", name_and_help.second);
  each_row(rows, [&](const json& target, const Labels& who) {
    const json reasons = member(target, object);
    for (const auto& [reason, count] : reasons.items()) {
      Labels labels = who;
      labels.emplace_back("reason", reason);
      text.sample(labels, count);
    }
  });
}

/// Buckets as they are defined: each holds all shorter waits, too.
void wait_histogram(Text& text, const json& waits, const Labels& who) {
  if (waits.is_null()) return;
  constexpr int kFinite = HMK_WAIT_BUCKETS - 1;  // the last one has no upper end
  std::map<std::uint64_t, std::uint64_t> counted;
  for (const json& row : member(waits, "buckets"))
    counted[row.at("below_us").get<std::uint64_t>()] = row.at("count").get<std::uint64_t>();
  std::uint64_t sum = 0;
  Labels labels = who;
  labels.emplace_back("le", "");
  for (int n = 0; n < kFinite; ++n) {
    std::array<char, 32> below{};
    std::snprintf(below.data(), below.size(), "%g", static_cast<double>(2ull << n) * 1e-6);
    labels.back().second = below.data();
    text.sample(labels, sum += counted[2ull << n], 1, "_bucket");
  }
  labels.back().second = "+Inf";
  text.sample(labels, member(waits, "count"), 1, "_bucket");
  text.sample(who, member(waits, "count"), 1, "_count");
  text.sample(who, member(waits, "total_ns"), kSeconds, "_sum");
}

/// Processes by what they are told apart by, backend and mode.
void processes(Text& text, const json& targets, bool by_pid) {
  std::map<Labels, unsigned> counted;
  for (const json& row : targets) {
    Labels labels = labels_of(named(row, by_pid));
    for (const char* const name : {"backend", "mode"}) labels.emplace_back(name, word(row, name));
    ++counted[labels];
  }
  for (const auto& [labels, number] : counted) text.sample(labels, number);
}

/// Of the accesses of each row, the parts that its tiers serve.
void hot_shares(Text& text, const json& rows) {
  each_row(rows, [&](const json& target, const Labels& who) {
    double all = 0;
    for (const json& tier : member(target, "tiers")) all += tier.value("accesses_per_s", 0.0);
    for (const json& tier : member(target, "tiers")) {
      Labels labels = who;
      for (const char* const key : {"tier", "nodes"}) labels.emplace_back(key, word(tier, key));
      text.sample(labels, all > 0 ? tier.value("accesses_per_s", 0.0) / all : 0.0);
    }
  });
}

void info(Text& text, const char* name, const char* help, const Labels& labels) {
  text.family(name, "gauge", help);
  text.sample(labels, 1);
}

void about_hmkd(Text& text, const Exposed& exposed) {
  info(text, "hmk_build_info", "Versions of hmkd and of the module's interface.",
       {{"version", word(exposed.version, "version/hmkd")},
        {"abi_version", word(exposed.version, "version/abi_version")}});
  info(text, "hmk_mode_info", "What hmkd does with processes that have no mode of their own.",
       {{"mode", word(exposed.status, "daemon/mode")}});
  text.family("hmk_targets", "gauge", "Managed processes.");
  text.sample({}, member(exposed.status, "targets").size());
  text.family("hmk_cache_dropped_bytes", "counter",
              "Bytes of page cache dropped to make room (reclaim_cache).");
  text.sample({}, member(exposed.status, "daemon/cache_dropped_bytes"));
  text.family("hmk_promotions_paused", "gauge",
              "1 while nothing is promoted for memory pressure (pressure_limit).");
  if (const json paused = member(exposed.status, "daemon/promotions_paused"); !paused.is_null())
    text.sample({}, paused == true ? 1 : 0);
  text.family("process_cpu_seconds", "counter", "CPU time of hmkd, without the module.");
  text.sample({}, exposed.cpu_ns, kSeconds);
}

/// Rows of `stats` by group: of processes that live, and with those that have ended.
void counted(Text& text, const json& living, const json& all) {
  for (const Metric& metric : kMetrics) {
    text.family(metric.name, metric.type, metric.help);
    const bool stays = metric.stays || std::string_view(metric.type) == "counter";
    each_row(stays ? all : living, [&](const json& target, const Labels& who) {
      text.sample(who, member(target, metric.member), metric.scale);
    });
  }
  text.family("hmk_wait_seconds", "histogram", "Waits of threads for pages that were being moved.");
  each_row(all, [&](const json& target, const Labels& who) {
    wait_histogram(text, member(target, "waits"), who);
  });
  by_reason(text, all, "refused_bytes",
            {"hmk_refused_bytes", "Bytes that stayed where they were, by reason."});
  by_reason(text, all, "huge_not_joined",
            {"hmk_huge_pages_not_joined", "Tries to join a huge page that failed, by reason."});
  text.family("hmk_moved_bytes", "counter", "Bytes moved, by pair of tiers.");
  lists(text, all, "pairs", {"from_tier", "to_tier"}, "moved_bytes");
  for (const auto& [member, name, help] :
       {std::tuple("no_gain_bytes", "hmk_no_gain_bytes",
                   "Hot bytes not promoted because the move would not pay off."),
        std::tuple("no_room_bytes", "hmk_no_room_bytes",
                   "Hot bytes not promoted because nothing could be demoted to make room."),
        std::tuple(
            "thrash_bytes", "hmk_thrash_bytes",
            "Hot bytes not promoted because they were moved back soon after an earlier move."),
        std::tuple("backed_off_bytes", "hmk_backed_off_bytes", "Bytes skipped after refusals.")}) {
    text.family(name, "counter", help);
    lists(text, all, "stayed", {"tier"}, member);
  }
}

}  // namespace

std::string to_open_metrics(const Exposed& exposed) {
  Text text;
  about_hmkd(text, exposed);
  const json targets = member(exposed.status, "targets");
  const json now = grouped(targets, exposed.by_pid);
  text.family("hmk_processes", "gauge", "Managed processes, by backend and mode.");
  processes(text, targets, exposed.by_pid);
  const json stats = member(exposed.stats, "targets");
  json with_ended = stats;
  if (!exposed.by_pid)
    for (const json& row : exposed.ended) with_ended.push_back(row);
  counted(text, grouped(stats, exposed.by_pid), grouped(with_ended, exposed.by_pid));
  text.family("hmk_resident_bytes", "gauge", "Bytes of processes on a tier.");
  lists(text, now, "tiers", {"tier", "nodes"}, "resident_bytes");
  text.family("hmk_hot_share_ratio", "gauge", "Share of the seen hotness on a tier (an estimate).");
  hot_shares(text, now);
  text.family("hmk_tier_free_bytes", "gauge", "Free bytes of a tier above the watermarks.");
  lists(text, now, "tiers", {"tier", "nodes"}, "free_bytes");
  text.family("hmk_tier_bytes", "gauge", "Size of a tier.");
  lists(text, now, "tiers", {"tier", "nodes"}, "total_bytes");
  text.family("hmk_tier_latency_seconds", "gauge", "Latency of a tier, where it is known.");
  lists(text, now, "tiers", {"tier", "nodes"}, "latency_ns", kSeconds);
  return std::move(text).end();
}

}  // namespace hmk

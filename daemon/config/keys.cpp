// SPDX-License-Identifier: MIT
#include "config/keys.hpp"

#include <linux/hmk.h>

#include <algorithm>
#include <array>

#include "config/classes.hpp"
#include "config/pins.hpp"
#include "config/tier_list.hpp"
#include "config/whom.hpp"
#include "util/log.hpp"
#include "util/units.hpp"

namespace hmk {
namespace {

using std::chrono::nanoseconds;

/// Assign a parsed value when it lies in [low, high]; `range` says so otherwise.
template <class T, class Member>
Result<void> assign(Member& member, const Result<T>& parsed, T low, T high, std::string_view text,
                    std::string_view range) {
  if (!parsed) return parsed.error();
  if (*parsed < low || *parsed > high)
    return Error{"'" + std::string(text) + "' is out of range", "use " + std::string(range)};
  member = static_cast<Member>(*parsed);
  return {};
}

Result<void> set_count(std::uint32_t& member, std::string_view text, std::uint64_t low,
                       std::uint64_t high, std::string_view range) {
  return assign<std::uint64_t>(member, parse_count(text), low, high, text, range);
}

Result<void> set_percent(std::uint32_t& member, std::string_view text, std::uint32_t low,
                         std::uint32_t high, std::string_view range) {
  return assign<std::uint32_t>(member, parse_percent_up_to(text, std::max(high, 10'000u)), low,
                               high, text, range);
}

/// A word of two: `first` and `second` in the words of the config.
template <class T>
Result<void> set_word(T& member, std::string_view text, std::string_view first, T when_first,
                      std::string_view second, T when_second) {
  if (text != first && text != second)
    return Error{"'" + std::string(text) + "' is not understood",
                 "use " + std::string(first) + " or " + std::string(second)};
  member = text == first ? when_first : when_second;
  return {};
}

Result<void> set_mode(Config& c, std::string_view text) {
  for (const Mode mode : {Mode::track_only, Mode::dry_run, Mode::manage})
    if (text == to_string(mode)) {
      c.mode = mode;
      return {};
    }
  return Error{"'" + std::string(text) + "' is no mode", "use track-only, dry-run or manage"};
}

Result<void> set_tau(std::uint32_t& member, std::string_view text) {
  if (text == "auto") {
    member = 0;
    return {};
  }
  return assign<std::uint32_t>(member, parse_fraction_q16(text), 1, 16u << 16, text,
                               "auto or a decimal above 0, at most 16");
}

Result<void> set_seed(Config& c, std::string_view text) {
  if (text == "random") {
    c.seed = 0;
    return {};
  }
  return assign<std::uint64_t>(c.seed, parse_count(text), 1, UINT64_MAX, text,
                               "random or a whole number above 0");
}

constexpr std::array<std::pair<std::string_view, std::uint32_t>, 3> kAblations{
    {{"fixed-regions", HMK_SWITCH_FIXED_REGIONS},
     {"random-samples", HMK_SWITCH_RANDOM_SAMPLES},
     {"no-budget", HMK_SWITCH_NO_BUDGET}}};
constexpr std::string_view kAblationHelp =
    "none, or some of fixed-regions, random-samples, no-budget";

/// "a,b" -> a, b; nothing of nothing.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    words.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return words;
}

/// "none", or words between commas.
Result<void> set_ablation(Config& c, std::string_view text) {
  std::uint32_t switches = 0;
  for (const std::string_view word : split(text == "none" ? "" : text)) {
    const auto* const known = std::ranges::find(kAblations, word, [](auto& a) { return a.first; });
    if (known == kAblations.end())
      return Error{"'" + std::string(word) + "' is no ablation",
                   "use " + std::string(kAblationHelp)};
    switches |= known->second;
  }
  c.ablation = switches;
  return {};
}

/// Words between commas, each once; `parse` reads one.
template <class T>
Result<std::vector<T>> parse_list(std::string_view text, Result<T> (*parse)(std::string_view)) {
  std::vector<T> all;
  for (const std::string_view word : split(text)) {
    Result<T> one = parse(word);
    if (!one) return one.error();
    if (std::ranges::find(all, *one) != all.end())
      return Error{"'" + std::string(word) + "' is given twice", "name each once"};
    all.push_back(*std::move(one));
  }
  return all;
}

Result<void> set_tiers(Config& c, std::string_view text) {
  auto tiers = parse_tiers(text);
  if (!tiers) return tiers.error();
  c.tiers = *std::move(tiers);
  return {};
}

Result<void> set_attach(Config& c, std::string_view text) {
  const auto rules = parse_list(text, parse_rule);
  if (!rules) return rules.error();
  c.attach = *rules;
  return {};
}

Result<void> set_classes(Config& c, std::string_view text) {
  auto classes = parse_classes(text);
  if (!classes) return classes.error();
  c.classes = *std::move(classes);
  return {};
}

Result<void> set_pins(Config& c, std::string_view text) {
  auto pins = parse_pins(text);
  if (!pins) return pins.error();
  c.pins = *std::move(pins);
  return {};
}

std::string attach_text(const Config& c) {
  std::string text;
  for (const AttachRule& rule : c.attach) text += (text.empty() ? "" : ",") + to_string(rule);
  return text;
}

std::string ablation_text(std::uint32_t switches) {
  std::string text;
  for (const auto& [word, bit] : kAblations)
    if (switches & bit) text += (text.empty() ? "" : ",") + std::string(word);
  return text.empty() ? "none" : text;
}

Result<void> set_pressure_limit(Config& c, std::string_view text) {
  if (text == "none") return c.pressure_limit_bp = 0, Result<void>{};
  return set_percent(c.pressure_limit_bp, text, 100, 10000, "none, or 1% .. 100%");
}

Result<void> set_promote_limit(Config& c, std::string_view text) {
  std::uint64_t limit = Config{}.promote_limit;
  if (text != "auto")
    if (Result<void> done = assign<std::uint64_t>(limit, parse_size(text), 0, 1ull << 44, text,
                                                  "auto or 0B .. 16TiB");
        !done)
      return done;
  c.promote_limit = limit;
  c.is_promote_limit_auto = text == "auto";
  return {};
}

Result<void> set_horizon(Config& c, std::string_view text) {
  if (text != "auto") return set_count(c.horizon, text, 1, 100000, "auto or 1 .. 100000");
  c.horizon = 0;
  return {};
}

Result<void> set_copy_threads(Config& c, std::string_view text) {
  if (text != "auto")
    return set_count(c.copy_threads, text, 1, HMK_MAX_COPY_THREADS, "auto or 1 .. 16");
  c.copy_threads = 0;
  return {};
}

Result<void> set_move_cost(Config& c, std::string_view text) {
  if (text == "measured") {
    c.move_cost.reset();
    return {};
  }
  return assign<nanoseconds>(c.move_cost, parse_duration(text), nanoseconds(1),
                             std::chrono::seconds(1), text, "measured or 1ns .. 1s");
}

Result<void> set_reserve(Config& c, std::string_view text) {
  if (text == "auto") {
    c.reserve.reset();
    return {};
  }
  return assign<std::uint64_t>(c.reserve, parse_size(text), 0, 1ull << 44, text,
                               "auto or 0B .. 16TiB");
}

Result<void> set_socket(Config& c, std::string_view text) {
  // sun_path holds 108 bytes with the closing zero.
  if (!text.starts_with('/') || text.size() > 107)
    return Error{"'" + std::string(text) + "' is no usable socket path",
                 "give an absolute path of at most 107 characters"};
  c.socket = text;
  return {};
}

Result<void> set_calibration(Config& c, std::string_view text) {
  if (text != "none" && !text.starts_with('/'))
    return Error{"'" + std::string(text) + "' is no absolute path", "give one, or none"};
  c.calibration = text == "none" ? "" : text;
  return {};
}

Result<void> set_group(std::string& group, std::string_view text) {
  if (text.empty() || text.find_first_of(": \t\n") != text.npos)
    return Error{"'" + std::string(text) + "' is no group name", "name a group of this machine"};
  group = text;
  return {};
}

/// Whether the port is free and the address a loopback one is seen when it is opened.
Result<void> set_metrics(Config& c, std::string_view text) {
  if (text != "off" && !text.starts_with("127.") && !text.starts_with("[::1]:"))
    return Error{"'" + std::string(text) + "' is no loopback address with a port",
                 "use off, 127.0.0.1:9464 or [::1]:9464"};
  c.metrics = text == "off" ? "" : text;
  return {};
}

Result<void> set_log_level(Config& c, std::string_view text) {
  if (!is_log_level(text))
    return Error{"'" + std::string(text) + "' is no log level", "use error, warn, info or debug"};
  c.log_level = text;
  return {};
}

std::string tau_text(std::uint32_t q16) {
  return q16 == 0 ? "auto" : format_fraction_q16(q16);
}

constexpr bool kLive = true, kAtStart = false, kProfiling = true, kOwn = false;
using Text = std::string_view;

const std::array kKeys{
    Key{"mode", "track-only, dry-run or manage", kLive, kOwn, set_mode,
        [](const Config& c) { return to_string(c.mode); }},
    Key{"interval", "duration, 50ms .. 10min", kLive, kProfiling,
        [](Config& c, Text t) {
          return assign<nanoseconds>(c.interval, parse_duration(t), std::chrono::milliseconds(50),
                                     std::chrono::minutes(10), t, "50ms .. 10min");
        },
        [](const Config& c) { return format_duration(c.interval); }},
    Key{"overhead", "CPU time, percent of an interval, 0.01% .. 800%", kLive, kProfiling,
        [](Config& c, Text t) {
          return set_percent(c.overhead_bp, t, 1, HMK_BUDGET_MAX_BP, "0.01% .. 800%");
        },
        [](const Config& c) { return format_percent_bp(c.overhead_bp); }},
    Key{"num_scans", "count, 1 .. 16", kLive, kProfiling,
        [](Config& c, Text t) { return set_count(c.num_scans, t, 1, 16, "1 .. 16"); },
        [](const Config& c) { return std::to_string(c.num_scans); }},
    Key{"windows", "adaptive or equal", kLive, kProfiling,
        [](Config& c, Text t) {
          return set_word(c.equal_windows, t, "adaptive", false, "equal", true);
        },
        [](const Config& c) { return std::string(c.equal_windows ? "equal" : "adaptive"); }},
    Key{"alpha", "decimal, above 0 .. 1", kLive, kProfiling,
        [](Config& c, Text t) {
          return assign<std::uint32_t>(c.alpha_q16, parse_fraction_q16(t), 1, 65536, t,
                                       "a decimal above 0, at most 1");
        },
        [](const Config& c) { return format_fraction_q16(c.alpha_q16); }},
    Key{"tau1", "auto or decimal, above 0 .. 16", kLive, kProfiling,
        [](Config& c, Text t) { return set_tau(c.tau1_q16, t); },
        [](const Config& c) { return tau_text(c.tau1_q16); }},
    Key{"tau2", "auto or decimal, above 0 .. 16", kLive, kProfiling,
        [](Config& c, Text t) { return set_tau(c.tau2_q16, t); },
        [](const Config& c) { return tau_text(c.tau2_q16); }},
    Key{"top_k", "count, 1 .. 64", kLive, kProfiling,
        [](Config& c, Text t) { return set_count(c.top_k, t, 1, 64, "1 .. 64"); },
        [](const Config& c) { return std::to_string(c.top_k); }},
    Key{"scouts", "percent of the samples, 0% .. 50%", kLive, kProfiling,
        [](Config& c, Text t) { return set_percent(c.scouts_bp, t, 0, 5000, "0% .. 50%"); },
        [](const Config& c) { return format_percent_bp(c.scouts_bp); }},
    Key{"max_region", "size, 2MiB .. 1TiB", kLive, kProfiling,
        [](Config& c, Text t) {
          return assign<std::uint64_t>(c.max_region, parse_size(t), 2ull << 20, 1ull << 40, t,
                                       "2MiB .. 1TiB");
        },
        [](const Config& c) { return format_size(c.max_region); }},
    Key{"weight", "count, 1 .. 10000", kLive, kProfiling,
        [](Config& c, Text t) { return set_count(c.weight, t, 1, 10000, "1 .. 10000"); },
        [](const Config& c) { return std::to_string(c.weight); }},
    Key{"dense", "no or yes", kLive, kProfiling,
        [](Config& c, Text t) { return set_word(c.dense, t, "yes", true, "no", false); },
        [](const Config& c) { return std::string(c.dense ? "yes" : "no"); }},
    Key{"split_huge", "no or yes", kLive, kProfiling,
        [](Config& c, Text t) { return set_word(c.split_huge, t, "yes", true, "no", false); },
        [](const Config& c) { return std::string(c.split_huge ? "yes" : "no"); }},
    Key{"tau_step", "auto or decimal, above 0 .. 16", kLive, kProfiling,
        [](Config& c, Text t) { return set_tau(c.tau_step_q16, t); },
        [](const Config& c) { return tau_text(c.tau_step_q16); }},
    Key{"flush", "round or none", kLive, kProfiling,
        [](Config& c, Text t) { return set_word(c.flush, t, "round", true, "none", false); },
        [](const Config& c) { return std::string(c.flush ? "round" : "none"); }},
    Key{"seed", "random or whole number above 0", kLive, kProfiling, set_seed,
        [](const Config& c) { return c.seed == 0 ? "random" : std::to_string(c.seed); }},
    Key{"ablation", kAblationHelp, kLive, kProfiling, set_ablation,
        [](const Config& c) { return ablation_text(c.ablation); }, true},
    Key{"promote_limit", "auto or size per interval, 0B .. 16TiB", kLive, kOwn, set_promote_limit,
        [](const Config& c) {
          return c.is_promote_limit_auto ? "auto" : format_size(c.promote_limit);
        }},
    Key{"move_time", "percent of an interval, 0.01% .. 100%", kLive, kOwn,
        [](Config& c, Text t) { return set_percent(c.move_time_bp, t, 1, 10000, "0.01% .. 100%"); },
        [](const Config& c) { return format_percent_bp(c.move_time_bp); }},
    Key{"view", "flat or tier-by-tier", kLive, kOwn,
        [](Config& c, Text t) {
          return set_word(c.is_tier_by_tier, t, "flat", false, "tier-by-tier", true);
        },
        [](const Config& c) { return std::string(c.is_tier_by_tier ? "tier-by-tier" : "flat"); }},
    Key{"reserve", "auto or size per tier, 0B .. 16TiB", kLive, kOwn, set_reserve,
        [](const Config& c) { return c.reserve ? format_size(*c.reserve) : "auto"; }},
    Key{"gain_margin", "count of buckets, 0 .. 1024", kLive, kOwn,
        [](Config& c, Text t) { return set_count(c.gain_margin, t, 0, 1024, "0 .. 1024"); },
        [](const Config& c) { return std::to_string(c.gain_margin); }},
    Key{"horizon", "auto or count of intervals, 1 .. 100000", kLive, kOwn, set_horizon,
        [](const Config& c) { return c.horizon == 0 ? "auto" : std::to_string(c.horizon); }},
    Key{"governor", "on, off, or PROCESS=on, PROCESS=off", kLive, kOwn, set_governor, governor_text,
        true, false, true},
    Key{"move_cost", "measured or duration per 4 KiB, 1ns .. 1s", kLive, kOwn, set_move_cost,
        [](const Config& c) { return c.move_cost ? format_duration(*c.move_cost) : "measured"; }},
    Key{"buckets", "count, 2 .. 1024", kLive, kOwn,
        [](Config& c, Text t) { return set_count(c.buckets, t, 2, 1024, "2 .. 1024"); },
        [](const Config& c) { return std::to_string(c.buckets); }},
    Key{"weights", "equal, none, or PROCESS=WEIGHT with weights 1 .. 10000", kLive, kOwn,
        set_weights, weights_text, true, false, true},
    Key{"caps", "none, or PROCESS/TIER=SIZE", kLive, kOwn,
        [](Config& c, Text t) { return set_bounds(c.caps, t); },
        [](const Config& c) { return bounds_text(c.caps); }, true, false, true},
    Key{"floors", "none, or PROCESS/TIER=SIZE", kLive, kOwn,
        [](Config& c, Text t) { return set_bounds(c.floors, t); },
        [](const Config& c) { return bounds_text(c.floors); }, true, false, true},
    Key{"pins", "none, or PROCESS/MAPPING=TIER and PID/0xSTART-0xEND=TIER", kLive, kOwn, set_pins,
        [](const Config& c) { return pins_text(c.pins); }, true, false, true},
    Key{"hints", "yes or no", kLive, kOwn,
        [](Config& c, Text t) { return set_word(c.hints, t, "yes", true, "no", false); },
        [](const Config& c) { return std::string(c.hints ? "yes" : "no"); }},
    Key{"move", "auto or sync", kLive, kOwn,
        [](Config& c, Text t) {
          return set_word(c.copy, t, "auto", Copy::automatic, "sync", Copy::sync);
        },
        [](const Config& c) { return std::string(c.copy == Copy::sync ? "sync" : "auto"); }},
    Key{"copy_threads", "auto or count, 1 .. 16", kLive, kOwn, set_copy_threads,
        [](const Config& c) {
          return c.copy_threads == 0 ? "auto" : std::to_string(c.copy_threads);
        }},
    Key{"shared", "no or yes", kLive, kOwn,
        [](Config& c, Text t) { return set_word(c.move_shared, t, "yes", true, "no", false); },
        [](const Config& c) { return std::string(c.move_shared ? "yes" : "no"); }},
    Key{"move_bound", "no or yes", kLive, kOwn,
        [](Config& c, Text t) { return set_word(c.move_bound, t, "yes", true, "no", false); },
        [](const Config& c) { return std::string(c.move_bound ? "yes" : "no"); }},
    Key{"reclaim_cache", "yes or no", kLive, kOwn,
        [](Config& c, Text t) { return set_word(c.reclaim_cache, t, "yes", true, "no", false); },
        [](const Config& c) { return std::string(c.reclaim_cache ? "yes" : "no"); }},
    Key{"pressure_limit", "none or percent of the time, 1% .. 100%", kLive, kOwn,
        set_pressure_limit,
        [](const Config& c) {
          return c.pressure_limit_bp == 0 ? "none" : format_percent_bp(c.pressure_limit_bp);
        }},
    Key{"join_huge", "no or yes", kLive, kOwn,
        [](Config& c, Text t) { return set_word(c.join_huge, t, "yes", true, "no", false); },
        [](const Config& c) { return std::string(c.join_huge ? "yes" : "no"); }},
    Key{"page_out", "no or yes", kLive, kOwn,
        [](Config& c, Text t) { return set_word(c.page_out, t, "yes", true, "no", false); },
        [](const Config& c) { return std::string(c.page_out ? "yes" : "no"); }},
    Key{"page_out_after", "duration, 1s .. 24h", kLive, kOwn,
        [](Config& c, Text t) {
          return assign<nanoseconds>(c.page_out_after, parse_duration(t), std::chrono::seconds(1),
                                     std::chrono::hours(24), t, "1s .. 24h");
        },
        [](const Config& c) { return format_duration(c.page_out_after); }},
    Key{"page_out_refaults", "count a minute, 1 .. 1000000", kLive, kOwn,
        [](Config& c, Text t) {
          return set_count(c.page_out_refaults, t, 1, 1'000'000, "1 .. 1000000");
        },
        [](const Config& c) { return std::to_string(c.page_out_refaults); }},
    Key{"bandwidth", "none, or FROM/TO=SIZE a second, 1MiB .. 1TiB", kLive, kOwn, set_bandwidth,
        bandwidth_text, true},
    Key{"calibration", "none or absolute path of a file of 'hmkctl calibrate'", kLive, kOwn,
        set_calibration,
        [](const Config& c) { return c.calibration.empty() ? "none" : c.calibration; }},
    Key{"tiers", "auto, or nodes or sets of nodes, fastest first", kLive, kOwn, set_tiers,
        [](const Config& c) { return tiers_text(c.tiers); }, true, true},
    Key{"attach",
        "PIDs, comm=NAME, unit=NAME.service, cgroup=/PATH, exe=/PATH, cmdline=TEXT, user=NAME; "
        "not, "
        "+children, +min-size=SIZE",
        kLive, kOwn, set_attach, attach_text, true, false, true},
    Key{"classes", "none, or [{match: RULE, KEY: VALUE, ...}, ...]", kLive, kOwn, set_classes,
        [](const Config& c) { return classes_text(c.classes); }, true, true, true},
    Key{"attach_poll", "duration, 100ms .. 1h", kLive, kOwn,
        [](Config& c, Text t) {
          return assign<nanoseconds>(c.attach_poll, parse_duration(t),
                                     std::chrono::milliseconds(100), std::chrono::hours(1), t,
                                     "100ms .. 1h");
        },
        [](const Config& c) { return format_duration(c.attach_poll); }},
    Key{"socket", "absolute path", kAtStart, kOwn, set_socket,
        [](const Config& c) { return c.socket; }},
    Key{"socket_group", "name of a group", kAtStart, kOwn,
        [](Config& c, Text t) { return set_group(c.socket_group, t); },
        [](const Config& c) { return c.socket_group; }},
    Key{"admin_group", "name of a group", kAtStart, kOwn,
        [](Config& c, Text t) { return set_group(c.admin_group, t); },
        [](const Config& c) { return c.admin_group; }},
    Key{"metrics", "off or loopback address with port", kAtStart, kOwn, set_metrics,
        [](const Config& c) { return c.metrics.empty() ? "off" : c.metrics; }},
    Key{"metrics_by_pid", "no or yes", kLive, kOwn,
        [](Config& c, Text t) { return set_word(c.metrics_by_pid, t, "yes", true, "no", false); },
        [](const Config& c) { return std::string(c.metrics_by_pid ? "yes" : "no"); }},
    Key{"log_level", "error, warn, info or debug", kLive, kOwn, set_log_level,
        [](const Config& c) { return c.log_level; }},
};

/// By key: for completion.
using Words = std::vector<std::string_view>;
const std::array<std::pair<std::string_view, Words>, 36> kWords{{
    {"mode", {"track-only", "dry-run", "manage"}},
    {"windows", {"adaptive", "equal"}},
    {"tau1", {"auto"}},
    {"tau2", {"auto"}},
    {"dense", {"no", "yes"}},
    {"split_huge", {"no", "yes"}},
    {"tau_step", {"auto"}},
    {"flush", {"round", "none"}},
    {"seed", {"random"}},
    {"ablation", {"none", "fixed-regions", "random-samples", "no-budget"}},
    {"promote_limit", {"auto"}},
    {"view", {"flat", "tier-by-tier"}},
    {"reserve", {"auto"}},
    {"horizon", {"auto"}},
    {"governor", {"on", "off"}},
    {"move_cost", {"measured"}},
    {"weights", {"equal", "none"}},
    {"caps", {"none"}},
    {"floors", {"none"}},
    {"pins", {"none"}},
    {"hints", {"yes", "no"}},
    {"move", {"auto", "sync"}},
    {"copy_threads", {"auto"}},
    {"shared", {"no", "yes"}},
    {"move_bound", {"no", "yes"}},
    {"reclaim_cache", {"yes", "no"}},
    {"pressure_limit", {"none"}},
    {"join_huge", {"no", "yes"}},
    {"page_out", {"no", "yes"}},
    {"bandwidth", {"none"}},
    {"calibration", {"none"}},
    {"tiers", {"auto"}},
    {"classes", {"none"}},
    {"metrics", {"off"}},
    {"metrics_by_pid", {"no", "yes"}},
    {"log_level", {"error", "warn", "info", "debug"}},
}};

std::vector<std::string_view> names_of(bool live_only) {
  std::vector<std::string_view> names;
  for (const Key& key : kKeys)
    if (key.is_live || !live_only) names.push_back(key.name);
  return names;
}

}  // namespace

std::span<const Key> keys() {
  return kKeys;
}

const Key* find_key(std::string_view name) {
  const auto* const found =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) { return key.name == name; });
  return found == kKeys.end() ? nullptr : found;
}

std::span<const std::string_view> words_of(std::string_view name) {
  const auto* const found = std::ranges::find(kWords, name, [](const auto& w) { return w.first; });
  if (found == kWords.end()) return {};
  return found->second;
}

std::span<const std::string_view> key_names() {
  static const std::vector<std::string_view> names = names_of(false);
  return names;
}

std::span<const std::string_view> live_key_names() {
  static const std::vector<std::string_view> names = names_of(true);
  return names;
}

}  // namespace hmk

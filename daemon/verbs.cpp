// SPDX-License-Identifier: MIT
#include "verbs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "app.hpp"
#include "config/keys.hpp"
#include "config/write.hpp"
#include "metrics/exposition.hpp"
#include "label_report.hpp"
#include "report.hpp"
#include "util/clock.hpp"
#include "util/hex.hpp"
#include "util/log.hpp"
#include "util/suggest.hpp"

namespace hmk {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxPid = 4'194'304;

/// A whole number of `args`; `fallback` when it is not given.
Result<std::int64_t> number_arg(const json& args, const char* name, std::int64_t fallback,
                                std::int64_t low, std::int64_t high) {
  const auto found = args.find(name);
  if (found == args.end()) return fallback;
  if (!found->is_number_integer() || *found < low || *found > high)
    return Error{std::string(name) + " is no number of " + std::to_string(low) + " .. " +
                     std::to_string(high),
                 "see 'hmkctl --help'"};
  return found->get<std::int64_t>();
}

Result<std::string> text_arg(const json& args, const char* name) {
  const auto found = args.find(name);
  if (found == args.end() || !found->is_string())
    return Error{std::string(name) + " is missing or no text", "see 'hmkctl --help'"};
  return found->get<std::string>();
}

std::string by_right(const App& app) {
  return "run it as root or as a member of the group " + app.config().admin_group;
}

/// Where a process has its memory, and which of it is in use, is told to whom the kernel
/// would tell it: /proc/PID belongs to root when the process must not be looked into.
bool may_see_addresses(const App& app, const Target& target, const Peer& peer) {
  struct stat proc {};
  const auto path = app.options().root / "proc" / std::to_string(target.pid());
  return peer.may_change || (::stat(path.c_str(), &proc) == 0 && proc.st_uid == peer.user);
}

/// The target that args.pid names; all targets when it names none.
Result<std::vector<Target*>> targets_arg(App& app, const json& args) {
  const auto pid = number_arg(args, "pid", 0, 1, kMaxPid);
  if (!pid) return pid.error();
  if (*pid == 0) return app.targets();
  Target* const target = app.find(static_cast<std::int32_t>(*pid));
  if (target == nullptr)
    return Error{"PID " + std::to_string(*pid) + " is not managed",
                 "attach it with 'hmkctl attach " + std::to_string(*pid) + "'"};
  return std::vector<Target*>{target};
}

/// Of these, those whose addresses the peer may see; an error when it named another.
Result<std::vector<Target*>> seen_targets_arg(App& app, const Request& request) {
  auto targets = targets_arg(app, request.args);
  if (!targets) return targets;
  std::erase_if(*targets, [&](const Target* target) {
    return !may_see_addresses(app, *target, request.peer);
  });
  if (targets->empty() && request.args.contains("pid"))
    return Error{"the addresses of PID " + request.args["pid"].dump() +
                     " are shown to its owner and to those who may change hmkd",
                 by_right(app)};
  return targets;
}

json failed(const Error& error) {
  return refusal("failed", error);
}
json misused(const Error& error) {
  return refusal("usage", error);
}

json verb_status(App& app, const Request& request) {
  const auto targets = targets_arg(app, request.args);
  if (!targets) return failed(targets.error());
  return answer(report_status(app, *targets));
}
json verb_stats(App& app, const Request& request) {
  const auto targets = targets_arg(app, request.args);
  if (!targets) return failed(targets.error());
  return answer(report_stats(app, *targets));
}
json verb_version(App& app, const Request& /*request*/) {
  return answer(report_version(app));
}

json verb_gain(App& app, const Request& request) {
  const auto targets = targets_arg(app, request.args);
  if (!targets) return failed(targets.error());
  return answer(report_gains(*targets));
}

json verb_labels(App& app, const Request& request) {
  const auto targets = seen_targets_arg(app, request);
  if (!targets) return failed(targets.error());
  return answer(report_labels(*targets));
}

json verb_tiers(App& app, const Request& request) {
  const auto targets = targets_arg(app, request.args);
  if (!targets) return failed(targets.error());
  return answer(report_tiers(app, request.args.contains("pid") ? targets->front() : nullptr));
}

Result<RegionOrder> order_arg(const json& args) {
  const auto found = args.find("order");
  if (found == args.end()) return RegionOrder::hotness;
  const auto order = found->is_string() ? region_order(found->get<std::string>()) : std::nullopt;
  if (order) return *order;
  std::string known;
  for (const std::string_view name : kRegionOrders)
    known += (known.empty() ? "" : ", ") + std::string(name);
  return Error{"order is none of " + known, "see 'hmkctl --help'"};
}

json verb_regions(App& app, const Request& request) {
  const auto limit =
      number_arg(request.args, "limit", 20, 0, std::numeric_limits<std::int32_t>::max());
  if (!limit) return misused(limit.error());
  const auto order = order_arg(request.args);
  if (!order) return misused(order.error());
  const auto targets = seen_targets_arg(app, request);
  if (!targets) return failed(targets.error());
  return answer(report_regions(*targets, static_cast<std::size_t>(*limit), *order));
}

Result<std::uint64_t> address_arg(const json& args, const char* name) {
  const auto found = args.find(name);
  if (found == args.end() || !found->is_number_unsigned())
    return Error{std::string(name) + " is missing or no address", "see 'hmkctl why --help'"};
  return found->get<std::uint64_t>();
}

/// About one place of each process asked for: where it is not mapped there is no row.
json verb_why(App& app, const Request& request) {
  const auto start = address_arg(request.args, "start");
  const auto end = address_arg(request.args, "end");
  if (!start || !end) return misused(start ? end.error() : start.error());
  const auto targets = seen_targets_arg(app, request);
  if (!targets) return failed(targets.error());
  json rows = json::array();
  for (const Target* const target : *targets) rows.push_back(report_why(app, *target, *start, *end));
  std::erase_if(rows.get_ref<json::array_t&>(), [](const json& row) {
    return row["region"].is_null() && row["intervals"].empty() && row["decisions"].empty();
  });
  if (rows.empty())
    return failed({"no managed process has been seen with memory there",
                   "see 'hmkctl regions' for what there is"});
  return answer({{"targets", rows}});
}

/// What there was, of the process that args.pid names: its moments and last decisions, or with an
/// age all its regions as that interval saw them.
json verb_history(App& app, const Request& request) {
  constexpr std::size_t kDecisions = 200;
  const auto age = number_arg(request.args, "age", -1, 0, History::kIntervals);
  if (!age) return misused(age.error());
  if (!request.args.contains("pid")) return misused({"no PID given", ""});
  const auto targets = seen_targets_arg(app, request);
  if (!targets) return failed(targets.error());
  const Target& target = *targets->front();
  return answer({{"target", *age < 0 ? report_history(target, kDecisions)
                                     : report_past(target, static_cast<std::size_t>(*age))}});
}

json change_row(const App::Change& change) {
  return {{"key", change.key},
          {"old", change.old_value},
          {"value", change.new_value},
          {"takes_effect", change.at_restart ? "at restart" : "now"},
          {"saved", change.saved.empty() ? json() : json(change.saved)}};
}

Result<bool> flag_arg(const json& args, const char* name) {
  const json value = args.value(name, json(false));
  if (!value.is_boolean()) return Error{std::string(name) + " is neither true nor false", ""};
  return value == true;
}

/// Of the keys that are named, or of all.
Result<std::vector<std::string_view>> keys_arg(const json& args) {
  std::vector<std::string_view> names;
  const json given = args.value("keys", json::array());
  if (!given.is_array()) return Error{"keys is no list", "see 'hmkctl get --help'"};
  for (const json& name : given) {
    const std::string text = name.is_string() ? name.get<std::string>() : name.dump();
    const Key* const key = find_key(text);
    if (key == nullptr) return Error{"unknown key '" + text + "'", did_you_mean(text, key_names())};
    names.push_back(key->name);
  }
  if (names.empty()) names.assign(key_names().begin(), key_names().end());
  return names;
}

json verb_get(App& app, const Request& request) {
  const auto names = keys_arg(request.args);
  if (!names) return misused(names.error());
  return answer({{"values", report_values(app, *names)}});
}

/// All of it, or with `changed` what is not the default.
json verb_config(App& app, const Request& request) {
  const auto only_changed = flag_arg(request.args, "changed");
  if (!only_changed) return misused(only_changed.error());
  std::vector<std::string_view> names(key_names().begin(), key_names().end());
  const Config defaults;
  if (*only_changed)
    std::erase_if(names, [&](std::string_view name) {
      const Key& key = *find_key(name);
      return key.get(app.config()) == key.get(defaults);
    });
  return answer({{"values", report_values(app, names)},
                 {"yaml", to_yaml(app.config(), app.origins(), names)}});
}

json verb_set(App& app, const Request& request) {
  const auto key = text_arg(request.args, "key");
  if (!key) return misused(key.error());
  const auto save = flag_arg(request.args, "save"), unsave = flag_arg(request.args, "unsave");
  if (!save || !unsave) return misused((save ? unsave : save).error());
  const auto value = *unsave ? std::string() : text_arg(request.args, "value");
  if (!value) return misused(value.error());
  const auto change = *unsave ? app.unsave(*key) : app.set(*key, *value, *save);
  // An errno means that the module refused; everything else is what was typed.
  if (!change) return change.error().err != 0 ? failed(change.error()) : misused(change.error());
  return answer({{"changed", change_row(*change)}});
}

json verb_reload(App& app, const Request& /*request*/) {
  const auto changes = app.reload();
  if (!changes) return failed(changes.error());
  json rows = json::array();
  for (const App::Change& change : *changes) rows.push_back(change_row(change));
  return answer({{"changed", rows}});
}

json verb_pause(App& app, const Request& request) {
  if (const Result<void> done = app.pause(request.verb == "pause"); !done)
    return failed(done.error());
  return answer({{"daemon", report_daemon(app)}});
}

json with_pid(App& app, const Request& request, Result<void> (App::*act)(std::int32_t)) {
  const auto pid = number_arg(request.args, "pid", 0, 1, kMaxPid);
  if (!pid || *pid == 0) return misused(pid ? Error{"no PID given", ""} : pid.error());
  const auto number = static_cast<std::int32_t>(*pid);
  const Target* const before = app.find(number);
  std::string comm = before != nullptr ? before->process().comm : "";
  if (const Result<void> done = (app.*act)(number); !done) return failed(done.error());
  if (const Target* const now = app.find(number)) comm = now->process().comm;
  return answer({{"target", {{"pid", number}, {"comm", comm}}}});
}

std::string note_of(const App::RuleChange& change, const std::string& verb) {
  if (verb == "detach") return "";
  if (change.named == 0) return "names no process now; those that come count";
  if (change.waiting != 0) return "processes below min-size are checked every attach_poll";
  return "";
}

json with_rule(App& app, const Request& request,
               Result<App::RuleChange> (App::*act)(const std::string&, bool)) {
  const auto word = text_arg(request.args, "rule");
  if (!word) return misused(word.error());
  const auto save = flag_arg(request.args, "save");
  if (!save) return misused(save.error());
  const auto change = (app.*act)(*word, *save);
  if (!change) return change.error().err != 0 ? failed(change.error()) : misused(change.error());
  return answer({{"rule",
                  {{"rule", change->rule},
                   {"named", change->named},
                   {"managed", change->managed},
                   {"waiting", change->waiting},
                   {"saved", change->saved.empty() ? json() : json(change->saved)},
                   {"note", note_of(*change, request.verb)}}}});
}

json verb_attach(App& app, const Request& request) {
  return request.args.contains("rule") ? with_rule(app, request, &App::attach_rule)
                                       : with_pid(app, request, &App::attach);
}
json verb_detach(App& app, const Request& request) {
  return request.args.contains("rule") ? with_rule(app, request, &App::detach_rule)
                                       : with_pid(app, request, &App::detach);
}

/// A mode for one process as long as the connection lasts: of `hmkctl try` and `ab`. With
/// `put_back` what was moved goes back.
json verb_hold(App& app, const Request& request) {
  const auto pid = number_arg(request.args, "pid", 0, 1, kMaxPid);
  if (!pid || *pid == 0) return misused(pid ? Error{"no PID given", ""} : pid.error());
  const auto name = text_arg(request.args, "mode");
  if (!name) return misused(name.error());
  Config wanted;
  if (const auto done = find_key("mode")->set(wanted, *name); !done) return misused(done.error());
  const auto put_back = flag_arg(request.args, "put_back");
  if (!put_back) return misused(put_back.error());
  if (*put_back && wanted.mode != Mode::track_only)
    return misused({"put_back goes with the mode track-only only", ""});
  const auto number = static_cast<std::int32_t>(*pid);
  if (const auto done = app.hold(request.client, number, wanted.mode, *put_back); !done)
    return failed(done.error());
  const Target& target = *app.find(number);
  return answer(
      {{"target",
        {{"pid", number}, {"comm", target.process().comm}, {"mode", to_string(target.mode())}}}});
}

json verb_events(App& app, const Request& request) {
  const auto now = app.subscribe(request.client);
  return now ? answer(*now) : failed(now.error());
}

/// The bytes of a recording follow the answer.
json verb_record(App& app, const Request& request) {
  const auto targets = seen_targets_arg(app, request);
  if (!targets) return failed(targets.error());
  if (targets->size() != 1) return misused({"one process is recorded at a time", "give its PID"});
  const Target& target = *targets->front();
  if (const auto done = app.record(request, target); !done) return failed(done.error());
  return answer({{"target", {{"pid", target.pid()}, {"comm", target.process().comm}}}});
}

/// A plan is longer than a request may be: it comes in parts.
json verb_plan_part(App& app, const Request& request) {
  const auto text = text_arg(request.args, "hex");
  if (!text) return misused(text.error());
  const auto bytes = from_hex(*text);
  if (!bytes) return misused({"hex is no pairs of hexadecimal digits", ""});
  if (const auto done = app.add_plan_part(request.client, *bytes); !done)
    return failed(done.error());
  return answer(json::object());
}

json verb_plan_status(App& app, const Request& request) {
  const auto targets = seen_targets_arg(app, request);
  if (!targets) return failed(targets.error());
  return answer(report_plans(*targets));
}

json verb_plan_load(App& app, const Request& request) {
  const auto pid = number_arg(request.args, "pid", 0, 1, kMaxPid);
  if (!pid || *pid == 0) return misused(pid ? Error{"no PID given", ""} : pid.error());
  const auto number = static_cast<std::int32_t>(*pid);
  const bool drops = request.verb == "plan-drop";
  const auto done = drops ? app.drop_plan(number) : app.load_plan(request.client, number);
  if (!done) return failed(done.error());
  return drops ? answer({{"target", {{"pid", number}, {"comm", app.find(number)->process().comm}}}})
               : answer(report_plans({app.find(number)}));
}

struct Verb {
  std::string_view name;
  bool changes;
  json (*run)(App&, const Request&);
};

constexpr std::array kVerbs{
    Verb{"status", false, verb_status},
    Verb{"tiers", false, verb_tiers},
    Verb{"regions", false, verb_regions},
    Verb{"stats", false, verb_stats},
    Verb{"gain", false, verb_gain},
    Verb{"labels", false, verb_labels},
    Verb{"why", false, verb_why},
    Verb{"version", false, verb_version},
    Verb{"set", true, verb_set},
    Verb{"attach", true, verb_attach},
    Verb{"detach", true, verb_detach},
    Verb{"reload", true, verb_reload},
    Verb{"pause", true, verb_pause},
    Verb{"resume", true, verb_pause},
    Verb{"hold", true, verb_hold},
    Verb{"history", false, verb_history},
    Verb{"get", false, verb_get},
    Verb{"config", false, verb_config},
    Verb{"events", false, verb_events},
    Verb{"record", false, verb_record},
    Verb{"plan-part", true, verb_plan_part},
    Verb{"plan-load", true, verb_plan_load},
    Verb{"plan-drop", true, verb_plan_load},
    Verb{"plan-status", false, verb_plan_status},
};

json find_and_run(App& app, const Request& request) {
  const auto* const verb = std::ranges::find(kVerbs, request.verb, &Verb::name);
  if (verb == kVerbs.end()) {
    std::vector<std::string_view> names(kVerbs.size());
    std::ranges::transform(kVerbs, names.begin(), &Verb::name);
    return misused({"unknown verb '" + request.verb + "'", did_you_mean(request.verb, names)});
  }
  if (verb->changes && !request.peer.may_change)
    return failed(
        {"'" + request.verb + "' changes hmkd and this user may only read", by_right(app)});
  return verb->run(app, request);
}

}  // namespace

json run_verb(App& app, const Request& request) {
  try {
    return find_and_run(app, request);
  } catch (const std::exception& e) {
    // A fault of ours, not of the client; the loop must go on.
    spdlog::error("verb failed verb={} reason=\"{}\"", request.verb, e.what());
    return failed({"hmkd failed inside: " + std::string(e.what()), "report it as a bug"});
  }
}

Server::Page run_page(App& app, const std::string& path) {
  try {
    if (path != "/metrics") return {};
    return {kOpenMetricsType, to_open_metrics({.status = report_status(app, app.targets()),
                                               .stats = report_stats(app, app.targets()),
                                               .version = report_version(app),
                                               .ended = app.ended().rows(),
                                               .by_pid = app.config().metrics_by_pid,
                                               .cpu_ns = static_cast<std::uint64_t>(
                                                   now_of(CLOCK_PROCESS_CPUTIME_ID).count())})};
  } catch (const std::exception& e) {
    spdlog::error("metrics failed reason=\"{}\"", e.what());
    return {};
  }
}

}  // namespace hmk

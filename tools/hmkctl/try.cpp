// SPDX-License-Identifier: MIT
#include <cerrno>
#include <cmath>

#include "status_line.hpp"
#include "trial.hpp"
#include "util/printable.hpp"
#include "verdict_text.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

void show_progress(StatusLine& line, const hmk::RecordedTarget& target,
                   std::chrono::nanoseconds passed, std::chrono::nanoseconds time) {
  const auto seconds = [](std::chrono::nanoseconds ns) {
    return static_cast<long long>(std::chrono::round<std::chrono::seconds>(ns).count());
  };
  line.show("watching %s for %lld s, nothing is moved: %lld s", hmk::printable(target.comm).c_str(),
            seconds(time), seconds(passed));
}

void print_text(const json& answer, const Outlook& outlook) {
  static const std::vector<Table> kTables{{"tiers",
                                           {{"tier", "TIER"},
                                            {"latency_ns", "LATENCY ns"},
                                            {"resident_bytes", "RESIDENT", Unit::bytes},
                                            {"room_bytes", "ROOM", Unit::bytes},
                                            {"now_percent", "SERVES NOW", Unit::percent},
                                            {"best_percent", "AT BEST", Unit::percent}}}};
  const json& trial = answer.at("trial");
  const auto text_of = [&](const char* member) { return trial.at(member).get<std::string>(); };
  std::string text = trial.at("comm").is_null() ? "" : hmk::printable(text_of("comm")) + ", ";
  text += "PID " + trial.at("pid").dump() + ": " + text_of("text") + "\n";
  if (outlook.latency_now_ns && outlook.verdict == Verdict::gain)
    text += "Estimate: " + to_text(std::llround(*outlook.latency_now_ns), Unit::plain) + " -> " +
            to_text(std::llround(*outlook.latency_best_ns), Unit::plain) + " ns for a mean access" +
            (outlook.saved_ns_per_s ? ", at most " + to_text(*outlook.saved_ns_per_s, Unit::ns) +
                                          " less waiting in each second.\n"
                                    : ".\n");
  if (const std::string next = text_of("remedy"); !next.empty()) text += "Next: " + next + ".\n";
  if (!trial.at("intervals").is_null())
    text += "Watched for " + to_text(trial.at("time_ns"), Unit::ns) +
            ", intervals: " + trial.at("intervals").dump() + ". Measured " +
            to_text(trial.at("measured_bytes"), Unit::bytes) + " of its " +
            to_text(trial.at("resident_bytes"), Unit::bytes) + ". Nothing was moved.\n";
  if (outlook.curve.rate() > 0) text += "\n" + curve_text(outlook);
  if (!outlook.tiers.empty()) text += "\n" + to_text(answer, kTables);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int run_try(const Context& context, const WatchOptions& options) {
  end_watch_on_signals();
  Trial trial(context, options);
  const auto trouble = [&] {
    StatusLine line;
    return trial.watch([&](const auto& target, std::chrono::nanoseconds passed) {
      show_progress(line, target, passed, options.time);
    });
  }();
  Outlook outlook;
  if (trouble && trouble->problem.err == EOPNOTSUPP)
    outlook.verdict = Verdict::virtual_machine;
  else if (trouble)
    return fail(context, *trouble);
  else
    outlook = look_ahead(trial.seen());
  const json answer = trial_json(trial, outlook);
  return tell(context, answer, [&](const json& told) { print_text(told, outlook); });
}

}  // namespace

Run make_try(CLI::App& verb) {
  auto options = std::make_shared<WatchOptions>(WatchOptions{.time = std::chrono::minutes(1)});
  verb.add_option("pid", options->pid, "PID of a running process")
      ->required()
      ->check(CLI::Range(1, 4194304));
  add_time_options(verb, *options);
  return [options](const Context& context) { return run_try(context, *options); };
}

}  // namespace hmkctl

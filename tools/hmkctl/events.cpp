// SPDX-License-Identifier: MIT
//
// What happens in hmkd, as it happens: a line for each event.
#include <cstdio>
#include <ctime>

#include "util/printable.hpp"
#include "verb.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

std::string clock_text(const json& time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns.get<std::int64_t>() / 1'000'000'000);
  std::tm local{};
  char text[32] = "";
  (void)std::strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&seconds, &local));
  return text;
}

/// "12:00:01 moved pid=4711 comm=redis-server promoted_bytes=8.0MiB"
std::string line_of(const json& event) {
  std::string line = clock_text(event.at("time_ns")) + " " + event.at("event").get<std::string>();
  for (const auto& [key, value] : event.items()) {
    if (key == "time_ns" || key == "event") continue;
    const std::string text =
        value.is_string() ? value.get<std::string>()
                          : to_text(value, key.ends_with("_bytes") ? Unit::bytes : Unit::plain);
    line += " " + key + "=" + hmk::printable_word(text);
  }
  return line + "\n";
}

void show_event(const Context& context, const json& event) {
  const std::string line = context.as_json ? json_text(event, -1) : line_of(event);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

int run_events(const Context& context, unsigned count) {
  Connection hmkd(context.socket);
  const Reply reply = hmkd.ask("events", {});
  if (reply.exit_code != kOk) return fail(context, reply);
  show_event(context, reply.data);
  bool is_dropped = false;
  for (unsigned seen = 0; count == 0 || seen < count; ++seen) {
    const auto event = hmkd.next();
    if (!event && is_dropped)
      return fail(context, Reply{kFailed,
                                 {"hmkd has dropped a reader that was too slow",
                                  "start it again; what happened meanwhile is in the log"}});
    if (!event)
      return fail(context, Reply{kUnreachable,
                                 {"hmkd has ended, or closed the connection",
                                  "see 'systemctl status hmkd'"}});
    show_event(context, *event);
    is_dropped = event->at("event") == "dropped";
  }
  return kOk;
}

}  // namespace

Run make_events(CLI::App& verb) {
  auto count = std::make_shared<unsigned>(0);
  verb.add_option("--count", *count, "end after so many events")->check(CLI::PositiveNumber);
  return [count](const Context& context) { return run_events(context, *count); };
}

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include <algorithm>

#include "screen.hpp"
#include "verb.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

struct TopOptions {
  int pid = 0;
  bool once = false;
};

/// The intervals shown: a new number anywhere means that there is news.
json intervals_of(const json& status) {
  json seen = json::array();
  const json::json_pointer seq("/last_interval/seq");  // absent before the first interval
  for (const json& target : status.value("targets", json::array()))
    seen.push_back({target.value("pid", 0), target.contains(seq) ? target.at(seq) : json()});
  return seen;
}

/// Asks four times per interval, so that a new one shows soon after it ends.
std::chrono::milliseconds pause_of(const json& status) {
  const auto interval_ns =
      status.value("daemon", json::object()).value("interval_ns", std::int64_t{10'000'000'000});
  return std::clamp(std::chrono::milliseconds(interval_ns / 4'000'000),
                    std::chrono::milliseconds(50), std::chrono::milliseconds(1000));
}

Reply ask_regions(const Context& context, const TopOptions& options, int limit) {
  json args{{"limit", std::clamp(limit, 1, 100)}};
  if (options.pid != 0) args["pid"] = options.pid;
  return ask(context.socket, "regions", args);
}

/// Both answers in one object; a description of each lies side by side.
std::string frame(const json& status, const json& regions, bool as_json) {
  if (!as_json) return to_text(status, status_tables()) + "\n" + to_text(regions, region_tables());
  json out = select(status, status_tables());
  out["regions"] = select(regions, region_tables())["targets"];
  return json_text(out, -1);
}

int run_top(const Context& context, const TopOptions& options) {
  std::unique_ptr<Screen> screen;
  json shown;
  for (;;) {
    const Reply status = ask(context.socket, "status", {});
    if (status.exit_code != kOk) {
      screen.reset();  // leave the full screen before a word to the user
      return fail(context, status);
    }
    const json now = intervals_of(status.data);
    if (!screen) screen = make_screen(options.once || context.as_json);
    if (shown.is_null() || now != shown) {
      const Reply regions = ask_regions(context, options, screen->lines() / 2);
      if (regions.exit_code != kOk) {
        screen.reset();
        return fail(context, regions);
      }
      screen->draw(frame(status.data, regions.data, context.as_json));
      shown = now;
    }
    if (options.once || !screen->wait(pause_of(status.data))) return kOk;
  }
}

}  // namespace

Run make_top(CLI::App& verb) {
  auto options = std::make_shared<TopOptions>();
  verb.add_option("--pid", options->pid, "regions of this process only");
  verb.add_flag("--once", options->once, "print once and end");
  return [options](const Context& context) { return run_top(context, *options); };
}

}  // namespace hmkctl

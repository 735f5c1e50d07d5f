// SPDX-License-Identifier: MIT
//
// load, drop and status of `hmkctl plan`: what a running hmkd does with a plan.
#include "plan.hpp"
#include "record/tier_plan.hpp"
#include "util/hex.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

constexpr std::size_t kPartBytes = 24u << 10;  // two digits a byte, in a request of 64 KiB

const std::vector<Table>& plan_tables() {
  static const std::vector<Table> kTables{{"plans",
                                           {{"pid", "PID"},
                                            {"comm", "COMM"},
                                            {"made_from/pid", "MADE FROM"},
                                            {"made_from/comm", "COMM"},
                                            {"window", "WINDOW"},
                                            {"windows", "OF"},
                                            {"window_ns", "EACH", Unit::ns},
                                            {"found_percent", "FOUND", Unit::percent},
                                            {"misplaced_bytes", "TO MOVE", Unit::bytes}}}};
  return kTables;
}

int run_load(const Context& context, const std::string& file, int pid) {
  // Read here: with the rights of the caller, and an error names the file.
  const auto plan = hmk::read_plan(file);
  if (!plan) return fail(context, plan.error());
  const std::string bytes = hmk::encode(*plan);
  Connection hmkd(context.socket);
  for (std::size_t at = 0; at < bytes.size(); at += kPartBytes)
    if (const Reply sent =
            hmkd.ask("plan-part", {{"hex", hmk::to_hex(bytes.substr(at, kPartBytes))}});
        sent.exit_code != kOk)
      return fail(context, sent);
  const Reply loaded = hmkd.ask("plan-load", {{"pid", pid}});
  if (loaded.exit_code != kOk) return fail(context, loaded);
  print(loaded.data, plan_tables(), context.as_json);
  return kOk;
}

void add_pid(CLI::App& verb, int& pid) {
  verb.add_option("--pid", pid, "of this process")->required()->check(CLI::Range(1, 4194304));
}

}  // namespace

Run make_plan_load(CLI::App& verb) {
  auto file = std::make_shared<std::string>();
  auto pid = std::make_shared<int>(0);
  verb.add_option("FILE", *file, "what 'hmkctl plan schedule' has written")->required();
  add_pid(verb, *pid);
  return [file, pid](const Context& context) { return run_load(context, *file, *pid); };
}

Run make_plan_drop(CLI::App& verb) {
  auto pid = std::make_shared<int>(0);
  add_pid(verb, *pid);
  return [pid](const Context& context) {
    static const std::vector<Table> kTables{{"target", {{"pid", "PID"}, {"comm", "COMM"}}}};
    return show(context, "plan-drop", {{"pid", *pid}}, kTables);
  };
}

Run make_plan_status(CLI::App& verb) {
  const auto args = pid_option(verb);
  return [args](const Context& context) {
    return show(context, "plan-status", args(), plan_tables());
  };
}

}  // namespace hmkctl

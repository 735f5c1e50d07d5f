// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {
namespace {

Run make_with_pid(CLI::App& verb, const char* name) {
  auto pid = std::make_shared<int>(0);
  verb.add_option("pid", *pid, "PID of a running process")
      ->required()
      ->check(CLI::Range(1, 4194304));
  return [pid, name](const Context& context) {
    static const std::vector<Table> kTables{{"target", {{"pid", "PID"}, {"comm", "COMM"}}}};
    return show(context, name, {{"pid", *pid}}, kTables);
  };
}

}  // namespace

Run make_attach(CLI::App& verb) {
  return make_with_pid(verb, "attach");
}

Run make_detach(CLI::App& verb) {
  return make_with_pid(verb, "detach");
}

}  // namespace hmkctl

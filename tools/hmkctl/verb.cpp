// SPDX-License-Identifier: MIT
#include "verb.hpp"

#include <cstdio>
#include <sstream>

#include "util/printable.hpp"

namespace hmkctl {

int fail(const Reply& reply) {
  std::istringstream lines(reply.problem);
  for (std::string line; std::getline(lines, line);)
    std::fprintf(stderr, "hmkctl: %s\n", hmk::printable(line).c_str());
  return reply.exit_code;
}

std::function<nlohmann::json()> pid_option(CLI::App& verb) {
  auto pid = std::make_shared<int>(0);
  verb.add_option("--pid", *pid, "of this process only")->check(CLI::Range(1, 4194304));
  return [pid] { return *pid == 0 ? nlohmann::json::object() : nlohmann::json{{"pid", *pid}}; };
}

int show(const Context& context, const std::string& verb, const nlohmann::json& args,
         const std::vector<Table>& tables) {
  const Reply reply = ask(context.socket, verb, args);
  if (reply.exit_code != kOk) return fail(reply);
  print(reply.data, tables, context.as_json);
  return kOk;
}

}  // namespace hmkctl

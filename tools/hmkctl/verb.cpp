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

int show(const Context& context, const std::string& verb, const nlohmann::json& args,
         const std::vector<Table>& tables) {
  const Reply reply = ask(context.socket, verb, args);
  if (reply.exit_code != kOk) return fail(reply);
  print(reply.data, tables, context.as_json);
  return kOk;
}

}  // namespace hmkctl

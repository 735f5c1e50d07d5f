// SPDX-License-Identifier: MIT
#include "verb.hpp"

#include <array>
#include <cstdio>
#include <sstream>

#include "util/printable.hpp"
#include "util/private_file.hpp"

namespace hmkctl {

using nlohmann::json;

int fail(const Context& context, const Reply& reply) {
  if (context.as_json) {
    static constexpr std::array kKinds{"", "failed", "usage", "unreachable"};
    json error{{"error", kKinds.at(static_cast<std::size_t>(reply.exit_code))},
               {"what", reply.problem.what},
               {"remedy", reply.problem.remedy},
               {"exit_code", reply.exit_code}};
    if (reply.problem.err != 0) error["errno"] = reply.problem.err;
    std::fputs(json_text(error, 2).c_str(), stderr);
    return reply.exit_code;
  }
  std::istringstream lines(reply.problem.line());
  for (std::string line; std::getline(lines, line);)
    std::fprintf(stderr, "hmkctl: %s\n", hmk::printable(line).c_str());
  return reply.exit_code;
}

int fail(const Context& context, const hmk::Error& error) {
  return fail(context, Reply{kFailed, error});
}

int tell(const Context& context, const nlohmann::json& answer,
         const std::function<void(const nlohmann::json&)>& print) {
  if (context.as_json)
    std::fputs(json_text(answer, 2).c_str(), stdout);
  else
    print(answer);
  return kOk;
}

std::function<nlohmann::json()> pid_option(CLI::App& verb) {
  auto pid = std::make_shared<int>(0);
  verb.add_option("--pid", *pid, "of this process only")->check(CLI::Range(1, 4194304));
  return [pid] { return *pid == 0 ? nlohmann::json::object() : nlohmann::json{{"pid", *pid}}; };
}

int write_picture(const Context& context, const std::string& path, const std::string& svg) {
  auto file = hmk::PrivateFile::create(path);
  if (!file) return fail(context, file.error());
  const auto done = file->write(svg);
  return done ? kOk : fail(context, done.error());
}

int show(const Context& context, const std::string& verb, const nlohmann::json& args,
         const std::vector<Table>& tables) {
  const Reply reply = ask(context.socket, verb, args);
  if (reply.exit_code != kOk) return fail(context, reply);
  print(reply.data, tables, context.as_json);
  return kOk;
}

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>

#include "check.hpp"

namespace {

int run(const hmk::plan::CheckOptions& options, const std::string& file) {
  std::ofstream out;
  if (!file.empty()) {
    out.open(file);
    if (!out) {
      std::fprintf(stderr, "tools/plan: cannot write %s\n", file.c_str());
      return 1;
    }
  }
  const nlohmann::ordered_json result = hmk::plan::check(options);
  if (out.is_open()) out << result.dump(2) << '\n';
  return result["ok"].get<bool>() && (file.empty() || out.flush()) ? 0 : 1;
}

int command(int argc, char** argv) {
  CLI::App app("Hold the planner of policy/horizon against solvers and every placement there is.",
               "tools/plan");
  app.footer("Exit codes: 0 ok, 1 a promise is missed or the file cannot be written, 2 usage.");
  app.require_subcommand(1);
  CLI::App& check = *app.add_subcommand("check", "a line per promise; about a minute");
  hmk::plan::CheckOptions options;
  std::string file;
  bool is_quick = false;
  check.add_option("--small", options.small, "cases of up to six regions")->capture_default_str();
  check.add_option("--phased", options.phased, "cases of 200 regions")->capture_default_str();
  check.add_option("--seed", options.seed, "of the first case of each kind")->capture_default_str();
  check.add_flag("--quick", is_quick, "none of 20,000 groups");
  check.add_option("--json", file, "write the figures to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.large = !is_quick;
  return run(options, file);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return command(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tools/plan: %s\n", error.what());
    return 1;
  }
}

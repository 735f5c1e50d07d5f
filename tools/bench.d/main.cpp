// SPDX-License-Identifier: MIT
//
// hmk-bench core|policy: cost per region, from 10^4 to 10^7 regions; scale: the policy at 1.5 TB.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "bench.hpp"

int main(int argc, char** argv) {
  CLI::App app{
      "Time one pass of the core or one decision of the policy, or run the policy at 1.5 TB.",
      "hmk-bench"};
  std::string what, json;
  std::vector<std::uint32_t> sizes = {10000, 100000, 786432, 10000000};
  unsigned repetitions = 11;
  app.add_option("what", what, "core, policy or scale")
      ->required()
      ->check(CLI::IsMember({"core", "policy", "scale"}));
  app.add_option("--json", json, "write the figures to this file");
  app.add_option("--regions", sizes, "how many, several with commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 100000000));
  app.add_option("--repetitions", repetitions, "medians are of so many passes")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::fprintf(stderr, "hmk-bench: %s; see 'hmk-bench --help'\n", e.what());
    return 2;
  }

  const auto rows = what == "core"    ? hmk::bench::core(sizes, repetitions)
                    : what == "scale" ? hmk::bench::scale()
                                      : hmk::bench::policy(sizes, repetitions);
  for (const auto& row : rows) {
    for (const auto& [key, value] : row.items()) {
      if (value.is_string())
        std::printf("%s %s  ", key.c_str(), value.get<std::string>().c_str());
      else if (value.is_number_float())
        std::printf("%s %.3f  ", key.c_str(), value.get<double>());
      else
        std::printf("%s %llu  ", key.c_str(), value.get<unsigned long long>());
    }
    std::printf("\n");
  }
  if (json.empty()) return 0;
  std::ofstream file(json);
  file << rows.dump(1) << '\n';
  file.flush();
  if (!file) {
    std::fprintf(stderr, "hmk-bench: cannot write %s\n", json.c_str());
    return 1;
  }
  return 0;
}

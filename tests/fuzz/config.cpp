// SPDX-License-Identifier: MIT
// Any text as hmkd's configuration: a config or problems of one line each, never both, never neither.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/read.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hmk::ConfigOrProblems got =
      hmk::read_config_text(std::string(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  for (const std::string& problem : got.problems) {
    if (problem.empty() || problem.find('\n') != std::string::npos) std::abort();
  }
  if (got.problems.empty()) {
    const std::uint64_t tier = 1ull << 30;
    if (hmk::reserve_for(got.config, tier) > tier) std::abort();
  }
  return 0;
}

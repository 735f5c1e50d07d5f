// SPDX-License-Identifier: MIT
// Any text as hmkd's configuration: a config or problems of one line each, never both, never
// neither; what is read can be written and read back.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/keys.hpp"
#include "config/read.hpp"
#include "config/write.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hmk::ConfigOrProblems got =
      hmk::read_config_text(std::string(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  for (const std::string& problem : got.problems) {
    if (problem.empty() || problem.find('\n') != std::string::npos) std::abort();
  }
  if (got.problems.empty()) {
    const std::uint64_t tier = 1ull << 30;
    if (hmk::reserve_for(got.config, tier) > tier) std::abort();
    const auto again = hmk::read_config_text(
        hmk::to_yaml(got.config, got.origins, hmk::key_names()), "again.yaml");
    if (!again.problems.empty()) std::abort();
    for (const hmk::Key& key : hmk::keys())
      if (key.get(again.config) != key.get(got.config)) std::abort();
  }
  return 0;
}

// SPDX-License-Identifier: MIT
//
// hmk-chase NODE CPU read|write: what `hmkctl calibrate` follows to tell a latency, between marks 0
// and 3 of the lab, so that it can be counted whose lines those are. Prints the steps.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "gauge.hpp"
#include "mark.h"

int main(int argc, char** argv) {
  constexpr std::size_t kSteps = 50'000;  // fit into the cache of the lab
  constexpr int kTimes = 4;
  if (argc != 4) return 2;
  const auto way =
      std::string_view(argv[3]) == "write" ? hmkctl::Chain::Way::write : hmkctl::Chain::Way::read;
  const auto memory = hmkctl::NodeMemory::on(std::atoi(argv[1]), 64ul << 20, hmkctl::Pages::huge);
  if (!memory) {
    std::fprintf(stderr, "%s\n", memory.error().line().c_str());
    return 1;
  }
  hmkctl::Chain chain(*memory);
  HMK_MARK(0);
  for (int n = 0; n < kTimes; ++n) chain.step_ns(std::atoi(argv[2]), kSteps, way);
  HMK_MARK(3);
  std::printf("%zu\n", kTimes * kSteps);
  return 0;
}

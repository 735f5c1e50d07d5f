// SPDX-License-Identifier: MIT
//
// hmk-chase NODE CPU: what `hmkctl calibrate` follows to tell a latency, between marks 0 and 3 of
// the lab, so that it can be counted whose lines those are. Prints the steps.
#include <cstdio>
#include <cstdlib>

#include "gauge.hpp"
#include "mark.h"

int main(int argc, char** argv) {
  constexpr std::size_t kSteps = 200'000;
  if (argc != 3) return 2;
  const auto memory = hmkctl::NodeMemory::on(std::atoi(argv[1]), 64ul << 20, hmkctl::Pages::huge);
  if (!memory) {
    std::fprintf(stderr, "%s\n", memory.error().line().c_str());
    return 1;
  }
  hmkctl::lay_chain(*memory);
  HMK_MARK(0);
  hmkctl::chase_ns(*memory, std::atoi(argv[2]), kSteps);
  HMK_MARK(3);
  std::printf("%zu\n", kSteps);
  return 0;
}

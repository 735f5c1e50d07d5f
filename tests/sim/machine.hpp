// SPDX-License-Identifier: MIT
//
// Small machines and programs whose time can be worked out by hand.
#pragma once

#include "machine/system.hpp"
#include "support/sizes.hpp"

namespace hmk::test {

/// 8 MiB at 100 ns and 16 MiB at 300 ns; 64 bytes take 1 ns of either's bandwidth.
inline sim::LabMachine small_machine() {
  return {.name = "small",
          .mlp = 2,
          .nodes = {{8 * kMiB, true, 100, 100, 64'000}, {16 * kMiB, false, 300, 300, 64'000}},
          .tiers = {0, 1}};
}

/// All of it alike: an operation is 100 instructions and a visit, every line of it written.
inline sim::Workload even_program(sim::Bytes bytes) {
  return {.name = "small",
          .memory = bytes,
          .seconds = 60,
          .phases = {{.execution = {.instructions = 100},
                      .layers = {{.bytes = bytes, .visits = 1, .written = 1}}}}};
}

/// What ships, on the lab's machine and for one of its scenarios.
inline sim::Question shipped(const std::string& scenario, double seconds) {
  sim::Question question{.workload = sim::read_workload(sim::workload_path(scenario)),
                         .machine = sim::read_lab_machine(HMK_LAB_MACHINE),
                         .seconds = seconds};
  question.config.mode = Mode::manage;
  question.prices.exposed_ns = sim::LabMachine::kShootdownNs;
  return question;
}

}  // namespace hmk::test

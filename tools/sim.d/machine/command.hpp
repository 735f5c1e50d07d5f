// SPDX-License-Identifier: MIT
#pragma once

namespace hmk::sim {

/// `hmk-sim machine ...`, with argv[0] the word "machine". Returns the exit code.
int run_machine_command(int argc, char** argv);

}  // namespace hmk::sim

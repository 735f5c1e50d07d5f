// SPDX-License-Identifier: MIT
//
// A machine file of the lab (configs/lab/*.yaml) as one process sees it whose threads run on the
// first CPU: sizes, latencies, bandwidths, and what that makes of a miss and of a move.
//
//   const LabMachine machine = read_lab_machine("configs/lab/bench-four-tier.yaml");
//   machine.lines_ns(node, {.misses = 64, .streamed = 60, .written = 64})
//
// Prices and formulas are those of tools/lab.d/lab/prices.py and model.py ("Modelled time" in
// tools/lab.d/README.md), of idle nodes; walks are for a scenario to know.
#pragma once

#include <string>
#include <vector>

#include "machine/lines.hpp"
#include "world.hpp"

namespace hmk::sim {

struct LabNode {
  Bytes bytes = 0;
  bool has_cpus = false;
  double latency_ns = 0, write_latency_ns = 0;
  double bandwidth_mbps = 0;  // 1 MB/s is 10^6 bytes
};

struct LabMachine {
  static constexpr double kNsPerInstruction = 0.33;  // prices.py: NS_PER_INSTRUCTION
  static constexpr double kShootdownNs = 500;        // prices.py: SHOOTDOWN_NS

  std::string name;
  double mlp = 2;
  std::vector<LabNode> nodes = {};
  std::vector<int> tiers = {};  // nodes, fastest first

  int home() const;  // the node with the first CPU
  /// What they take from the program while they lie on `node`.
  double lines_ns(int node, const Lines& lines) const;
  /// CPU time of moving one page of `page` bytes, 4 KiB or 2 MiB.
  double move_ns(int from, int to, Bytes page) const;
};

/// Throws std::invalid_argument with one line: file, place, remedy.
LabMachine read_lab_machine(const std::string& path);

}  // namespace hmk::sim

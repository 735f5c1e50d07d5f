// SPDX-License-Identifier: MIT
//
// What `hmkctl calibrate` has measured on a machine: latencies and bandwidths of its nodes as
// programs see them, and what moves cost. The file is YAML, of values with units.
//
//   const Result<Calibration> measured = read_calibration("/var/lib/hmk/machine.yaml");
//   if (measured) apply(*measured, machine);
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "topology/machine.hpp"
#include "util/result.hpp"

namespace hmk {

/// By 1, 2, ... threads, in bytes/s; empty: not measured.
using BandwidthByThreads = std::vector<double>;

struct Calibration {
  struct NodeShape {
    int id = 0;
    std::set<int> cpus;
    std::uint64_t bytes = 0;
  };
  /// Of memory on `to`, from CPUs of `from`.
  struct Access {
    int from = 0, to = 0;
    std::uint32_t latency_ns = 0;        ///< of a read
    std::uint32_t write_latency_ns = 0;  ///< of a line that is written, too; 0: not measured
    BandwidthByThreads bandwidth;
  };
  /// Of pages from one node to another.
  struct Move {
    int from = 0, to = 0;
    BandwidthByThreads copy;
    double page_ns = 0, huge_ns = 0;  ///< of one of 4 KiB, of 2 MiB; 0: not measured
  };

  std::string cpu;  ///< its model, as /proc/cpuinfo has it
  std::vector<NodeShape> nodes;
  std::vector<Access> access;
  std::vector<Move> moves;

  const Access* find_access(int from, int to) const;
  const Move* find_move(int from, int to) const;
};

/// The error is one line with file and line number.
Result<Calibration> read_calibration(const std::filesystem::path& file);
std::string to_yaml(const Calibration& measured);

/// "model name" of /proc/cpuinfo; empty where there is none.
std::string cpu_model(const std::filesystem::path& root);
/// Nodes and CPU of this machine, with nothing measured yet.
Calibration shape_of(const Machine& machine, std::string cpu);
/// Whether it was measured on a machine like this: CPU model, nodes, their CPUs, and their sizes
/// but for a twentieth, which the kernel keeps more or less of.
Result<void> check_same_machine(const Calibration& measured, const Calibration& here);

/// Latencies and bandwidths in place of what HMAT says.
void apply(const Calibration& measured, Machine& machine);

}  // namespace hmk

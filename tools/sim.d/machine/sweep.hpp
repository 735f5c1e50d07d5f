// SPDX-License-Identifier: MIT
//
// Every combination of some settings over scenarios and seeds: what a constant is worth.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "machine/system.hpp"

namespace hmk::sim {

/// A key and the values it is tried with.
struct Axis {
  std::string key;
  std::vector<std::string> values;
};

/// "horizon=20,60": throws std::invalid_argument when it is not so, or hmkd would refuse it.
Axis parse_axis(const std::string& text);

/// Sets a key that the simulator knows of; throws std::invalid_argument with one line.
void set_key(Config& config, const std::string& key, const std::string& value);

struct SweepPlan {
  Question question;  // all but workload and seed
  std::vector<Workload> workloads;
  std::vector<Axis> axes;
  std::uint64_t seeds = 10;
  unsigned jobs = 2;
};

using Settings = std::vector<std::string>;  // a value for each axis

/// Of one run beside first touch.
struct Ratio {
  double whole = 0, settled = 0;
  Bytes moved = 0;
};

/// A run: which of some settings, of the plan's workloads, and the seed.
struct Cell {
  std::size_t combination = 0, workload = 0;
  std::uint64_t seed = 0;
};

/// By cell; at most `jobs` at a time, and how far it is on a terminal.
std::vector<Ratio> run_cells(const SweepPlan& plan, const std::vector<Settings>& combinations,
                             const std::vector<Cell>& cells);

/// One object per combination: settings, geometric means and the worst ratio to first touch.
nlohmann::ordered_json sweep_machine(const SweepPlan& plan);
void print_sweep(const nlohmann::ordered_json& list);

}  // namespace hmk::sim

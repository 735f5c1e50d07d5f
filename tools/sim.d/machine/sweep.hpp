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

/// One object per combination: settings, geometric means and the worst ratio to first touch.
nlohmann::ordered_json sweep_machine(const SweepPlan& plan);
void print_sweep(const nlohmann::ordered_json& list);

}  // namespace hmk::sim

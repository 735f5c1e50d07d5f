// SPDX-License-Identifier: MIT
//
// Which value of a constant is best, one constant after the other, by a race: all values run the
// first seeds; those that are surely slower than the fastest leave it; the others run more seeds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "machine/sweep.hpp"

namespace hmk::sim {

/// Time over first touch's of one value: a logarithm for each seed, the mean over the workloads.
struct Racer {
  std::string value;
  std::vector<double> log_time = {};  // by seed
  double worst = 0;                   // ratio of its slowest run on the first seeds, which all run
  std::string worst_workload = {};
};

/// How much slower than another, by the seeds that both have run: mean and standard error of the
/// difference of the logarithms. Without two such seeds nothing is known: the error is infinite.
struct Slower {
  double mean = 0, error = 0;
  std::size_t seeds = 0;
};
Slower slower_than(const Racer& one, const Racer& other);

/// One is surely slower than another when chance alone shows as much in one of 1,000 (Student's t).
bool is_surely_slower(const Racer& one, const Racer& other);

/// One is surely as fast as another when it differs by less than 0.1 %, and chance hides more in
/// one of 1,000 only.
bool is_surely_alike(const Racer& one, const Racer& other);

/// Who of `racers` has the least mean time; of those that ran as many seeds as any.
std::size_t fastest(const std::vector<Racer>& racers);

/// Races each axis of the plan with the winners of those before it. A shipped value stays until
/// another is surely faster. One object per axis: `key`, `shipped`, `best`, `is_best`, `values`.
nlohmann::ordered_json tune_machine(const SweepPlan& plan);
void print_tuning(const nlohmann::ordered_json& list);

/// docs/policy.md: what was asked, of which commit, and a table for each constant.
std::string tuning_page(const SweepPlan& plan, const nlohmann::ordered_json& list,
                        const std::string& commit);

}  // namespace hmk::sim

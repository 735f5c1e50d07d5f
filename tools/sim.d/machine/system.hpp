// SPDX-License-Identifier: MIT
//
// One program on one machine under one way of placing its memory, from the first operation to the
// last: the loop in which the program works, intervals end and moves come about.
//
//   const Question question{.workload = read_workload(path), .machine = read_lab_machine(file)};
//   Answer answer = place(question, System::kReactive);
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "machine/lab_machine.hpp"
#include "machine/memory.hpp"
#include "machine/program.hpp"
#include "machine/tickets.hpp"
#include "machine/workload.hpp"
#include "policy/ledger.hpp"
#include "profiler.hpp"

namespace hmk::sim {

/// first touch: nothing moves. static: the best placement that never changes, by the true heat of
/// the whole run. reactive: hmkd.
enum class System { kFirstTouch, kStatic, kReactive };

std::string_view to_string(System system);

struct Question {
  Workload workload = {};
  LabMachine machine = {};
  Config config = {};  // of hmkd; interval and overhead are also the profiler's
  Means means = {};    // costs of profiling; the rest follows from config and seed
  MovePrices prices = {};
  double seconds = 0;       // under first touch; 0: the scenario's
  double work = 1;          // times as many operations as were counted, in as many phases
  double until = 1;         // of these operations: what is done, from the first on
  double period = 0;        // of all phases of a cycle together; 0: the scenario's
  double clock_ns = 0;      // of an instruction, by the clock hmk goes by; 0: modelled time
  Bytes taken = 40 << 20;   // of each node with CPUs: the kernel's and others'
  unsigned scale = 1;       // a page stands for so many; but for config all is told so
  bool is_perfect = false;  // the profiler
  std::uint64_t seed = 1;
  std::function<void(double)> on_progress = {};  // told the part that is done, now and then
};

/// At the end of an interval.
struct Moment {
  double seconds = 0;  // by the clock hmk goes by
  double ns_per_operation = 0;
  double tier1_share = 0;
  Bytes risen = 0, fallen = 0;  // since the beginning
  double horizon = 0;           // intervals
  unsigned divisor = 1;         // the governor's, of promote_limit
  double budget_percent = 0;    // of profiling, from here on
};

struct Answer {
  System system = System::kFirstTouch;
  double operations = 0;
  double ns = 0;  // modelled, whole
  double ns_per_operation = 0, settled_ns_per_operation = 0;
  std::vector<double> share = {}, settled_share = {};  // of the misses, by tier
  std::vector<Bytes> resident = {};                    // at the end, by tier
  Bytes risen = 0, fallen = 0;
  double exposed_ns = 0;  // what moves and flushes took from the program
  double move_ns = 0;     // CPU time of moves
  double profile_ns = 0;  // CPU time of profiling
  policy::Ledger::Sums ledger = {};
  std::vector<Moment> moments = {};
};

/// What every system begins with: the work, and memory as first touch leaves it.
struct Setting {
  Memory memory;
  WorkPlan plan;
};

/// Throws std::invalid_argument where the question makes no sense.
Setting set_up(const Question& question);
/// Throws as set_up() does.
Answer place(const Question& question, System system);

}  // namespace hmk::sim

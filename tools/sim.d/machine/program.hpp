// SPDX-License-Identifier: MIT
//
// The program: work to be done, phase by phase, in a time that depends on where its memory lies.
//
//   Program program(plan, machine, memory);
//   while (!program.is_done()) program.run(ns);
//   program.moved(page, from);                  after each page that moved
//
// Work is operations, so that every system does the same. An operation takes
//
//   instructions * 0.33 ns + other + sum over nodes of LabMachine::lines_ns()
//
// and what moves and profiling take from the program comes on top.
#pragma once

#include <array>
#include <vector>

#include "machine/lab_machine.hpp"
#include "machine/memory.hpp"
#include "machine/workload.hpp"

namespace hmk::sim {

/// What an operation takes wherever the memory lies.
inline double fixed_ns(const Execution& execution) {
  return execution.instructions * LabMachine::kNsPerInstruction + execution.other_ns;
}

/// A stretch of work: so many operations of one phase.
struct Stretch {
  std::size_t phase = 0;
  double operations = 0;
};

/// All work of a run: what first touch does in the scenario's seconds.
struct WorkPlan {
  std::vector<Execution> executions;  // by phase
  std::vector<Heat> heat;             // by phase
  std::vector<Stretch> stretches;
  double operations = 0;
};

WorkPlan plan_work(const Workload& load, double seconds, std::uint64_t seed,
                   const LabMachine& machine, const Memory& first_touch);

class Program {
 public:
  /// `clock_ns`: of the clock that hmk goes by, an instruction takes so long and a miss nothing;
  /// 0: that clock is the modelled time. All three must outlive the program.
  Program(const WorkPlan& plan, const LabMachine& machine, const Memory& memory, double clock_ns);

  bool is_done() const { return at_ == plan_->stretches.size(); }
  /// Until the stretch ends, at the present pace.
  double ns_left() const;
  /// Works for `ns` of the clock, no more than ns_left().
  void run(double ns);
  /// What stands in its way before it goes on, in modelled time.
  void stall(double ns) { stall_ns_ += ns; }
  /// The page, which lay on `from`, is where the memory says now.
  void moved(std::uint64_t page, int from);

  double ns_per_operation() const;
  /// Of the misses of an operation, those of a node.
  double share(int node) const;

  /// What was done in all, and in the last quarter of the instructions: of a guest's window, whose
  /// clock counts them.
  struct Done {
    double operations = 0, ns = 0, stall_ns = 0;
    std::vector<double> misses = {};  // by node
  };
  const Done& whole() const { return whole_; }
  const Done& settled() const { return settled_; }
  /// Operations of each phase since the last call.
  std::vector<double> take_recent();

 private:
  using Sums = std::vector<Lines>;  // of an operation, by node
  double phase_ns(std::size_t phase) const;
  double instructions() const;  // of an operation
  double clock_ns(double modelled_ns) const;
  void add(Done& done, double operations, double ns, double stall_ns) const;

  const WorkPlan* plan_;
  const LabMachine* machine_;
  const Memory* memory_;
  double clock_ns_;
  std::vector<Sums> sums_;  // by phase
  std::size_t at_ = 0;      // stretch
  double left_ = 0;         // operations of it
  double stall_ns_ = 0;
  double executed_ = 0, settled_from_ = 0;  // instructions
  Done whole_, settled_;
  std::vector<double> recent_;
};

}  // namespace hmk::sim

// SPDX-License-Identifier: MIT
#include "machine/program.hpp"

#include <algorithm>
#include <numeric>

namespace hmk::sim {

namespace {

constexpr double kSettled = 0.75;  // of the operations; the rest is the last quarter

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

WorkPlan plan_work(const Workload& load, double seconds, std::uint64_t seed,
                   const LabMachine& machine, const Memory& first_touch) {
  WorkPlan plan;
  for (const Phase& phase : load.phases) {
    plan.instructions.push_back(phase.instructions);
    plan.heat.push_back(heat_of(load, phase, seed));
  }
  // With no work yet it says how long an operation of each phase takes.
  for (std::size_t i = 0; i < load.phases.size(); ++i) plan.stretches.push_back({i, 1});
  std::vector<double> ns;
  Program probe(plan, machine, first_touch, 0);
  for (; !probe.is_done(); probe.run(probe.ns_left())) ns.push_back(probe.ns_per_operation());
  plan.stretches.clear();
  double left = seconds;
  for (std::size_t i = 0; left > 1e-9; i = (i + 1) % load.phases.size()) {
    const Phase& phase = load.phases[i];
    double lasts = phase.share > 0 ? phase.share * seconds : phase.seconds;
    lasts = lasts == 0 ? left : std::min(lasts, left);
    plan.stretches.push_back({i, lasts * 1e9 / ns[i]});
    plan.operations += plan.stretches.back().operations;
    left -= lasts;
  }
  return plan;
}

Program::Program(const WorkPlan& plan, const LabMachine& machine, const Memory& memory,
                 double clock_ns)
    : plan_(&plan),
      machine_(&machine),
      memory_(&memory),
      clock_ns_(clock_ns),
      left_(plan.stretches.front().operations),
      recent_(plan.heat.size()) {
  whole_.misses.resize(memory.nr_nodes());
  settled_.misses.resize(memory.nr_nodes());
  for (const Heat& heat : plan.heat) {
    Sums& sums = sums_.emplace_back();
    sums.misses.resize(memory.nr_nodes());
    sums.written.resize(memory.nr_nodes());
    for (std::uint64_t page = 0; page < memory.pages(); ++page) {
      const auto node = static_cast<std::size_t>(memory.node(page));
      sums.misses[node] += static_cast<double>(heat.misses[page]);
      sums.written[node] += static_cast<double>(heat.written[page]);
    }
  }
}

void Program::moved(std::uint64_t page, int from) {
  const auto source = static_cast<std::size_t>(from);
  const auto target = static_cast<std::size_t>(memory_->node(page));
  for (std::size_t phase = 0; phase < sums_.size(); ++phase) {
    const double misses = plan_->heat[phase].misses[page],
                 written = plan_->heat[phase].written[page];
    sums_[phase].misses[source] -= misses;
    sums_[phase].misses[target] += misses;
    sums_[phase].written[source] -= written;
    sums_[phase].written[target] += written;
  }
}

double Program::phase_ns(std::size_t phase) const {
  double ns = plan_->instructions[phase] * LabMachine::kNsPerInstruction;
  for (std::size_t node = 0; node < memory_->nr_nodes(); ++node) {
    const int id = static_cast<int>(node);
    ns += sums_[phase].misses[node] * machine_->miss_ns(id) +
          sums_[phase].written[node] * machine_->write_back_ns(id);
  }
  return ns;
}

double Program::ns_per_operation() const {
  return phase_ns(plan_->stretches[at_].phase);
}

double Program::share(int node) const {
  const Sums& sums = sums_[plan_->stretches[at_].phase];
  return sums.misses[static_cast<std::size_t>(node)] / sum(sums.misses);
}

/// What a piece of modelled work of this phase takes by the clock.
double Program::clock_ns(double modelled_ns) const {
  if (clock_ns_ == 0) return modelled_ns;
  const double instructions = plan_->instructions[plan_->stretches[at_].phase];
  return modelled_ns / ns_per_operation() * instructions * clock_ns_;
}

double Program::ns_left() const {
  return clock_ns(left_ * ns_per_operation() + stall_ns_);
}

void Program::add(Done& done, double operations, double ns, double stall_ns) const {
  const Sums& sums = sums_[plan_->stretches[at_].phase];
  done.operations += operations;
  done.ns += ns;
  done.stall_ns += stall_ns;
  for (std::size_t node = 0; node < sums.misses.size(); ++node)
    done.misses[node] += operations * sums.misses[node];
}

void Program::run(double ns) {
  const double each = ns_per_operation(), modelled = ns * each / clock_ns(each);
  const bool is_last = ns >= ns_left();
  const double stalled = is_last ? stall_ns_ : std::min(stall_ns_, modelled);
  const double operations = is_last ? left_ : std::min(left_, (modelled - stalled) / each);
  // Of these, what lies in the last quarter of all.
  const double border = kSettled * plan_->operations;
  const double late = std::clamp(whole_.operations + operations - border, 0.0, operations);
  add(whole_, operations, operations * each + stalled, stalled);
  if (whole_.operations > border) {
    const double part = operations > 0 ? late / operations : 1;
    add(settled_, late, late * each + stalled * part, stalled * part);
  }
  stall_ns_ -= stalled;
  left_ -= operations;
  recent_[plan_->stretches[at_].phase] += operations;
  if (!is_last) return;
  if (++at_ < plan_->stretches.size()) left_ = plan_->stretches[at_].operations;
}

std::vector<double> Program::take_recent() {
  std::vector<double> recent(recent_.size());
  recent.swap(recent_);
  return recent;
}

}  // namespace hmk::sim

// SPDX-License-Identifier: MIT
#include "machine/program.hpp"

#include <algorithm>
#include <numeric>

namespace hmk::sim {

namespace {

constexpr double kSettled = 0.75;  // of the instructions; the rest is the last quarter

double misses_of(const std::vector<Lines>& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), 0.0,
                         [](double sum, const Lines& lines) { return sum + lines.misses; });
}

}  // namespace

WorkPlan plan_work(const Workload& load, double seconds, std::uint64_t seed,
                   const LabMachine& machine, const Memory& first_touch) {
  WorkPlan plan;
  for (const Phase& phase : load.phases) {
    plan.executions.push_back(phase.execution);
    plan.heat.push_back(heat_of(load, phase, seed));
  }
  if (load.phases.front().operations > 0) {
    for (std::size_t i = 0; i < load.phases.size(); ++i) {
      plan.stretches.push_back({i, load.phases[i].operations});
      plan.operations += plan.stretches.back().operations;
    }
    return plan;
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
  for (const Stretch& stretch : plan.stretches)
    settled_from_ += kSettled * stretch.operations * plan.executions[stretch.phase].instructions;
  whole_.misses.resize(memory.nr_nodes());
  settled_.misses.resize(memory.nr_nodes());
  for (const Heat& heat : plan.heat) {
    Sums& sums = sums_.emplace_back(memory.nr_nodes());
    for (std::uint64_t page = 0; page < memory.pages(); ++page)
      sums[static_cast<std::size_t>(memory.node(page))] += heat.lines(page);
  }
}

void Program::moved(std::uint64_t page, int from) {
  const auto source = static_cast<std::size_t>(from);
  const auto target = static_cast<std::size_t>(memory_->node(page));
  for (std::size_t phase = 0; phase < sums_.size(); ++phase) {
    const Lines lines = plan_->heat[phase].lines(page);
    sums_[phase][source] += lines * -1;
    sums_[phase][target] += lines;
  }
}

double Program::phase_ns(std::size_t phase) const {
  double ns = fixed_ns(plan_->executions[phase]);
  for (std::size_t node = 0; node < memory_->nr_nodes(); ++node)
    ns += machine_->lines_ns(static_cast<int>(node), sums_[phase][node]);
  return ns;
}

double Program::ns_per_operation() const {
  return phase_ns(plan_->stretches[at_].phase);
}

double Program::instructions() const {
  return plan_->executions[plan_->stretches[at_].phase].instructions;
}

double Program::share(int node) const {
  const Sums& sums = sums_[plan_->stretches[at_].phase];
  return sums[static_cast<std::size_t>(node)].misses / misses_of(sums);
}

/// What a piece of modelled work of this phase takes by the clock.
double Program::clock_ns(double modelled_ns) const {
  if (clock_ns_ == 0) return modelled_ns;
  return modelled_ns / ns_per_operation() * instructions() * clock_ns_;
}

double Program::ns_left() const {
  return clock_ns(left_ * ns_per_operation() + stall_ns_);
}

void Program::add(Done& done, double operations, double ns, double stall_ns) const {
  const Sums& sums = sums_[plan_->stretches[at_].phase];
  done.operations += operations;
  done.ns += ns;
  done.stall_ns += stall_ns;
  for (std::size_t node = 0; node < sums.size(); ++node)
    done.misses[node] += operations * sums[node].misses;
}

void Program::run(double ns) {
  const double each = ns_per_operation(), modelled = ns * each / clock_ns(each);
  const bool is_last = ns >= ns_left();
  const double stalled = is_last ? stall_ns_ : std::min(stall_ns_, modelled);
  const double operations = is_last ? left_ : std::min(left_, (modelled - stalled) / each);
  add(whole_, operations, operations * each + stalled, stalled);
  executed_ += operations * instructions();
  if (executed_ > settled_from_) {
    const double past = (executed_ - settled_from_) / instructions();
    const double late = std::min(past, operations), part = operations > 0 ? late / operations : 1;
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

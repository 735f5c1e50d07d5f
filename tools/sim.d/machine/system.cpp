// SPDX-License-Identifier: MIT
#include "machine/system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "machine/host.hpp"
#include "machine/watcher.hpp"

namespace hmk::sim {

namespace {

std::vector<Bytes> rooms_of(const Question& question) {
  std::vector<Bytes> rooms;
  for (const LabNode& node : question.machine.nodes) {
    const Bytes taken = node.has_cpus ? question.taken : 0;
    if (taken >= node.bytes) throw std::invalid_argument("--taken leaves a node without memory");
    rooms.push_back(node.bytes - taken);
  }
  return rooms;
}

Workload with_period(Workload load, double period) {
  if (period == 0) return load;
  if (!load.is_cycle)
    throw std::invalid_argument("'" + load.name + "' has no period: its phases do not repeat");
  for (Phase& phase : load.phases) {
    phase.share = 0;
    phase.seconds = period / static_cast<double>(load.phases.size());
  }
  return load;
}

/// What the whole run gains of each page by having it in the fastest tier, not in the slowest.
std::vector<double> true_heat(const WorkPlan& plan, const LabMachine& machine) {
  std::vector<double> heat(plan.heat.front().misses.size());
  for (const Stretch& stretch : plan.stretches)
    for (std::size_t page = 0; page < heat.size(); ++page) {
      const Lines lines = plan.heat[stretch.phase].lines(page) * stretch.operations;
      heat[page] += machine.lines_ns(machine.tiers.back(), lines) -
                    machine.lines_ns(machine.tiers.front(), lines);
    }
  return heat;
}

Means means_of(const Question& question) {
  Means means = question.means;
  means.seed = question.seed;
  means.interval_s = std::chrono::duration<double>(question.config.interval).count();
  means.budget_percent = question.config.overhead_bp / 100.0;
  means.num_scans = question.config.num_scans;
  means.equal_windows = question.config.equal_windows;
  return means;
}

/// What hmkd's keys tell of bytes, where a page stands for several.
Config scaled(Config config, unsigned scale) {
  config.promote_limit = std::max<Bytes>(config.promote_limit / scale, Memory::kPage);
  if (config.reserve) *config.reserve /= scale;
  for (auto* const limits : {&config.caps, &config.floors})
    for (auto& [whom, bytes] : *limits) bytes /= scale;
  for (auto& [tiers, bytes] : config.bandwidth) bytes /= scale;
  if (config.move_cost) *config.move_cost *= scale;
  return config;
}

std::vector<double> by_tier(const LabMachine& machine, const std::vector<double>& by_node) {
  const double all = std::accumulate(by_node.begin(), by_node.end(), 0.0);
  std::vector<double> shares;
  for (const int node : machine.tiers)
    shares.push_back(all > 0 ? by_node[static_cast<std::size_t>(node)] / all : 0);
  return shares;
}

Answer sum_up(const Question& question, const Program& program, const Memory& memory) {
  const Program::Done &whole = program.whole(), &settled = program.settled();
  Answer answer{.operations = whole.operations,
                .ns = whole.ns,
                .ns_per_operation = whole.ns / whole.operations,
                .settled_ns_per_operation = settled.ns / settled.operations,
                .share = by_tier(question.machine, whole.misses),
                .settled_share = by_tier(question.machine, settled.misses),
                .exposed_ns = whole.stall_ns};
  for (const int node : question.machine.tiers)
    answer.resident.push_back(memory.used(node) * question.scale);
  return answer;
}

/// Leaves so many operations, from the first on.
void cut(WorkPlan& plan, double operations) {
  plan.operations = operations;
  double left = operations;
  std::size_t kept = 0;
  for (; kept < plan.stretches.size() && left > 0; ++kept) {
    plan.stretches[kept].operations = std::min(plan.stretches[kept].operations, left);
    left -= plan.stretches[kept].operations;
  }
  plan.stretches.resize(kept);
}

/// The loop of a managed program. All times are of the clock that hmk goes by.
class Managed {
 public:
  Managed(const Question& question, const WorkPlan& plan, Memory& memory)
      : question_(question),
        operations_(plan.operations),
        program_(plan, question.machine, memory, question.clock_ns),
        tickets_(question.machine, memory, program_, question.prices),
        watcher_(plan, memory, means_of(question), question.is_perfect),
        host_(question.machine, memory, tickets_, scaled(question.config, question.scale)),
        interval_ns_(static_cast<std::uint64_t>(question.config.interval.count())),
        interval_end_(interval_ns_) {
    watcher_.begin();
  }

  void run() {
    while (!program_.is_done()) {
      const std::uint64_t next = next_event();
      const double left = program_.ns_left(), until = static_cast<double>(next - now_) - part_;
      if (left < until) {
        work(left);
        continue;
      }
      work(until);
      now_ = next;
      part_ = 0;
      if (program_.is_done()) return;
      if (tickets_.ends_at() == now_) host_.tell(HMK_EVENT_TICKET, tickets_.end(), now_);
      if (now_ == interval_end_) end_interval();
      if (host_.wakes_at().value_or(now_ + 1) <= now_) host_.wake(now_);
    }
  }

  Answer answer(const Memory& memory) {
    Answer answer = sum_up(question_, program_, memory);
    answer.risen = tickets_.risen() * question_.scale;
    answer.fallen = tickets_.fallen() * question_.scale;
    answer.move_ns = tickets_.spent_ns();
    answer.profile_ns = profile_ns_;
    answer.ledger = host_.target().balance().ledger().sums();
    answer.moments = std::move(moments_);
    return answer;
  }

 private:
  std::uint64_t next_event() const {
    constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t next = std::min(
        {interval_end_, tickets_.ends_at().value_or(kNever), host_.wakes_at().value_or(kNever)});
    return std::max(next, now_ + 1);
  }

  /// Within an event the program may go on from one stretch of work to the next.
  void work(double ns) {
    program_.run(ns);
    part_ += ns;
  }

  void end_interval() {
    const policy::Balance& balance = host_.target().balance();
    Snapshot told = watcher_.end(program_.take_recent(), {++seq_, now_ - interval_ns_, now_});
    profile_ns_ += static_cast<double>(told.interval.profile_ns);
    program_.stall(static_cast<double>(watcher_.flushes()) * LabMachine::kShootdownNs);
    host_.publish(std::move(told));
    moments_.push_back({.seconds = static_cast<double>(now_) / 1e9,
                        .ns_per_operation = program_.ns_per_operation(),
                        .tier1_share = program_.share(question_.machine.tiers.front()),
                        .risen = tickets_.risen() * question_.scale,
                        .fallen = tickets_.fallen() * question_.scale});
    host_.tell(HMK_EVENT_INTERVAL, seq_, now_);
    moments_.back().horizon =
        balance.persistence().stands_out().horizon(horizon_for(question_.config, seq_));
    moments_.back().divisor = balance.governor().divisor();
    moments_.back().budget_percent = host_.budget_percent();
    watcher_.set_budget(host_.budget_percent());
    watcher_.begin();
    interval_end_ += interval_ns_;
    if (question_.on_progress) question_.on_progress(program_.whole().operations / operations_);
  }

  const Question& question_;
  double operations_;
  Program program_;
  Tickets tickets_;
  Watcher watcher_;
  Host host_;
  std::uint64_t interval_ns_, interval_end_;
  std::uint64_t now_ = 0, seq_ = 0;
  double part_ = 0;  // of a nanosecond and more that was worked since now_
  double profile_ns_ = 0;
  std::vector<Moment> moments_;
};

Answer leave_alone(const Question& question, const WorkPlan& plan, const Memory& memory) {
  Program program(plan, question.machine, memory, 0);
  while (!program.is_done()) program.run(program.ns_left());
  return sum_up(question, program, memory);
}

Answer manage(const Question& question, const WorkPlan& plan, Memory& memory) {
  Managed managed(question, plan, memory);
  managed.run();
  return managed.answer(memory);
}

}  // namespace

std::string_view to_string(System system) {
  switch (system) {
    case System::kFirstTouch:
      return "first-touch";
    case System::kStatic:
      return "static";
    default:
      return "reactive";
  }
}

Setting set_up(const Question& question) {
  const Workload load = with_period(question.workload, question.period);
  Memory memory(load.memory, rooms_of(question), question.machine.tiers,
                (1ull << question.means.leaf_shift) / Memory::kPage);
  if (!load.nodes.empty()) memory.place_as(load.nodes, question.machine.tiers);
  if (load.seconds == 0 && question.seconds > 0)
    throw std::invalid_argument("'" + load.name +
                                "' is as long as it was counted: leave --seconds out");
  const double seconds = question.seconds > 0 ? question.seconds : load.seconds;
  WorkPlan plan = plan_work(load, seconds, question.seed, question.machine, memory);
  for (Stretch& stretch : plan.stretches) stretch.operations *= question.work;
  plan.operations *= question.work;
  if (question.until < 1) cut(plan, question.until * plan.operations);
  return {std::move(memory), std::move(plan)};
}

Answer place(const Question& question, System system) {
  auto [memory, plan] = set_up(question);
  if (system == System::kStatic)
    memory.place_by(true_heat(plan, question.machine), question.machine.tiers);
  Answer answer = system == System::kReactive ? manage(question, plan, memory)
                                              : leave_alone(question, plan, memory);
  answer.system = system;
  return answer;
}

}  // namespace hmk::sim

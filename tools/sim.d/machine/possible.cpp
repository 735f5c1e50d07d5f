// SPDX-License-Identifier: MIT
#include "machine/possible.hpp"

#include <map>

#include "policy/horizon.hpp"

namespace hmk::sim {

namespace {

/// Misses, those streamed, and written lines of an operation, by phase.
using Use = std::vector<float>;

/// How many leaves are used alike.
std::map<Use, double> uses_of(const WorkPlan& plan, const Memory& memory) {
  std::map<Use, double> uses;
  Use use;
  for (std::uint64_t first = 0; first < memory.pages(); first += memory.leaf_pages()) {
    use.clear();
    for (const Heat& heat : plan.heat) {
      Lines lines;
      for (std::uint64_t page = first; page < first + memory.leaf_pages(); ++page)
        lines += heat.lines(page);
      for (const double part : {lines.misses, lines.streamed, lines.written})
        use.push_back(static_cast<float>(part));
    }
    ++uses[use];
  }
  return uses;
}

policy::Forecast forecast_of(const Question& question, const Setting& setting) {
  const LabMachine& machine = question.machine;
  const std::size_t tiers = machine.tiers.size();
  const double leaf = static_cast<double>(setting.memory.leaf_pages() * Memory::kPage);
  policy::Forecast forecast{
      .windows = static_cast<std::uint32_t>(setting.plan.stretches.size()),
      .tiers = static_cast<std::uint32_t>(tiers),
      .move_ns = std::vector<double>(tiers * tiers, question.prices.exposed_ns / leaf)};
  for (std::size_t tier = 0; tier < tiers; ++tier) forecast.move_ns[tier * tiers + tier] = 0;
  for (std::uint32_t w = 0; w < forecast.windows; ++w)
    for (const int node : machine.tiers)
      forecast.capacity.push_back(static_cast<double>(setting.memory.room(node)));
  for (const auto& [use, count] : uses_of(setting.plan, setting.memory)) {
    policy::Forecast::Group group{.bytes = leaf, .count = count};
    for (const Stretch& stretch : setting.plan.stretches) {
      const auto* const of_phase = &use[3 * stretch.phase];
      const Lines lines{of_phase[0], of_phase[1], of_phase[2]};
      for (const int node : machine.tiers)
        group.cost_ns.push_back(stretch.operations * machine.lines_ns(node, lines));
    }
    forecast.groups.push_back(std::move(group));
  }
  return forecast;
}

}  // namespace

Possible possible(const Question& question) {
  const Setting setting = set_up(question);
  double executed = 0;
  for (const Stretch& stretch : setting.plan.stretches)
    executed += stretch.operations * fixed_ns(setting.plan.executions[stretch.phase]);
  const policy::Schedule best = policy::schedule(
      forecast_of(question, setting), {.gap = 0.005, .on_progress = question.on_progress});
  return {executed + best.bound_ns, executed + best.cost_ns};
}

}  // namespace hmk::sim

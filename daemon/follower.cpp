// SPDX-License-Identifier: MIT
#include "follower.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace hmk {
namespace {

constexpr double kLeastFound = 50;   // percent of the planned memory
constexpr double kAlike = 1.0 / 16;  // sizes of one tier at two boots of a machine

std::string text_of(const RecordedTier& tier) {
  std::string nodes;
  for (const std::int32_t node : tier.nodes)
    nodes += (nodes.empty() ? "" : ", ") + std::to_string(node);
  return "node " + nodes + " of " + std::to_string(tier.latency_ns) + " ns and " +
         std::to_string(tier.total_bytes >> 20) + " MiB";
}

/// What is not known of either is no difference.
bool is_alike(const RecordedTier& a, const RecordedTier& b) {
  const auto known_and = [](auto x, auto y, double part) {
    const auto larger = static_cast<double>(std::max(x, y));
    return x == 0 || y == 0 || static_cast<double>(std::min(x, y)) >= larger * (1 - part);
  };
  return a.nodes == b.nodes && known_and(a.latency_ns, b.latency_ns, 0) &&
         known_and(a.total_bytes, b.total_bytes, kAlike);
}

std::optional<Error> difference(const TierPlan& plan, const RecordedMachine& here) {
  const auto differs = [](const std::string& how) {
    return Error{"the plan is for another machine: " + how,
                 "record the program on this one and make a plan of that"};
  };
  const auto& planned = plan.machine.tiers;
  if (planned.size() != here.tiers.size())
    return differs("it has " + std::to_string(planned.size()) + " tiers, this one " +
                   std::to_string(here.tiers.size()));
  for (std::size_t i = 0; i < planned.size(); ++i)
    if (!is_alike(planned[i], here.tiers[i]))
      return differs("its tier " + std::to_string(i + 1) + " is " + text_of(planned[i]) +
                     ", here " + text_of(here.tiers[i]));
  return std::nullopt;
}

}  // namespace

Result<Follower> Follower::make(TierPlan plan, const RecordedMachine& machine,
                                const std::vector<RecordedMapping>& mappings) {
  if (auto error = difference(plan, machine)) return *std::move(error);
  Follower follower(std::move(plan));
  follower.ranges_in(mappings);
  if (follower.found_percent_ < kLeastFound)
    return Error{"the plan is for other memory: the mappings of this process have " +
                     std::to_string(std::lround(follower.found_percent_)) + " % of it",
                 "load it when the program has its memory, or record this version of it"};
  return follower;
}

/// In address order, by which the mappings are.
std::vector<policy::Wanted> Follower::ranges_in(const std::vector<RecordedMapping>& mappings) {
  std::map<std::pair<std::string, std::uint64_t>, const PlannedMapping*> planned;
  std::uint64_t all = 0, found = 0;
  for (const PlannedMapping& one : plan_.mappings) {
    planned.emplace(std::pair(one.name, one.before), &one);
    for (const PlannedPiece& piece : one.pieces) all += piece.length;
  }
  std::vector<policy::Wanted> ranges;
  std::map<std::string, std::uint64_t> seen;
  for (const RecordedMapping& mapping : mappings) {
    const auto one = planned.find({mapping.name, seen[mapping.name]++});
    if (one == planned.end()) continue;
    for (const PlannedPiece& piece : one->second->pieces) {
      const std::uint64_t start = std::min(mapping.start + piece.offset, mapping.end);
      const std::uint64_t end = std::min(start + piece.length, mapping.end);
      if (start < end) ranges.push_back({start, end, piece.tier[window_]});
      found += end - start;
    }
  }
  found_percent_ = all > 0 ? 100 * static_cast<double>(found) / static_cast<double>(all) : 0;
  return ranges;
}

std::vector<policy::Wanted> Follower::wanted(const std::vector<RecordedMapping>& mappings,
                                             std::uint64_t now_ns) {
  if (!begin_ns_) begin_ns_ = now_ns;
  window_ = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((now_ns - *begin_ns_) / plan_.window_ns, plan_.windows - 1));
  return ranges_in(mappings);
}

}  // namespace hmk

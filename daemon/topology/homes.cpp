// SPDX-License-Identifier: MIT
#include "topology/homes.hpp"

#include <algorithm>

#include "topology/process.hpp"

namespace hmk {

/// Those of the last time that still run, and of the others as many as there is place for.
std::vector<int> Homes::sample(const std::vector<int>& threads) const {
  std::vector<int> chosen, others;
  for (const int thread : threads) (ticks_.contains(thread) ? chosen : others).push_back(thread);
  if (others.empty()) return chosen;
  const std::size_t wanted = std::min(kMostThreads - chosen.size(), others.size());
  for (std::size_t n = 0; n < wanted; ++n) chosen.push_back(others[n * others.size() / wanted]);
  return chosen;
}

void Homes::look(const std::filesystem::path& root, std::int32_t pid, const Machine& machine) {
  const std::vector<int> threads = list_threads(root, pid);
  const std::vector<int> chosen = sample(threads);
  std::map<int, std::uint64_t> ticks, time, running;
  for (const int thread : chosen) {
    const auto use = read_thread(root, pid, thread);
    const int node = use ? machine.node_of_cpu(use->cpu) : -1;
    if (node < 0) continue;
    const auto before = ticks_.find(thread);
    ticks[thread] = use->ticks;
    if (before != ticks_.end())
      time[node] += use->ticks - std::min(before->second, use->ticks);
    else if (has_all_)
      time[node] += use->ticks;
    ++running[node];
  }
  has_all_ = chosen.size() == threads.size();
  ticks_ = std::move(ticks);
  ran(time);
  if (nodes_.empty()) ran(running);  // it has not used a tick so far
}

void Homes::ran(const std::map<int, std::uint64_t>& time) {
  std::uint64_t all = 0;
  for (const auto& [node, used] : time) all += used;
  if (all == 0) return;
  std::set<int> now;
  for (const auto& [node, used] : time) {
    if (used * 100 >= all * kMainPercent) {
      now = {node};
      break;
    }
    if (used * 100 >= all * kLeastPercent) now.insert(node);
  }
  if (now.empty())  // on more nodes than there are twentieths
    for (const auto& [node, used] : time) now.insert(node);
  others_ = now == nodes_ ? 0 : others_ + 1;
  const bool widens = std::ranges::includes(now, nodes_);
  if (!widens && others_ < kIntervals) return;
  nodes_ = std::move(now);
  others_ = 0;
}

}  // namespace hmk

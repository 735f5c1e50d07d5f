// SPDX-License-Identifier: MIT
#include "sweep.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "hmkctl/status_line.hpp"
#include "run.hpp"

namespace hmk::sim {

namespace {

using nlohmann::ordered_json;

constexpr std::array kRates = {0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0};
constexpr std::array kSeeds = {1u, 2u, 3u};

struct Goal {
  const char* scenario;
  double budget_percent;
  double least;          // of recall and of precision, or of the order
  std::uint32_t from;    // interval from which intervals count: what comes before a jump does not
  std::uint32_t within;  // reached in one of so many intervals and kept until `until`
  std::uint32_t until;
  double most_rate;
};

constexpr std::array kGoals = {
    Goal{"gups-512g", 5, 0.95, 0, 8, 12, 1e4}, Goal{"gups-512g", 1, 0.90, 0, 12, 12, 1e4},
    Goal{"gups-jump", 5, 0.90, 12, 5, 24, 1e4}, Goal{"needle-160g", 1, 0.90, 0, 10, 15, 1e3},
    Goal{"heats", 5, 0.90, 0, 10, 12, 0}};

struct Cell {
  const Goal* goal;
  double rate;
  unsigned leaf_shift;
  Layout layout;
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const Goal& goal : kGoals) {
    if (goal.most_rate == 0) {
      all.push_back({&goal, 1000, HMK_CORE_PAGE_SHIFT, Layout::kContiguous});
      continue;
    }
    for (const unsigned leaf_shift : {12u, 21u})
      for (const Layout layout : {Layout::kContiguous, Layout::kScattered})
        for (const double rate : kRates)
          if (rate <= goal.most_rate) all.push_back({&goal, rate, leaf_shift, layout});
  }
  return all;
}

ordered_json run_cell(const Cell& cell, std::uint64_t seed) {
  ScenarioOptions world;
  world.layout = cell.layout;
  world.seed = seed;
  world.leaf_shift = cell.leaf_shift;
  world.hot_rate = cell.rate;
  RunOptions options{make_scenario(cell.goal->scenario, world), cell.layout, {}, cell.goal->until};
  options.means.seed = seed;
  options.means.leaf_shift = cell.leaf_shift;
  options.means.budget_percent = cell.goal->budget_percent;
  const std::vector<std::string> names = {"hm-keeper"};
  ordered_json result = run(options, names)[0];
  result["hot_rate"] = cell.rate;
  result["leaf_shift"] = cell.leaf_shift;
  result.erase("intervals");
  return result;
}

/// The worse of recall and precision, or the order, in each interval that counts.
std::vector<double> figures(const Goal& goal, const ordered_json& result) {
  std::vector<double> all;
  for (std::size_t i = goal.from; i < result["recall"].size(); i++)
    all.push_back(result.contains("tau") ? result["tau"][i].get<double>()
                                         : std::min(result["recall"][i].get<double>(),
                                                    result["precision"][i].get<double>()));
  return all;
}

/// The first interval that reaches the goal so that no later one falls below it; 0: none.
std::uint32_t reached_in(const Goal& goal, const std::vector<double>& figures) {
  std::size_t first = figures.size();
  while (first && figures[first - 1] >= goal.least) first--;
  return first < figures.size() ? static_cast<std::uint32_t>(first + 1) : 0;
}

std::string name(const Cell& cell) {
  char text[96];
  std::snprintf(text, sizeof(text), "%-12s %g %%  %s %-10s  %7g/s", cell.goal->scenario,
                cell.goal->budget_percent, cell.leaf_shift == 21 ? "2M" : "4K",
                std::string(to_string(cell.layout)).c_str(), cell.rate);
  return text;
}

/// One line: the goal, and of the seeds the worst figure in the last interval that may reach it
/// and when it was reached. Return: whether all did.
bool judge(const Cell& cell, std::vector<ordered_json>& seeds) {
  const Goal& goal = *cell.goal;
  double worst = 1, profiling = 0, state = 0;
  std::uint32_t latest = 0;
  bool all = true;
  for (ordered_json& result : seeds) {
    const std::vector<double> each = figures(goal, result);
    const std::uint32_t when = reached_in(goal, each);
    const bool reached = when && when <= goal.within &&
                         result["profiling_percent"].get<double>() <= goal.budget_percent;
    result["reached_in"] = when;
    result["missed"] = !reached;
    worst = std::min(worst, each[goal.within - 1]);
    profiling = std::max(profiling, result["profiling_percent"].get<double>());
    state = std::max(state, result["state_percent"].get<double>());
    latest = std::max(latest, when);
    all = all && reached;
  }
  std::printf("%s  %.3f in %2u (%.2f)  reached in %2u  profiling %.2f %%  state %.4f %%  %s\n",
              name(cell).c_str(), worst, goal.within, goal.least, latest, profiling, state,
              all ? "ok" : "MISSED");
  std::fflush(stdout);
  return all;
}

}  // namespace

ordered_json sweep() {
  const std::vector<Cell> all = cells();
  std::vector<std::vector<ordered_json>> results(all.size(),
                                                 std::vector<ordered_json>(kSeeds.size()));
  std::vector<std::size_t> left(all.size(), kSeeds.size());
  std::vector<std::string> misses;
  std::atomic<std::size_t> next = 0;
  std::mutex lock;  // of left, misses, line, judging and printing
  hmkctl::StatusLine line;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t job; (job = next++) < all.size() * kSeeds.size();) {
      const std::size_t cell = job / kSeeds.size(), seed = job % kSeeds.size();
      ordered_json result = run_cell(all[cell], kSeeds[seed]);
      const std::lock_guard guard(lock);
      results[cell][seed] = std::move(result);
      done++;
      line.show("%zu of %zu runs", done, all.size() * kSeeds.size());
      if (--left[cell]) continue;
      line.erase();
      if (!judge(all[cell], results[cell])) misses.push_back(name(all[cell]));
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); i++)
    threads.emplace_back(work);
  threads.clear();

  std::printf("%zu of %zu lines reached their goal\n", all.size() - misses.size(), all.size());
  for (const std::string& miss : misses) std::printf("missed: %s\n", miss.c_str());
  ordered_json list = ordered_json::array();
  for (auto& seeds : results)
    for (ordered_json& result : seeds) list.push_back(std::move(result));
  return list;
}

}  // namespace hmk::sim

// SPDX-License-Identifier: MIT
#include "machine/sweep.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "config/keys.hpp"
#include "hmkctl/status_line.hpp"
#include "util/suggest.hpp"

namespace hmk::sim {

namespace {

using nlohmann::ordered_json;

/// Others do nothing here: they are of attaching, sockets, or parts of the profiler that
/// hm_keeper.cpp has as constants.
constexpr std::array<std::string_view, 17> kKnown{
    "interval", "overhead",    "num_scans", "windows",   "promote_limit", "move_time",
    "reserve",  "gain_margin", "horizon",   "governor",  "move_cost",     "buckets",
    "weights",  "caps",        "floors",    "bandwidth", "view"};

std::vector<Settings> combine(const std::vector<Axis>& axes) {
  std::vector<Settings> all{{}};
  for (const Axis& axis : axes) {
    std::vector<Settings> longer;
    for (const Settings& settings : all)
      for (const std::string& value : axis.values) {
        longer.push_back(settings);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  return all;
}

Ratio run_cell(const SweepPlan& plan, const Settings& settings, const Cell& cell) {
  Question question = plan.question;
  question.workload = plan.workloads[cell.workload];
  question.seed = cell.seed;
  for (std::size_t i = 0; i < plan.axes.size(); ++i)
    set_key(question.config, plan.axes[i].key, settings[i]);
  const Answer alone = place(question, System::kFirstTouch);
  const Answer managed = place(question, System::kReactive);
  return {managed.ns / alone.ns, managed.settled_ns_per_operation / alone.settled_ns_per_operation,
          managed.risen + managed.fallen};
}

/// Runs every cell, at most `jobs` at a time, and says how far it is.
class Crew {
 public:
  Crew(const SweepPlan& plan, const std::vector<Settings>& combinations,
       const std::vector<Cell>& cells)
      : plan_(plan), combinations_(combinations), cells_(cells), ratios_(cells.size()) {}

  std::vector<Ratio> run() {
    {
      std::vector<std::jthread> crew;
      for (unsigned i = 0; i < plan_.jobs; ++i) crew.emplace_back([this] { work(); });
    }
    line_.erase();
    if (failed_) std::rethrow_exception(failed_);
    return std::move(ratios_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < cells_.size(); i = next_++) {
      try {
        ratios_[i] = run_cell(plan_, combinations_[cells_[i].combination], cells_[i]);
      } catch (...) {
        const std::scoped_lock lock(lock_);
        failed_ = std::current_exception();
        next_ = cells_.size();
      }
      tell(++done_);
    }
  }

  void tell(std::size_t done) {
    const std::scoped_lock lock(lock_);
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun_;
    const double left =
        since.count() / static_cast<double>(done) * static_cast<double>(cells_.size() - done);
    line_.show("%zu of %zu runs, %.0f s, about %.0f s left", done, cells_.size(), since.count(),
               left);
  }

  const SweepPlan& plan_;
  const std::vector<Settings>& combinations_;
  const std::vector<Cell>& cells_;
  std::vector<Ratio> ratios_;
  std::atomic<std::size_t> next_ = 0, done_ = 0;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::mutex lock_;  // of failed_, line_
  hmkctl::StatusLine line_;
  std::exception_ptr failed_;
};

double digits(double value) {
  return std::round(value * 1e5) / 1e5;
}

/// Geometric means, and where it is worst.
ordered_json means_of_cells(const SweepPlan& plan, const std::vector<Cell>& cells,
                            const std::vector<Ratio>& ratios, std::size_t combination) {
  double whole = 0, settled = 0, moved = 0, n = 0;
  double worst = 0;
  const Cell* worst_cell = nullptr;
  std::vector<double> by_workload(plan.workloads.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].combination != combination) continue;
    whole += std::log(ratios[i].whole);
    settled += std::log(ratios[i].settled);
    moved += static_cast<double>(ratios[i].moved);
    by_workload[cells[i].workload] += std::log(ratios[i].whole) / static_cast<double>(plan.seeds);
    if (ratios[i].whole > worst) worst = ratios[i].whole, worst_cell = &cells[i];
    n += 1;
  }
  ordered_json each;
  for (std::size_t w = 0; w < by_workload.size(); ++w)
    each[plan.workloads[w].name] = digits(std::exp(by_workload[w]));
  return {{"runs", n},
          {"time_vs_first_touch", digits(std::exp(whole / n))},
          {"settled_vs_first_touch", digits(std::exp(settled / n))},
          {"worst", digits(worst)},
          {"worst_scenario", plan.workloads[worst_cell->workload].name},
          {"worst_seed", worst_cell->seed},
          {"moved_bytes", std::round(moved / n)},
          {"by_scenario", each}};
}

}  // namespace

std::vector<Ratio> run_cells(const SweepPlan& plan, const std::vector<Settings>& combinations,
                             const std::vector<Cell>& cells) {
  return Crew(plan, combinations, cells).run();
}

void set_key(Config& config, const std::string& key, const std::string& value) {
  const Key* const found = find_key(key);
  if (found == nullptr || std::ranges::find(kKnown, key) == kKnown.end()) {
    const bool is_other = std::ranges::find(key_names(), key) != key_names().end();
    const std::string near = did_you_mean(key, kKnown);
    throw std::invalid_argument(
        is_other ? "key '" + key + "' is not simulated; see tools/sim.d/README.md"
                 : "unknown key '" + key + "'" + (near.empty() ? "" : "; " + near));
  }
  if (const Result<void> done = found->set(config, value); !done)
    throw std::invalid_argument(key + ": " + done.error().line());
}

Axis parse_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    throw std::invalid_argument("'" + text + "' is not KEY=VALUE, or KEY=VALUE,VALUE in a sweep");
  Axis axis{text.substr(0, equals), {}};
  for (std::size_t at = equals + 1; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    axis.values.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  Config tried;
  for (const std::string& value : axis.values) set_key(tried, axis.key, value);
  return axis;
}

ordered_json sweep_machine(const SweepPlan& plan) {
  const std::vector<Settings> combinations = combine(plan.axes);
  std::vector<Cell> cells;
  for (std::size_t c = 0; c < combinations.size(); ++c)
    for (std::size_t w = 0; w < plan.workloads.size(); ++w)
      for (std::uint64_t seed = 1; seed <= plan.seeds; ++seed) cells.push_back({c, w, seed});
  const std::vector<Ratio> ratios = run_cells(plan, combinations, cells);
  ordered_json list = ordered_json::array();
  for (std::size_t c = 0; c < combinations.size(); ++c) {
    ordered_json settings = ordered_json::object();
    for (std::size_t i = 0; i < plan.axes.size(); ++i)
      settings[plan.axes[i].key] = combinations[c][i];
    ordered_json row{{"settings", settings}};
    row.update(means_of_cells(plan, cells, ratios, c));
    list.push_back(std::move(row));
  }
  return list;
}

void print_sweep(const ordered_json& list) {
  for (const auto& row : list) {
    if (&row == &list.front()) {
      for (const auto& [key, value] : row["settings"].items()) std::printf("%-14s ", key.c_str());
      std::printf("%8s %8s %8s %-12s %9s  ", "time", "settled", "worst", "in", "MiB moved");
      for (const auto& [name, value] : row["by_scenario"].items())
        std::printf(" %11s", name.c_str());
      std::printf("\n");
    }
    for (const auto& [key, value] : row["settings"].items())
      std::printf("%-14s ", value.get<std::string>().c_str());
    std::printf("%8.3f %8.3f %8.3f %-12s %9.0f  ", row["time_vs_first_touch"].get<double>(),
                row["settled_vs_first_touch"].get<double>(), row["worst"].get<double>(),
                row["worst_scenario"].get<std::string>().c_str(),
                row["moved_bytes"].get<double>() / (1 << 20));
    for (const auto& [name, value] : row["by_scenario"].items())
      std::printf(" %11.3f", value.get<double>());
    std::printf("\n");
  }
}

}  // namespace hmk::sim

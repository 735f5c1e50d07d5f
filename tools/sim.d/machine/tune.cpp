// SPDX-License-Identifier: MIT
#include "machine/tune.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include "config/keys.hpp"

namespace hmk::sim {

namespace {

using nlohmann::ordered_json;

constexpr double kAlike = 0.001;   // of the time
constexpr double kChance = 0.001;  // of being called slower without being so
/// Seeds, after which who is slower leaves; the last are all that are asked for.
constexpr std::array<std::uint64_t, 4> kStages = {4, 8, 16, 1000};

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// One axis with the values that are still in the race.
class Race {
 public:
  Race(const SweepPlan& plan, const Axis& axis, const std::string& shipped) : plan_(plan) {
    plan_.axes = {{axis.key, {}}};
    for (const std::string& value : axis.values) racers_.push_back({value});
    if (std::ranges::find(axis.values, shipped) == axis.values.end()) racers_.push_back({shipped});
    shipped_ = std::ranges::find(racers_, shipped, &Racer::value) - racers_.begin();
  }

  ordered_json run() {
    for (const std::uint64_t stage : kStages) {
      const std::uint64_t until = std::min(stage, plan_.seeds);
      if (seeds_ == until) break;
      run_seeds(until);
      if (running().size() == 1) break;
    }
    return result();
  }

 private:
  std::vector<std::size_t> running() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < racers_.size(); ++i)
      if (racers_[i].log_time.size() == seeds_ && !is_beaten(racers_[i]) && !is_needless(i))
        found.push_back(i);
    return found;
  }

  /// Nothing is to be had from another value that is as fast as what is shipped.
  bool is_needless(std::size_t racer) const {
    return racer != shipped_ && is_surely_alike(racers_[racer], racers_[shipped_]);
  }

  bool is_beaten(const Racer& racer) const {
    return seeds_ > 0 && is_surely_slower(racer, racers_[fastest(racers_)]);
  }

  void run_seeds(std::uint64_t until) {
    const std::vector<std::size_t> still = running();
    std::vector<Settings> settings;
    std::vector<Cell> cells;
    for (const std::size_t racer : still) {
      for (std::uint64_t seed = seeds_ + 1; seed <= until; ++seed)
        for (std::size_t w = 0; w < plan_.workloads.size(); ++w)
          cells.push_back({settings.size(), w, seed});
      settings.push_back({racers_[racer].value});
    }
    const std::vector<Ratio> ratios = run_cells(plan_, settings, cells);
    for (std::size_t i = 0; i < cells.size(); i += plan_.workloads.size())
      add(racers_[still[cells[i].combination]],
          std::span(ratios).subspan(i, plan_.workloads.size()));
    seeds_ = until;
  }

  void add(Racer& racer, std::span<const Ratio> of_workloads) const {
    double sum = 0;
    for (std::size_t w = 0; w < of_workloads.size(); ++w) {
      sum += std::log(of_workloads[w].whole);
      if (racer.log_time.size() >= kStages[0] || of_workloads[w].whole <= racer.worst) continue;
      racer.worst = of_workloads[w].whole;
      racer.worst_workload = plan_.workloads[w].name;
    }
    racer.log_time.push_back(sum / static_cast<double>(of_workloads.size()));
  }

  ordered_json result() const {
    const std::size_t first = fastest(racers_);
    const bool stays = racers_[shipped_].log_time.size() == seeds_ && !is_beaten(racers_[shipped_]);
    ordered_json values = ordered_json::array();
    for (const Racer& racer : racers_) {
      const Slower slower = slower_than(racer, racers_[shipped_]);
      values.push_back(
          {{"value", racer.value},
           {"seeds", racer.log_time.size()},
           {"time_vs_first_touch", std::exp(mean_of(racer.log_time))},
           {"slower_than_shipped", std::expm1(slower.mean)},
           {"error", std::isinf(slower.error) ? ordered_json() : ordered_json(slower.error)},
           {"worst", racer.worst},
           {"worst_scenario", racer.worst_workload}});
    }
    return {{"key", plan_.axes[0].key},
            {"shipped", racers_[shipped_].value},
            {"best", racers_[stays ? shipped_ : first].value},
            {"is_best", stays},
            {"values", std::move(values)}};
  }

  SweepPlan plan_;
  std::vector<Racer> racers_;
  std::size_t shipped_ = 0;
  std::uint64_t seeds_ = 0;  // that who is in the race has run
};

/// What chance alone makes of the mean in one of 1,000 (Student's t).
double by_chance(const Slower& slower) {
  const boost::math::students_t distribution(static_cast<double>(slower.seeds - 1));
  return slower.error * quantile(complement(distribution, kChance));
}

std::string text(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string row_of(const ordered_json& value, bool is_shipped, bool is_best) {
  const ordered_json& error = value["error"];
  const std::string beside =
      is_shipped ? "-"
                 : text("%+.2f", 100 * value["slower_than_shipped"].get<double>()) +
                       (error.is_null() ? "" : " ± " + text("%.2f", 200 * error.get<double>()));
  return "| " + value["value"].get<std::string>() + (is_shipped ? " (shipped)" : "") +
         (is_best ? ", best" : "") + " | " + std::to_string(value["seeds"].get<std::size_t>()) +
         " | " + text("%.4f", value["time_vs_first_touch"].get<double>()) + " | " + beside + " | " +
         text("%.3f", value["worst"].get<double>()) + ", " +
         value["worst_scenario"].get<std::string>() + " |\n";
}

}  // namespace

Slower slower_than(const Racer& one, const Racer& other) {
  const std::size_t n = std::min(one.log_time.size(), other.log_time.size());
  if (n < 2) return {.mean = 0, .error = std::numeric_limits<double>::infinity(), .seeds = n};
  std::vector<double> difference(n);
  for (std::size_t i = 0; i < n; ++i) difference[i] = one.log_time[i] - other.log_time[i];
  const double mean = mean_of(difference);
  double squares = 0;
  for (const double each : difference) squares += (each - mean) * (each - mean);
  return {mean, std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n)), n};
}

bool is_surely_slower(const Racer& one, const Racer& other) {
  const Slower slower = slower_than(one, other);
  return slower.seeds > 1 && slower.mean > 0 && slower.mean > by_chance(slower);
}

bool is_surely_alike(const Racer& one, const Racer& other) {
  const Slower slower = slower_than(one, other);
  return slower.seeds > 1 && std::abs(slower.mean) + by_chance(slower) < kAlike;
}

std::size_t fastest(const std::vector<Racer>& racers) {
  std::size_t most = 0, best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Racer& racer : racers) most = std::max(most, racer.log_time.size());
  for (std::size_t i = 0; most > 0 && i < racers.size(); ++i) {
    if (racers[i].log_time.size() < most || mean_of(racers[i].log_time) >= least) continue;
    least = mean_of(racers[i].log_time);
    best = i;
  }
  return best;
}

ordered_json tune_machine(const SweepPlan& plan) {
  SweepPlan tuned = plan;
  ordered_json list = ordered_json::array();
  for (const Axis& axis : plan.axes) {
    const std::string shipped = find_key(axis.key)->get(tuned.question.config);
    ordered_json row = Race(tuned, axis, shipped).run();
    set_key(tuned.question.config, axis.key, row["best"].get<std::string>());
    print_tuning(ordered_json::array({row}));
    list.push_back(std::move(row));
  }
  return list;
}

void print_tuning(const ordered_json& list) {
  for (const auto& axis : list) {
    std::printf(
        "%s: %s%s\n", axis["key"].get<std::string>().c_str(),
        axis["best"].get<std::string>().c_str(),
        axis["is_best"].get<bool>() ? ", as shipped" : " is surely faster than what is shipped");
    for (const auto& value : axis["values"])
      std::printf("  %-10s %2zu seeds  time %.4f  %+.2f %%  worst %.3f in %s\n",
                  value["value"].get<std::string>().c_str(), value["seeds"].get<std::size_t>(),
                  value["time_vs_first_touch"].get<double>(),
                  100 * value["slower_than_shipped"].get<double>(), value["worst"].get<double>(),
                  value["worst_scenario"].get<std::string>().c_str());
    std::fflush(stdout);
  }
}

std::string tuning_page(const SweepPlan& plan, const ordered_json& list,
                        const std::string& commit) {
  std::string names;
  for (const Workload& load : plan.workloads)
    names += (names.empty() ? "`" : ", `") + load.name + "`";
  const auto best = std::ranges::count_if(
      list, [](const auto& row) { return row["is_best"].template get<bool>(); });
  std::string page =
      "<!-- SPDX-License-Identifier: MIT -->\n# The policy's constants\n\n"
      "Written by `tools/sim machine tune --report`; not edited by hand. hmkd's own policy, "
      "simulated (`tools/sim.d/README.md`): "
      "**modelled** time, no guest, no hardware. Of " +
      std::to_string(list.size()) + " constants " + std::to_string(best) +
      " ship with the best of the values that were tried.\n\nCommit: " +
      (commit.empty() ? "not told" : commit) +
      ".\n\n"
      "Scenarios: " +
      names +
      ". A race for each constant, with those above it at their best value: all values run the "
      "same seeds; "
      "after 4, 8 and 16 of them whoever is surely slower than the fastest leaves (Student's t of "
      "the differences, seed by seed, chance 1 of 1,000), and whoever differs from what is shipped "
      "by surely less than 0.1 %; the others go on to " +
      std::to_string(plan.seeds) +
      ". A shipped value stays where no other is surely faster. *time*: over first touch's, "
      "geometric mean "
      "over scenarios and seeds. *slower*: than the shipped value by the seeds that both ran, ± "
      "two standard errors. *worst*: the slowest run of the first 4 seeds, which all ran.\n";
  for (const auto& axis : list) {
    page += "\n## " + axis["key"].get<std::string>() +
            "\n\n| value | seeds | time | slower, % | worst |\n|---|---|---|---|---|\n";
    for (const auto& value : axis["values"])
      page += row_of(value, value["value"] == axis["shipped"], value["value"] == axis["best"]);
  }
  return page;
}

}  // namespace hmk::sim

// SPDX-License-Identifier: MIT
//
// hmk-sim SCENARIO: how well each profiler finds the hot set, interval by interval.
// hmk-sim machine SCENARIO: what hmkd makes of it, in modelled time.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include <linux/hmk.h>

#include "machine/command.hpp"
#include "replay.hpp"
#include "run.hpp"
#include "sweep.hpp"

namespace {

using hmk::sim::Layout;

void print(const nlohmann::ordered_json& list) {
  std::printf("%-14s %-9s %-9s %-9s %-9s %-10s %-10s %s\n", "profiler", "interval", "recall",
              "precision", "regions", "samples", "profiling", "notes");
  for (const auto& p : list) {
    for (std::size_t i = 0; i < p["intervals"].size(); i++) {
      const auto& row = p["intervals"][i];
      std::string notes;
      if (row.contains("tau1")) {
        char tau[32];
        std::snprintf(tau, sizeof(tau), "tau1 %.2f", row["tau1"].get<double>());
        notes = tau + std::string(row["degraded"].get<bool>() ? " degraded" : "");
        if (row["dense"].get<bool>())
          notes += " dense " + std::to_string(row["dense_bytes"].get<std::uint64_t>() / 1024) +
                   " of " + std::to_string(row["state_bytes"].get<std::uint64_t>() / 1024) + " KiB";
      }
      if (p.contains("tau")) {
        char order[32];
        std::snprintf(order, sizeof(order), "order %.3f ", p["tau"][i].get<double>());
        notes.insert(0, order);
      }
      if (p.contains("served")) {
        char share[48];
        std::snprintf(share, sizeof(share), "served %.3f of %.3f ", p["served"][i].get<double>(),
                      p["served_best"].get<double>());
        notes.insert(0, share);
      }
      std::printf("%-14s %-9zu %-9.3f %-9.3f %-9llu %-10llu %-9.3f%% %s\n",
                  p["profiler"].get<std::string>().c_str(), i + 1, p["recall"][i].get<double>(),
                  p["precision"][i].get<double>(), row["regions"].get<unsigned long long>(),
                  row["samples"].get<unsigned long long>(), row["profiling_percent"].get<double>(),
                  notes.c_str());
    }
  }
}

/// Return: the exit code.
int write(const std::string& path, const nlohmann::ordered_json& list) {
  std::ofstream file(path);
  file << list.dump(1) << '\n';
  file.flush();
  if (file) return 0;
  std::fprintf(stderr, "hmk-sim: cannot write %s\n", path.c_str());
  return 1;
}

int run_sweep(const std::string& json) {
  const auto list = hmk::sim::sweep();
  const bool missed =
      std::ranges::any_of(list, [](const auto& run) { return run["missed"].template get<bool>(); });
  const int failed = json.empty() ? 0 : write(json, list);
  return failed || missed ? 1 : 0;
}

/// "1%" is 1.
std::string without_percent(std::string text) {
  if (text.ends_with('%')) text.pop_back();
  return text;
}

int run(int argc, char** argv) {
  CLI::App app{"Profile synthetic memory of any size with the core that ships, and with others.",
               "hmk-sim"};
  hmk::sim::Means means;
  hmk::sim::ScenarioOptions world;
  std::string name, replay, json, leaf = "4K", layout = "contiguous", windows = "adaptive";
  std::vector<std::string> profilers = hmk::sim::profiler_names();
  std::uint32_t intervals = 0;
  const std::map<std::string, double> ns = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}};
  const std::map<std::string, double> seconds = {{"ms", 1e-3}, {"s", 1}, {"min", 60}};
  double managed_gib = 0;
  bool has_ranking = false, is_dense = false;
  std::vector<std::uint32_t> switches;
  const std::map<std::string, std::uint32_t> kSwitches = {
      {"fixed-regions", HMK_SWITCH_FIXED_REGIONS},
      {"random-samples", HMK_SWITCH_RANDOM_SAMPLES},
      {"no-budget", HMK_SWITCH_NO_BUDGET}};

  app.footer("hmk-sim machine --help: hmkd's policy on a machine, in modelled time");
  app.add_option("scenario", name, "what happens")
      ->check(CLI::IsMember(hmk::sim::scenario_names()));
  app.add_option("--replay", replay, "what a recording of hmkctl holds, instead of a scenario")
      ->excludes(app.get_option("scenario"));
  app.add_option("--switch", switches, "ablations of HM-Keeper")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(kSwitches));
  app.add_option("--budget", means.budget_percent, "CPU time of profiling, in percent: 1 or 1%")
      ->transform(without_percent)
      ->check(CLI::Range(0.01, 800.0))
      ->capture_default_str();
  app.add_option("--seed", means.seed, "same seed, same result")->capture_default_str();
  app.add_option("--json", json, "write all figures to this file");
  app.add_flag("--ranking", has_ranking, "write also HM-Keeper's regions of the last interval");
  app.add_option("--intervals", intervals, "how many (default: as the scenario says)")
      ->check(CLI::Range(1, 10000));
  app.add_option("--interval", means.interval_s, "length of one (default: 10s)")
      ->transform(CLI::AsNumberWithUnit(seconds));
  app.add_option("--scan-cost", means.scan_cost_ns, "of one visit of one leaf (default: 0.5us)")
      ->transform(CLI::AsNumberWithUnit(ns));
  app.add_option("--region-cost", means.region_cost_ns,
                 "of HM-Keeper's other work per region and interval (default: 40ns)")
      ->transform(CLI::AsNumberWithUnit(ns));
  app.add_option("--profiler", profilers, "which ones (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember(hmk::sim::profiler_names()));
  app.add_option("--layout", layout, "of the hot set: in one piece, or in many")
      ->check(CLI::IsMember({"contiguous", "scattered"}))
      ->capture_default_str();
  app.add_option("--piece", world.piece, "size of a scattered hot set's pieces (default: 2MiB)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(hmk::sim::Bytes{4096}, hmk::sim::Bytes{1} << 30));
  app.add_option("--hot", world.hot, "size of needle-160g's hot set (default: 200MiB)")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--leaf", leaf, "size of a page-table leaf")
      ->check(CLI::IsMember({"4K", "2M"}))
      ->capture_default_str();
  app.add_option("--memory", managed_gib, "GiB instead of the scenario's")
      ->check(CLI::Range(0.0625, 16384.0));
  app.add_option("--hot-rate", world.hot_rate, "accesses per hot leaf and second")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--windows", windows, "of HM-Keeper's samples: chapter 8's are equal")
      ->check(CLI::IsMember({"adaptive", "equal"}))
      ->capture_default_str();
  app.add_option("--flush-cost", means.flush_cost_ns,
                 "of HM-Keeper's flush of the TLB for each group of samples (default: 20us)")
      ->transform(CLI::AsNumberWithUnit(ns));
  app.add_flag("--dense", is_dense,
               "HM-Keeper reads every page where half of the budget pays for it");
  app.add_option("--page-cost", means.page_cost_ns,
                 "of a page where every page is looked at (default: 8ns; 2 to 10 on hardware)")
      ->transform(CLI::AsNumberWithUnit(ns))
      ->check(CLI::PositiveNumber);
  app.add_option("--num-scans", means.num_scans, "reads of a sample per interval")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  app.add_option("--num-ps", means.num_ps, "force HM-Keeper's number of samples");
  app.add_option("--aim", means.aim_percent, "share of the budget HM-Keeper plans with")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--damon-samples", means.damon_samples, "sampling per aggregation interval")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--damon-hot", means.damon_hot_percent, "percent of its samples that make hot")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--damon-ratio", means.damon_regions_ratio, "most regions over least")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  CLI::App* whole =
      app.add_subcommand("sweep", "all that HM-Keeper has to reach; exit code 1 when it misses");
  whole->add_option("--json", json, "write all figures to this file");
  try {
    app.parse(argc, argv);
    if (whole->parsed()) return run_sweep(json);
    if (name.empty() && replay.empty()) throw CLI::RequiredError("scenario");
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::fprintf(stderr, "hmk-sim: %s; see 'hmk-sim --help'\n", e.what());
    return 2;
  }

  for (const std::uint32_t each : switches) means.switches |= each;
  if (is_dense) means.switches |= HMK_SWITCH_DENSE;
  means.equal_windows = windows == "equal";
  means.leaf_shift = world.leaf_shift = leaf == "2M" ? 21 : 12;
  world.layout = layout == "scattered" ? Layout::kScattered : Layout::kContiguous;
  world.seed = means.seed;
  world.bytes = static_cast<hmk::sim::Bytes>(managed_gib * (1u << 30));
  hmk::sim::RunOptions options{{}, world.layout, means, intervals, has_ranking};
  if (replay.empty()) {
    options.scenario = hmk::sim::make_scenario(name, world);
  } else {
    hmk::sim::Replay recorded = hmk::sim::make_replay(replay);
    options.scenario = std::move(recorded.scenario);
    if (app.count("--interval") == 0) options.means.interval_s = recorded.interval_s;
    if (app.count("--num-scans") == 0) options.means.num_scans = recorded.num_scans;
  }
  if (!means.num_ps) options.means.num_ps = options.scenario.num_ps;
  const auto begin = std::chrono::steady_clock::now();
  const auto list = hmk::sim::run(options, profilers);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  print(list);
  std::fprintf(stderr, "%.1f s\n", took.count());
  return json.empty() ? 0 : write(json, list);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "machine")
      return hmk::sim::run_machine_command(argc - 1, argv + 1);
    return run(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "hmk-sim: %s\n", problem.what());
    return 1;
  }
}

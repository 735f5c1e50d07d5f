// SPDX-License-Identifier: MIT
#include "machine/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>

#include "hmkctl/status_line.hpp"
#include "machine/against.hpp"
#include "machine/recorded.hpp"
#include "machine/report.hpp"
#include "machine/sweep.hpp"
#include "machine/tune.hpp"

namespace hmk::sim {

namespace {

using nlohmann::ordered_json;

/// As the command line has them.
struct Words {
  std::vector<std::string> scenarios;
  std::string machine = HMK_SIM_MACHINE, interval, budget, profiler = "hm-keeper", leaf = "4K";
  std::string json, against, report, commit;
  std::vector<std::string> systems = {"first-touch", "static", "reactive"};
  std::vector<std::string> settings;
  hmkctl::TierOptions tiers;
  std::uint64_t seeds = 10;
  unsigned jobs = 2;
};

const std::map<std::string, double> kSeconds = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
const std::map<std::string, double> kNs = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}};

void add_machine_options(CLI::App& app, Question& question, Words& words) {
  app.add_option("--machine", words.machine, "a file of configs/lab")->capture_default_str();
  app.add_option("--taken", question.taken, "of each node with CPUs, by others (default: 40MiB)")
      ->transform(CLI::AsSizeValue(false));
  hmkctl::add_tier_options(app, words.tiers);
  app.add_option("--mlp", question.machine.mlp, "misses at a time (default: as the file says)")
      ->check(CLI::Range(1.0, 64.0));
  app.add_option("--leaf", words.leaf, "size of a page-table leaf, and of what moves whole")
      ->check(CLI::IsMember({"4K", "2M"}))
      ->capture_default_str();
  app.add_option("--page-cost", question.prices.page_ns,
                 "of moving 4KiB (default: as tools/lab.d/lab/prices.py has it)")
      ->transform(CLI::AsNumberWithUnit(kNs, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--exposed", question.prices.exposed_ns,
                 "what each page that moves takes from the program (default: 500ns, a shootdown)")
      ->transform(CLI::AsNumberWithUnit(kNs, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--move-bandwidth", question.prices.limit_mbps,
                 "MB/s of moves between any two nodes (default: their links)")
      ->check(CLI::Range(1.0, 1e6));
}

void add_run_options(CLI::App& app, Question& question, Words& words) {
  app.add_option("--interval", words.interval, "hmkd's key (default: 10s)");
  app.add_option("--budget", words.budget, "hmkd's key overhead: 5 or 5% (default: 5%)");
  app.add_option("--set", words.settings, "KEY=VALUE of hmkd; for sweep and tune KEY=VALUE,VALUE")
      ->allow_extra_args(false);
  app.add_option("--seconds", question.seconds, "of work under first touch, 600 or 10min")
      ->transform(CLI::AsNumberWithUnit(kSeconds, CLI::AsNumberWithUnit::UNIT_OPTIONAL))
      ->check(CLI::Range(1.0, 86400.0));
  app.add_option("--work", question.work, "times as many operations (default: 1)")
      ->check(CLI::Range(1e-3, 1e3));
  app.add_option("--until", question.until,
                 "only this part of them, from the first on (default: 1)")
      ->check(CLI::Range(1e-3, 1.0));
  app.add_option("--period", question.period, "of the phases of a cycle together, 20s")
      ->transform(CLI::AsNumberWithUnit(kSeconds, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(CLI::Range(0.1, 86400.0));
  app.add_option("--clock", question.clock_ns,
                 "hmk goes by a clock that gives so long to an instruction, as a guest's: 8ns")
      ->transform(CLI::AsNumberWithUnit(kNs, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(CLI::Range(0.01, 1000.0));
  app.add_option("--profiler", words.profiler, "perfect: told the true heat")
      ->check(CLI::IsMember({"hm-keeper", "perfect"}))
      ->capture_default_str();
  app.add_option("--scan-cost", question.means.scan_cost_ns, "of a visit (default: 0.5us)")
      ->transform(CLI::AsNumberWithUnit(kNs, CLI::AsNumberWithUnit::UNIT_REQUIRED));
  app.add_option("--region-cost", question.means.region_cost_ns, "(default: 40ns)")
      ->transform(CLI::AsNumberWithUnit(kNs, CLI::AsNumberWithUnit::UNIT_REQUIRED));
  app.add_option("--flush-cost", question.means.flush_cost_ns, "of a group (default: 20us)")
      ->transform(CLI::AsNumberWithUnit(kNs, CLI::AsNumberWithUnit::UNIT_REQUIRED));
  app.add_option("--json", words.json, "write all figures to this file");
}

std::vector<Workload> read_workloads(const std::vector<std::string>& names) {
  std::vector<Workload> loads;
  for (const std::string& name : names) {
    if (is_recording(name))
      throw std::invalid_argument(name + ": name a recording alone, its machine is its own");
    const std::vector<std::string> all =
        name == "all" ? workload_names() : std::vector<std::string>{name};
    for (const std::string& one : all) loads.push_back(read_workload(workload_path(one)));
  }
  return loads;
}

/// What is to be run, on which machine.
std::vector<Workload> take_work(Question& question, const Words& words) {
  if (words.scenarios.size() == 1 && is_recording(words.scenarios.front())) {
    set_recorded(question, words.scenarios.front(), words.tiers);
    return {question.workload};
  }
  question.machine = read_lab_machine(words.machine);
  return read_workloads(words.scenarios);
}

/// What the words mean. Throws std::invalid_argument.
std::vector<Workload> understand(Question& question, const Words& words, bool has_mlp) {
  const double mlp = question.machine.mlp;
  question.is_perfect = words.profiler == "perfect";
  question.means.leaf_shift = words.leaf == "2M" ? 21 : 12;
  question.config.mode = Mode::manage;
  if (!words.interval.empty()) set_key(question.config, "interval", words.interval);
  if (!words.budget.empty())
    set_key(question.config, "overhead",
            words.budget.ends_with('%') ? words.budget : words.budget + "%");
  std::vector<Workload> loads = take_work(question, words);
  if (has_mlp) question.machine.mlp = mlp;
  return loads;
}

Compared compare(const Question& question, const std::vector<std::string>& systems) {
  Compared found{place(question, System::kFirstTouch),
                 place(question, System::kStatic),
                 possible(question),
                 {}};
  for (const std::string& name : systems)
    found.answers.push_back(name == "first-touch" ? found.first_touch
                            : name == "static"    ? found.best_static
                                                  : place(question, System::kReactive));
  return found;
}

/// Returns the exit code.
int write(const std::string& path, const std::string& text) {
  if (path.empty()) return 0;
  std::ofstream file(path);
  file << text;
  if (file.flush()) return 0;
  std::fprintf(stderr, "hmk-sim: cannot write %s\n", path.c_str());
  return 1;
}

int run_once(Question question, std::vector<Workload> loads, const Words& words) {
  for (const std::string& text : words.settings) {
    const std::size_t equals = std::min(text.find('='), text.size());
    if (equals == text.size()) throw std::invalid_argument("'" + text + "' is not KEY=VALUE");
    set_key(question.config, text.substr(0, equals), text.substr(equals + 1));
  }
  const std::vector<GuestFigure> guest =
      words.against.empty() ? std::vector<GuestFigure>{} : read_guest_figures(words.against);
  ordered_json list = ordered_json::array();
  {
    hmkctl::StatusLine line;
    question.on_progress = [&](double part) {
      line.show("%s: %.0f %%", question.workload.name.c_str(), 100 * part);
    };
    for (Workload& load : loads) {
      question.workload = std::move(load);
      for (auto& row : to_json(question, compare(question, words.systems)))
        list.push_back(std::move(row));
    }
  }
  print_table(list);
  const bool agrees = words.against.empty() || lay_beside(guest, list);
  const int failed = write(words.json, list.dump(1) + '\n');
  return failed != 0 || !agrees ? 1 : 0;
}

SweepPlan plan_of(const Question& question, std::vector<Workload> loads, const Words& words) {
  SweepPlan plan{.question = question,
                 .workloads = std::move(loads),
                 .axes = {},
                 .seeds = words.seeds,
                 .jobs = words.jobs};
  for (const std::string& text : words.settings) plan.axes.push_back(parse_axis(text));
  return plan;
}

int run_sweep(const SweepPlan& plan, const Words& words) {
  const ordered_json list = sweep_machine(plan);
  print_sweep(list);
  return write(words.json, list.dump(1) + '\n');
}

/// 0 when nothing is surely better than what ships.
int run_tuning(const SweepPlan& plan, const Words& words) {
  const ordered_json list = tune_machine(plan);
  const bool all_best = std::ranges::all_of(list, [](const auto& row) { return row["is_best"]; });
  const int failed = write(words.json, list.dump(1) + '\n') +
                     write(words.report, tuning_page(plan, list, words.commit));
  return failed == 0 && all_best ? 0 : 1;
}

}  // namespace

int run_machine_command(int argc, char** argv) {
  CLI::App app{"Run hmkd's own policy over work whose time is worked out.", "hmk-sim machine"};
  Question question;
  question.prices.exposed_ns = LabMachine::kShootdownNs;
  Words words;
  app.add_option("scenario", words.scenarios,
                 "names, 'all', YAML files, or one that 'hmkctl record' wrote; 'sweep' first: "
                 "every combination of --set;\n"
                 "'tune' first: which value of each --set is best")
      ->required();
  app.add_option("--system", words.systems, "which ones (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"first-touch", "static", "reactive"}));
  app.add_option("--seed", question.seed, "same seed, same result")->capture_default_str();
  app.add_option("--seeds", words.seeds, "of sweep and tune: 1 to this one")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--jobs", words.jobs, "of sweep and tune, at a time")
      ->check(CLI::Range(1, 2))
      ->capture_default_str();
  app.add_option("--report", words.report, "of tune: write docs/policy.md to this file");
  app.add_option("--commit", words.commit, "of tune: what the report says it was made of");
  app.add_option("--against", words.against,
                 "guests' figures; exit code 1 when one is off by more than 10 %");
  add_machine_options(app, question, words);
  add_run_options(app, question, words);
  try {
    app.parse(argc, argv);
    const bool is_sweep = words.scenarios.front() == "sweep";
    const bool is_tuning = words.scenarios.front() == "tune";
    if (is_sweep || is_tuning) words.scenarios.erase(words.scenarios.begin());
    if (words.scenarios.empty()) words.scenarios = {"all"};
    std::vector<Workload> loads = understand(question, words, app.count("--mlp") > 0);
    if (!is_sweep && !is_tuning) return run_once(question, std::move(loads), words);
    const SweepPlan plan = plan_of(question, std::move(loads), words);
    return is_tuning ? run_tuning(plan, words) : run_sweep(plan, words);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::fprintf(stderr, "hmk-sim: %s; see 'hmk-sim machine --help'\n", e.what());
    return 2;
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "hmk-sim: %s\n", e.what());
    return 2;
  }
}

}  // namespace hmk::sim

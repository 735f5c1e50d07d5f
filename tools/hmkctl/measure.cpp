// SPDX-License-Identifier: MIT
//
// Where loads are served from, as the CPUs themselves tell it: no estimate from accessed bits.
#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <cmath>
#include <csignal>

#include "load_sampler.hpp"
#include "sample_pace.hpp"
#include "status_line.hpp"
#include "topology/process.hpp"
#include "topology/tiers.hpp"
#include "util/clock.hpp"
#include "util/file.hpp"
#include "verb.hpp"
#include "watch.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr int kRoundMs = 100;
constexpr double kSure = 1.96;  // standard deviations: 95 of 100 lie within

struct MeasureOptions {
  std::vector<int> pids;
  nanoseconds time = std::chrono::seconds(10);
  std::uint32_t budget_bp = 50;
  std::string records, root = "/";  // for tests
};

struct Measured {
  std::string event;
  double seconds = 0, cost_ns = 0;
  LoadTally tally;
};

double own_cpu_ns() {
  return static_cast<double>(hmk::now_of(CLOCK_PROCESS_CPUTIME_ID).count());
}

bool is_any_left(const std::vector<int>& pids) {
  return pids.empty() ||
         std::ranges::any_of(pids, [](int pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; });
}

/// Until the time is over, a signal comes, or all processes have ended.
hmk::Result<Measured> sample(const MeasureOptions& options, LoadTally tally) {
  const auto event = find_load_event(options.root);
  if (!event) return event.error();
  SamplePace pace(options.budget_bp / 1e4, event->first_period, event->granule);
  auto sampler = LoadSampler::open(*event, pace.period());
  if (!sampler) return sampler.error();
  StatusLine line;
  const Clock::time_point begin = Clock::now();
  nanoseconds passed{0};
  double own = own_cpu_ns();
  while (signals_seen() == 0 && passed < options.time && is_any_left(options.pids)) {
    ::poll(nullptr, 0, kRoundMs);
    const std::uint64_t seen = tally.seen();
    sampler->drain(tally);
    const nanoseconds now = Clock::now() - begin;
    const double own_now = own_cpu_ns();
    sampler->set_period(
        pace.next(tally.seen() - seen, own_now - own, static_cast<double>((now - passed).count())));
    passed = now;
    own = own_now;
    line.show("measuring: %.0f of %.0f s, %llu samples",
              std::chrono::duration<double>(passed).count(),
              std::chrono::duration<double>(options.time).count(),
              static_cast<unsigned long long>(tally.samples()));
  }
  return Measured{event->name, std::chrono::duration<double>(passed).count(), pace.cost_ns(),
                  std::move(tally)};
}

/// What a file holds instead, as the kernel would have written it.
hmk::Result<Measured> replay(const MeasureOptions& options, LoadTally tally) {
  const auto text = hmk::read_text(options.records);
  if (!text) return hmk::Error{options.records + " cannot be read", "check the path"};
  tally.take(std::as_bytes(std::span(*text)));
  if (tally.broken() > 0)
    return hmk::Error{options.records + " is cut short, or holds no records of samples",
                      "name a whole file"};
  return Measured{options.records, std::chrono::duration<double>(options.time).count(), 0,
                  std::move(tally)};
}

/// Nodes on whose CPUs the processes run; all with CPUs where none is named.
std::set<int> homes_of(const hmk::Machine& machine, const MeasureOptions& options) {
  std::set<int> homes;
  for (const int pid : options.pids)
    for (const int thread : hmk::list_threads(options.root, pid))
      if (const auto use = hmk::read_thread(options.root, pid, thread))
        homes.insert(machine.node_of_cpu(use->cpu));
  homes.erase(-1);
  if (options.pids.empty())
    for (const auto& [id, node] : machine.nodes)
      if (!node.cpus.empty()) homes.insert(id);
  return homes;
}

/// Of the interval in which the true share lies (Wilson 1927): not 0 where no sample was found.
double half_width(double share, double samples) {
  const double per_sample = kSure * kSure / samples;
  return std::sqrt(kSure * kSure * share * (1 - share) / samples + per_sample * per_sample / 4) /
         (1 + per_sample);
}

json row_of(int number, const hmk::Tier& tier, const Measured& measured) {
  LoadTally::Node sum;
  double all = 0;
  for (const auto& [node, of] : measured.tally.nodes()) {
    all += of.loads;
    if (std::ranges::find(tier.nodes, node) == tier.nodes.end()) continue;
    sum.samples += of.samples;
    sum.loads += of.loads;
    sum.cycles += of.cycles;
  }
  const double share = all > 0 ? sum.loads / all : 0;
  const double error = half_width(share, static_cast<double>(measured.tally.samples()));
  return {{"tier", number},
          {"nodes", tier.nodes},
          {"samples", sum.samples},
          {"share_percent", 100 * share},
          {"error_percent", 100 * error},
          {"loads_per_s", std::llround(sum.loads / measured.seconds)},
          {"latency_cycles", sum.loads > 0 ? json(std::llround(sum.cycles / sum.loads)) : json()}};
}

json answer_of(const MeasureOptions& options, const hmk::Machine& machine,
               const Measured& measured) {
  json tiers = json::array();
  for (const hmk::Tier& tier : hmk::order_tiers(machine, {.homes = homes_of(machine, options)}))
    tiers.push_back(row_of(static_cast<int>(tiers.size()) + 1, tier, measured));
  return {{"measured",
           {{"event", measured.event},
            {"pids", options.pids},
            {"seconds", measured.seconds},
            {"samples", measured.tally.samples()},
            {"lost", measured.tally.lost()},
            {"untold", measured.tally.untold()},
            {"cost_percent", measured.cost_ns / measured.seconds / 1e7},
            {"budget_percent", options.budget_bp / 100.0}}},
          {"tiers", tiers}};
}

void print_measured(const json& answer) {
  static const std::vector<Table> kTables{{"tiers",
                                           {{"tier", "TIER"},
                                            {"nodes", "NODES"},
                                            {"share_percent", "SERVES", Unit::percent},
                                            {"error_percent", "+/-", Unit::percent},
                                            {"loads_per_s", "LOADS/s"},
                                            {"latency_cycles", "CYCLES EACH"}}}};
  const json& measured = answer.at("measured");
  std::string text = to_text(answer, kTables);
  text += measured.at("samples").dump() + " samples of " + measured.at("event").get<std::string>() +
          " in " + to_text(measured.at("seconds"), Unit::decimal) + " s; cost " +
          to_text(measured.at("cost_percent"), Unit::percent) + " of a CPU, budget " +
          to_text(measured.at("budget_percent"), Unit::percent) + "\n";
  if (measured.at("lost") != 0 || measured.at("untold") != 0)
    text += "not counted: " + measured.at("lost").dump() + " lost, " +
            measured.at("untold").dump() + " without an address of any node\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

/// Why there is nothing to show.
hmk::Error nothing(const MeasureOptions& options, const LoadTally& tally) {
  if (tally.untold() > 0)
    return {"the kernel gives no physical addresses with its samples",
            "ibs_op has them from Linux 6.2 on"};
  if (!is_any_left(options.pids))
    return {"the process has ended, and no load of it went to memory before"};
  return {"no load went to memory in this time: caches had all that was read",
          "measure longer with --for, or while the program works"};
}

int run_measure(const Context& context, const MeasureOptions& options) {
  for (const int pid : options.pids)
    if (const auto process = hmk::read_process(options.root, pid); !process)
      return fail(context, process.error());
  end_watch_on_signals();
  const hmk::Machine machine = hmk::read_machine(options.root);
  LoadTally tally(read_node_spans(options.root), {options.pids.begin(), options.pids.end()});
  const auto measured = options.records.empty() ? sample(options, tally) : replay(options, tally);
  if (!measured) return fail(context, measured.error());
  if (measured->tally.samples() == 0) return fail(context, nothing(options, measured->tally));
  return tell(context, answer_of(options, machine, *measured), print_measured);
}

}  // namespace

Run make_measure(CLI::App& verb) {
  auto options = std::make_shared<MeasureOptions>();
  verb.add_option("pid", options->pids, "of these processes only (default: of all)")
      ->check(CLI::Range(1, 4194304));
  add_parsed(verb, "--for", "measure for so long (default: 10s)", parse_time,
             [options](nanoseconds time) { options->time = time; });
  add_parsed(
      verb, "--budget", "of one CPU's time (default: 0.5%)",
      [](std::string_view text) -> hmk::Result<std::uint32_t> {
        auto budget = hmk::parse_percent_bp(text);
        if (budget && *budget == 0)
          return hmk::Error{"'" + std::string(text) + "' is no budget", "write for example 0.5%"};
        return budget;
      },
      [options](std::uint32_t budget) { options->budget_bp = budget; });
  verb.add_option("--records", options->records, "take samples from this file")->group("");
  verb.add_option("--root", options->root, "read /proc and /sys below this folder")->group("");
  verb.footer(
      "Needs root, and CPUs that report where a load was served from: Intel's mem-loads, AMD's\n"
      "ibs_op. It needs neither hmkd nor the module.");
  return [options](const Context& context) { return run_measure(context, *options); };
}

}  // namespace hmkctl

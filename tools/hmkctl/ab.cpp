// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cmath>
#include <random>

#include "crossover.hpp"
#include "util/printable.hpp"
#include "util/units.hpp"
#include "watch.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

struct Options {
  CrossoverOptions crossover;
  ComparisonRules rules;
  std::string command;
  CommandMeter::Options metric;
};

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%+.1f %%", 100 * share);
  return text;
}

/// Six digits: what more there are is noise.
std::string figure_text(double figure) {
  char text[32];
  std::snprintf(text, sizeof(text), figure >= 1e6 ? "%.0f" : "%.6g", figure);
  return text;
}

std::string seconds_text(std::chrono::nanoseconds time) {
  return to_text(time.count(), Unit::ns);
}

std::string interval_text(const Estimate& found) {
  return "between " + percent(*found.low) + " and " + percent(*found.high);
}

std::string finding_text(const Estimate& found, const ComparisonRules& rules) {
  const std::string sure = found.low ? " (95 %: " + interval_text(found) + ")" : "";
  const double most = found.low ? std::max(std::abs(*found.low), std::abs(*found.high)) : 0;
  char digits[32];
  switch (found.found) {
    case Found::gain:
      return "managing it is a gain: " + percent(found.change) + sure + ".";
    case Found::loss:
      return "managing it is a loss: " + percent(found.change) + sure + ".";
    case Found::same:
      std::snprintf(digits, sizeof(digits), "%.1f %%", 100 * most);
      return std::string("managing it makes no difference larger than ") + digits + sure + ".";
    case Found::guard:
      return "stopped by the guard of " +
             hmk::format_percent_bp(static_cast<std::uint32_t>(std::lround(*rules.guard * 1e4))) +
             ": managing it is a loss, " + percent(found.change) + " so far.";
    case Found::unclear:
      break;
  }
  return found.low ? "unclear: the change lies " + interval_text(found) + ", which decides nothing."
                   : "unclear: too few blocks.";
}

std::string remedy_of(const Estimate& found, int pid) {
  switch (found.found) {
    case Found::gain:
      return "manage it with 'hmkctl attach " + std::to_string(pid) +
             "' and 'hmkctl set mode manage'";
    case Found::loss:
    case Found::guard:
      return "leave it unmanaged; 'hmkctl gain " + std::to_string(pid) +
             "' says what moves save and cost while it is managed";
    case Found::same:
      return "";
    case Found::unclear:
      break;
  }
  return "longer blocks (--block), more of them (--pairs), or a steadier figure";
}

const char* mode_text(Arm arm) {
  return arm == Arm::watch ? "watched" : "managed";
}

std::uint64_t most_displaced(const Crossover& crossover, Arm arm) {
  std::uint64_t most = 0;
  for (const Crossover::Block& block : crossover.blocks())
    if (block.arm == arm) most = std::max(most, block.displaced_bytes);
  return most;
}

json ab_json(const Crossover& crossover, const Estimate& found, const Options& options,
             const Meter& meter) {
  const auto known = [](const std::optional<double>& share) {
    return share ? json(100 * *share) : json();
  };
  json blocks = json::array();
  for (const Crossover::Block& block : crossover.blocks())
    blocks.push_back({{"block", blocks.size() + 1},
                      {"mode", mode_text(block.arm)},
                      {"figure", block.figure},
                      {"displaced_bytes", block.displaced_bytes}});
  const ComparisonRules& rules = options.rules;
  return {{"comparison",
           {{"pid", options.crossover.pid},
            {"comm", crossover.comm()},
            {"verdict", found_name(found.found)},
            {"text", finding_text(found, rules)},
            {"remedy", remedy_of(found, options.crossover.pid)},
            {"metric", meter.name()},
            {"better", rules.better == Better::higher ? "higher" : "lower"},
            {"pairs", found.pairs},
            {"watched", found.watched},
            {"managed", found.managed},
            {"change_percent", found.pairs == 0 ? json() : json(100 * found.change)},
            {"low_percent", known(found.low)},
            {"high_percent", known(found.high)},
            {"guard_percent", known(rules.guard)},
            {"block_ns", crossover.options().block.count()},
            {"settle_ns", crossover.options().settle.count()},
            {"seed", rules.seed},
            {"left_bytes", crossover.left_bytes()}}},
          {"blocks", std::move(blocks)}};
}

void show_beginning(const Crossover& crossover, const ComparisonRules& rules, const Meter& meter) {
  const auto most = (crossover.options().block + crossover.options().settle) * 2 * rules.most_pairs;
  std::printf(
      "%s, PID %d: %s, %s is better. At most %u blocks of %s, %s to settle before each: %s.\n",
      hmk::printable(crossover.comm()).c_str(), crossover.options().pid,
      hmk::printable(meter.name()).c_str(), rules.better == Better::higher ? "higher" : "lower",
      2 * rules.most_pairs, seconds_text(crossover.options().block).c_str(),
      seconds_text(crossover.options().settle).c_str(), seconds_text(most).c_str());
  std::fflush(stdout);
}

void show_block(std::size_t number, const Crossover::Block& block) {
  std::printf("block %2zu  %s  %s\n", number, mode_text(block.arm),
              figure_text(block.figure).c_str());
  std::fflush(stdout);
}

void show_end(const Crossover& crossover, const Estimate& found, const Options& options) {
  std::string text = hmk::printable(crossover.comm()) + ", PID " +
                     std::to_string(options.crossover.pid) + ": " +
                     finding_text(found, options.rules) + "\n";
  if (found.managed > 0)
    text += "Mean of the managed blocks " + figure_text(found.managed) + ", of the watched ones " +
            figure_text(found.watched) + "; pairs: " + std::to_string(found.pairs) + ".\n";
  if (found.managed > 0 && most_displaced(crossover, Arm::manage) == 0)
    text += "hmkd moved nothing in the managed blocks.\n";
  if (const auto left = most_displaced(crossover, Arm::watch); left > 0)
    text += "Not all could be put back: up to " + to_text(left, Unit::bytes) +
            " lay elsewhere in watched blocks, so the difference may be larger.\n";
  if (const std::string next = remedy_of(found, options.crossover.pid); !next.empty())
    text += "Next: " + next + ".\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int run_ab(const Context& context, const Options& options) {
  end_watch_on_signals();
  std::unique_ptr<Meter> meter;
  if (options.command.empty())
    meter = std::make_unique<InstructionMeter>(options.crossover.pid);
  else
    meter = std::make_unique<CommandMeter>(options.command, options.metric);
  Crossover crossover(context, options.crossover, *meter);
  Comparison comparison(options.rules);
  const auto trouble = crossover.run(
      comparison,
      [&] {
        if (!context.as_json) show_beginning(crossover, options.rules, *meter);
      },
      [&](const Crossover::Block& block) {
        if (!context.as_json) show_block(crossover.blocks().size(), block);
      });
  if (trouble) return fail(context, *trouble);
  const Estimate found = comparison.estimate();
  if (context.as_json)
    std::fputs(json_text(ab_json(crossover, found, options, *meter), 2).c_str(), stdout);
  else
    show_end(crossover, found, options);
  return kOk;
}

void add_times(CLI::App& verb, Options& options) {
  add_parsed(verb, "--block", "length of a block, for example 60s (default: six intervals)",
             parse_time, [&](hmk::Nanoseconds time) { options.crossover.block = time; });
  add_parsed(verb, "--settle",
             "time after each change of mode in which nothing is measured (default: six intervals)",
             hmk::parse_duration, [&](hmk::Nanoseconds time) { options.crossover.settle = time; });
  add_parsed(verb, "--metric-limit", "end the metric command after this time (default: 10s)",
             parse_time, [&](hmk::Nanoseconds time) {
               options.metric.limit = std::chrono::ceil<std::chrono::milliseconds>(time);
             });
}

void add_rules(CLI::App& verb, Options& options) {
  const auto share_to = [](auto* place) { return [=](std::uint32_t bp) { *place = bp / 1e4; }; };
  add_parsed(verb, "--guard",
             "stop when managing makes the figure worse by more than this, for example 5%",
             hmk::parse_percent_bp, share_to(&options.rules.guard));
  add_parsed(verb, "--within", "a change that is too small to matter (default: 3%)",
             hmk::parse_percent_bp, share_to(&options.rules.within));
  verb.add_option_function<unsigned>(
          "--pairs", [&](unsigned pairs) { options.rules.most_pairs = pairs; },
          "at most so many pairs of a watched and a managed block (default: 12)")
      ->check(CLI::Range(4, 1000))
      ->check(CLI::Validator(
          [](std::string& text) {
            return std::stoul(text) % 2 == 0 ? std::string() : "'" + text + "' is not even";
          },
          ""));
  verb.add_option("--seed", options.rules.seed,
                  "draws the order of the blocks (default: another each time)");
}

}  // namespace

Run make_ab(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  options->rules.seed = std::random_device{}();
  verb.add_option("pid", options->crossover.pid, "PID of a running process")
      ->required()
      ->check(CLI::Range(1, 4194304));
  CLI::Option* const metric = verb.add_option(
      "--metric", options->command,
      "shell command that prints one number: the program's own figure (default: instructions per "
      "second of its CPU time, where the CPU counts them)");
  verb.add_option_function<std::string>(
          "--metric-kind",
          [=](const std::string& kind) { options->metric.is_total = kind == "total"; },
          "rate: what it prints is the figure (default); total: it only grows, the figure is by "
          "how "
          "much per second")
      ->check(CLI::IsMember({"rate", "total"}))
      ->needs(metric);
  verb.add_option_function<std::string>(
          "--better",
          [=](const std::string& side) {
            options->rules.better = side == "lower" ? Better::lower : Better::higher;
          },
          "which figure is the better one: higher (default) or lower")
      ->check(CLI::IsMember({"higher", "lower"}));
  add_times(verb, *options);
  add_rules(verb, *options);
  verb.footer(
      "Blocks of watching and managing alternate, in an order that is partly drawn. What was moved "
      "goes back before a watched block, and nothing is measured until both have settled: compared "
      "are the placement as it was and the managed one, with what keeping it goes on costing. It "
      "stops when an interval that holds for all looks together says gain, loss, or no difference "
      "that matters. Mode and placement are put back at the end; if it is killed, the mode.");
  return [options](const Context& context) { return run_ab(context, *options); };
}

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
//
// hmkctl: show and tune a running hmkd. Exit codes: 0 ok, 1 failed, 2 usage,
// 3 hmkd not reachable.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <vector>

#include "util/cli.hpp"
#include "util/printable.hpp"
#include "util/suggest.hpp"
#include "verb.hpp"

namespace {

using hmkctl::Context;
using hmkctl::Run;

struct Verb {
  std::string_view name;
  const char* help;
  hmkctl::MakeVerb make;
};

constexpr std::array kVerbs{
    Verb{"try", "watch a process for a while, move nothing, and say what there is to gain",
         hmkctl::make_try},
    Verb{"ab", "watch and manage a process in turns, and say whether managing it helps",
         hmkctl::make_ab},
    Verb{"report", "write one HTML page about the managed processes", hmkctl::make_report},
    Verb{"status", "managed processes, their tiers, the last interval (default)",
         hmkctl::make_status},
    Verb{"tiers", "the tiers, fastest first, and where their order comes from", hmkctl::make_tiers},
    Verb{"regions", "regions of a process, hottest first or in another order",
         hmkctl::make_regions},
    Verb{"top", "live view, refreshed every interval: what is hot in a slow tier first",
         hmkctl::make_top},
    Verb{"stats", "counters since the process was attached", hmkctl::make_stats},
    Verb{"gain", "what moves save and cost, compared with the forecast; how long heat lasts",
         hmkctl::make_gain},
    Verb{"labels", "what programs say of their memory, where it lies, and how much came true",
         hmkctl::make_labels},
    Verb{"why", "history of an address or region: what was measured, decided, and why",
         hmkctl::make_why},
    Verb{"events", "print events as they happen: attached, moved, set, warnings",
         hmkctl::make_events},
    Verb{"get", "the values in force, and where each comes from", hmkctl::make_get},
    Verb{"config", "the configuration in force, as a file that hmkd reads", hmkctl::make_config},
    Verb{"set", "change a parameter of the running hmkd", hmkctl::make_set},
    Verb{"attach", "manage one more process, or those that a rule names", hmkctl::make_attach},
    Verb{"detach", "stop managing a process, or those of a rule", hmkctl::make_detach},
    Verb{"record", "record the heat of a process to a file", hmkctl::make_record},
    Verb{"heatmap", "heat and tier over address and time, of a recording or live",
         hmkctl::make_heatmap},
    Verb{"reload", "re-read hmkd's config file; with an error in it nothing changes",
         hmkctl::make_reload},
    Verb{"pause", "stop profiling and moving, keep what was learnt", hmkctl::make_pause},
    Verb{"resume", "resume after a pause", hmkctl::make_resume},
    Verb{"plan", "plan where the memory of a recorded program should be", hmkctl::make_plan},
    Verb{"measure", "where loads are served from, tier by tier, by the CPUs' own samples",
         hmkctl::make_measure},
    Verb{"calibrate", "measure latencies, bandwidths and the cost of moves on this machine",
         hmkctl::make_calibrate},
    Verb{"doctor", "check what this machine offers, what is missing, and what to do about it",
         hmkctl::make_doctor},
    Verb{"completion", "print a completion script for bash, zsh or fish", hmkctl::make_completion},
    Verb{"version", "versions of hmkctl, hmkd and the module", hmkctl::make_version},
};

std::vector<std::string_view> verb_names() {
  std::vector<std::string_view> names(kVerbs.size());
  std::ranges::transform(kVerbs, names.begin(), &Verb::name);
  return names;
}

int usage_error(const Context& context, const std::string& problem, const std::string& remedy) {
  return hmkctl::fail(context, hmkctl::Reply{hmkctl::kUsage, {problem, remedy}});
}

/// What was meant by a word that nothing takes.
int explain_extra(const Context& context, const CLI::App& app, const std::string& word) {
  const bool is_verb_place = app.get_subcommands().empty(), is_option = word.starts_with('-');
  const std::vector<std::string> options = hmk::all_long_options(app);
  const std::string suggestion =
      is_option
          ? hmk::did_you_mean(word, std::vector<std::string_view>(options.begin(), options.end()))
      : is_verb_place ? hmk::did_you_mean(word, verb_names())
                      : "";
  return usage_error(context,
                     (is_option       ? "unknown option '"
                      : is_verb_place ? "unknown verb '"
                                      : "unexpected '") +
                         word + "'",
                     suggestion.empty() ? "see 'hmkctl --help'" : suggestion);
}

int explain(const Context& context, const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty())
    return explain_extra(context, app, extras.front());
  return usage_error(context, error.what(), "see 'hmkctl --help'");
}

/// Also where the command line is not understood.
bool asks_for_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc,
                     [](const char* word) { return word == std::string_view("--json"); });
}

int run(int argc, char** argv) {
  Context context;
  CLI::App app{"Show and tune a running hmkd.", "hmkctl"};
  app.add_option("--socket", context.socket, "control socket of hmkd")->capture_default_str();
  app.add_flag("--json", context.as_json, "print JSON");
  app.set_version_flag("--version", HMK_VERSION);
  app.require_subcommand(0, 1);
  app.footer("Exit codes: 0 ok, 1 failed, 2 usage, 3 hmkd not reachable.");

  Run chosen;
  CLI::App unused;
  for (const Verb& verb : kVerbs) {
    CLI::App* const sub = app.add_subcommand(std::string(verb.name), verb.help);
    sub->fallthrough();  // --json and --socket may follow the verb
    sub->final_callback([&chosen, make = verb.make(*sub)] { chosen = make; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    context.as_json = asks_for_json(argc, argv);
    return explain(context, app, e);
  }
  if (!chosen) chosen = hmkctl::make_status(unused);
  try {
    return chosen(context);
  } catch (const std::exception& e) {
    return hmkctl::fail(context, hmkctl::Reply{hmkctl::kFailed, {e.what()}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "hmkctl: %s\n", e.what());
    return hmkctl::kFailed;
  }
}

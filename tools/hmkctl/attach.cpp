// SPDX-License-Identifier: MIT
#include "attach/rules.hpp"
#include "verb.hpp"

namespace hmkctl {
namespace {

struct Options {
  std::vector<std::string> words;
  bool save = false;
};

/// "not", "user=backup" is one rule in two words of the shell.
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

const std::vector<Table>& pid_tables() {
  static const std::vector<Table> kTables{{"target", {{"pid", "PID"}, {"comm", "COMM"}}}};
  return kTables;
}

const std::vector<Table>& rule_tables(bool attaches) {
  static const std::vector<Table> kAttached{{"rule",
                                             {{"rule", "RULE"},
                                              {"named", "NAMES"},
                                              {"managed", "MANAGED"},
                                              {"waiting", "WAITING"},
                                              {"saved", "SAVED IN"},
                                              {"note", "NOTE"}}}};
  static const std::vector<Table> kDetached{{"rule",
                                             {{"rule", "RULE"},
                                              {"named", "LET GO"},
                                              {"managed", ""},
                                              {"waiting", ""},
                                              {"saved", "SAVED IN"},
                                              {"note", ""}}}};
  return attaches ? kAttached : kDetached;
}

int run(const Context& context, const std::string& verb, const Options& options) {
  const std::string word = joined(options.words);
  const auto rule = hmk::parse_rule(word);
  if (!rule) return fail(context, Reply{kUsage, rule.error()});
  if (const auto pid = hmk::pid_of(*rule); pid != 0 && !rule->children) {
    if (options.save)
      return fail(context, Reply{kUsage,
                                 {"--save goes with a rule",
                                  "what is done by PID is kept while its process lives"}});
    return show(context, verb, {{"pid", pid}}, pid_tables());
  }
  nlohmann::json args{{"rule", word}};
  if (options.save) args["save"] = true;
  return show(context, verb, args, rule_tables(verb == "attach"));
}

Run make(CLI::App& verb, const char* name, const char* help) {
  auto options = std::make_shared<Options>();
  verb.add_option("process", options->words, help)->required();
  verb.add_flag("--save", options->save, "the rule counts after a restart of hmkd, too");
  return [options, name](const Context& context) { return run(context, name, *options); };
}

}  // namespace

Run make_attach(CLI::App& verb) {
  return make(
      verb, "attach",
      "a PID, or a rule: comm=NAME, unit=NAME.service, cgroup=/PATH, exe=/PATH, cmdline=TEXT, "
      "user=NAME; 'not' before it, +children, +min-size=1GiB behind it");
}

Run make_detach(CLI::App& verb) {
  return make(verb, "detach", "a PID, or a rule that is in force (hmkctl get attach)");
}

}  // namespace hmkctl

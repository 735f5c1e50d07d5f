// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {

const std::vector<Table>& change_tables() {
  static const std::vector<Table> kTables{{"changed",
                                           {{"key", "KEY"},
                                            {"old", "WAS"},
                                            {"value", "NOW"},
                                            {"takes_effect", "TAKES EFFECT"},
                                            {"saved", "SAVED IN"}},
                                           Layout::rows,
                                           {},
                                           "nothing"}};
  return kTables;
}

Run make_set(CLI::App& verb) {
  struct Options {
    std::string key, value;
    bool save = false, unsave = false;
  };
  auto options = std::make_shared<Options>();
  verb.add_option("key", options->key, "a key of hmkd.yaml")->required();
  const auto* const value = verb.add_option("value", options->value, "its value, with unit");
  const auto* const save = verb.add_flag("--save", options->save,
                                         "keep it over a restart of hmkd, in a file of its own");
  verb.add_flag("--unsave", options->unsave, "take a saved value back; hmkd.yaml's counts again");
  verb.parse_complete_callback([options, value, save] {
    if (options->unsave && (value->count() != 0 || save->count() != 0))
      throw CLI::ExcludesError("--unsave", "a value and --save");
    if (!options->unsave && value->count() == 0) throw CLI::RequiredError("value");
  });
  return [options](const Context& context) {
    nlohmann::json args{{"key", options->key}};
    if (options->unsave)
      args["unsave"] = true;
    else
      args["value"] = options->value;
    if (options->save) args["save"] = true;
    return show(context, "set", args, change_tables());
  };
}

Run make_reload(CLI::App& /*verb*/) {
  return [](const Context& context) { return show(context, "reload", {}, change_tables()); };
}

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {

const std::vector<Table>& change_tables() {
  static const std::vector<Table> kTables{
      {"changed",
       {{"key", "KEY"}, {"old", "WAS"}, {"value", "NOW"}, {"takes_effect", "TAKES EFFECT"}},
       Layout::rows,
       {},
       "nothing"}};
  return kTables;
}

Run make_set(CLI::App& verb) {
  struct Options {
    std::string key, value;
  };
  auto options = std::make_shared<Options>();
  verb.add_option("key", options->key, "a key of hmkd.yaml")->required();
  verb.add_option("value", options->value, "its value, with unit")->required();
  return [options](const Context& context) {
    return show(context, "set", {{"key", options->key}, {"value", options->value}},
                change_tables());
  };
}

Run make_reload(CLI::App& /*verb*/) {
  return [](const Context& context) { return show(context, "reload", {}, change_tables()); };
}

}  // namespace hmkctl

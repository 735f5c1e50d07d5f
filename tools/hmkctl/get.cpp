// SPDX-License-Identifier: MIT
//
// The configuration in force: key by key with where each value comes from, or as a file that
// hmkd reads.
#include <cstdio>

#include "verb.hpp"

namespace hmkctl {
namespace {

const std::vector<Table>& value_tables() {
  static const std::vector<Table> kTables{{"values",
                                           {{"key", "KEY"},
                                            {"value", "VALUE"},
                                            {"source", "SOURCE"},
                                            {"place", "PLACE"},
                                            {"default", "DEFAULT"},
                                            {"takes_effect", ""},
                                            {"values", ""}},
                                           Layout::rows}};
  return kTables;
}

}  // namespace

Run make_get(CLI::App& verb) {
  auto keys = std::make_shared<std::vector<std::string>>();
  verb.add_option("key", *keys, "keys of hmkd.yaml; none: all");
  return [keys](const Context& context) {
    return show(context, "get", {{"keys", *keys}}, value_tables());
  };
}

Run make_config(CLI::App& verb) {
  auto is_changed = std::make_shared<bool>(false);
  verb.add_flag("--changed", *is_changed, "only what is not the default");
  return [is_changed](const Context& context) -> int {
    const nlohmann::json args{{"changed", *is_changed}};
    if (context.as_json) return show(context, "config", args, value_tables());
    const Reply reply = ask(context.socket, "config", args);
    if (reply.exit_code != kOk) return fail(context, reply);
    const std::string text = reply.data.at("yaml").get<std::string>();
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? kOk : kFailed;
  };
}

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {
namespace {

Run make(const char* name) {
  return [name](const Context& context) {
    static const std::vector<Table> kTables{{"daemon", {{"mode", "MODE"}, {"paused", "PAUSED"}}}};
    return show(context, name, {}, kTables);
  };
}

}  // namespace

Run make_pause(CLI::App& /*verb*/) {
  return make("pause");
}

Run make_resume(CLI::App& /*verb*/) {
  return make("resume");
}

}  // namespace hmkctl

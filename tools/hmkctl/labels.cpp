// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {
namespace {

const std::vector<Table>& label_tables() {
  static const Table kLabels{"labels",
                             {{"label", "LABEL"},
                              {"objects", "OBJECTS"},
                              {"bytes", "SIZE", Unit::bytes},
                              {"resident_bytes", "RESIDENT", Unit::bytes},
                              {"tier1_bytes", "IN TIER 1", Unit::bytes},
                              {"says", "SAYS"}}};
  static const std::vector<Table> kTables{
      {"targets",
       {{"pid", "PID"},
        {"comm", "COMM"},
        {"came_true", "CAME TRUE"},
        {"did_not", "DID NOT"},
        {"ignored_intervals", "IGNORED FOR INTERVALS"}},
       Layout::rows,
       {kLabels},
       "no program says anything of its memory; see libhmk(3)"}};
  return kTables;
}

}  // namespace

Run make_labels(CLI::App& verb) {
  const auto args = pid_option(verb);
  return [args](const Context& context) { return show(context, "labels", args(), label_tables()); };
}

}  // namespace hmkctl

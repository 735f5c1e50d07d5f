// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {

const std::vector<Table>& region_tables() {
  static const Table kRegions{"regions",
                              {{"start", "START", Unit::address},
                               {"length", "LENGTH", Unit::bytes},
                               {"whi", "SMOOTHED", Unit::decimal},
                               {"hi", "HOTNESS", Unit::decimal},
                               {"rate", "ACCESSES/PAGE", Unit::per_second},
                               {"rate_factor", ""},
                               {"tier", "TIER"},
                               {"node", "NODE"},
                               {"resident_bytes", "RESIDENT", Unit::bytes},
                               {"away_bytes", "", Unit::bytes},
                               {"away_node", ""},
                               {"samples", "SAMPLES"},
                               {"writes", "WRITES"},
                               {"kind", "KIND"},
                               {"leaf_bytes", "LEAF", Unit::bytes},
                               {"state", "STATE"}}};
  static const std::vector<Table> kTables{
      {"targets",
       {{"pid", "PID"}, {"comm", "COMM"}, {"seq", "INTERVAL"}, {"nr_regions", "REGIONS"}},
       Layout::rows,
       {kRegions},
       "none whose addresses this user may see"}};
  return kTables;
}

Run make_regions(CLI::App& verb) {
  struct Options {
    int pid = 0;
    int limit = 20;
  };
  auto options = std::make_shared<Options>();
  verb.add_option("--pid", options->pid, "of this process only");
  verb.add_option("--limit", options->limit, "show the N hottest; 0 shows all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  return [options](const Context& context) {
    nlohmann::json args{{"limit", options->limit}};
    if (options->pid != 0) args["pid"] = options->pid;
    return show(context, "regions", args, region_tables());
  };
}

}  // namespace hmkctl

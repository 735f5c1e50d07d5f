// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {

Run make_tiers(CLI::App& verb) {
  auto pid = std::make_shared<int>(0);
  verb.add_option("--pid", *pid, "as this process sees them (default: as the machine does)");
  return [pid](const Context& context) {
    static const std::vector<Table> kTables{
        {"order", {{"source", "ORDER FROM"}, {"home_nodes", "SEEN FROM NODES"}}, Layout::fields},
        {"tiers",
         {{"tier", "TIER"},
          {"nodes", "NODES"},
          {"latency_ns", "LATENCY", Unit::ns},
          {"bandwidth_mib", "MiB/s"},
          {"free_bytes", "FREE", Unit::bytes},
          {"cache_bytes", "CACHE", Unit::bytes},
          {"reserve_bytes", "RESERVE", Unit::bytes},
          {"total_bytes", "TOTAL", Unit::bytes}}}};
    nlohmann::json args = nlohmann::json::object();
    if (*pid != 0) args["pid"] = *pid;
    return show(context, "tiers", args, kTables);
  };
}

}  // namespace hmkctl

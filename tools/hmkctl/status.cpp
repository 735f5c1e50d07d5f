// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {

const std::vector<Table>& status_tables() {
  static const Table kTiers{"tiers",
                            {{"tier", "TIER"},
                             {"nodes", "NODES"},
                             {"latency_ns", "LATENCY", Unit::ns},
                             {"resident_bytes", "RESIDENT", Unit::bytes},
                             {"accesses_per_s", ""},
                             {"hot_share_percent", "HOT SHARE", Unit::percent},
                             {"hot_bytes", "", Unit::bytes},
                             {"free_bytes", "FREE", Unit::bytes},
                             {"cache_bytes", "CACHE", Unit::bytes},
                             {"total_bytes", "TOTAL", Unit::bytes}}};
  static const Table kPins{"pins",
                           {{"pin", "PINNED"},
                            {"tier", "TIER"},
                            {"bytes", "BYTES", Unit::bytes},
                            {"elsewhere_bytes", "ELSEWHERE", Unit::bytes},
                            {"no_room_bytes", "NO ROOM", Unit::bytes}},
                           Layout::rows,
                           {},
                           ""};
  static const Table kGain{
      "gain", {{"text", "GAIN"}, {"saves_ns_per_s", ""}, {"costs_ns_per_s", ""}}, Layout::fields};
  static const std::vector<Table> kTables{
      {"daemon",
       {{"mode", ""},
        {"paused", ""},
        {"interval_ns", "", Unit::ns},
        {"cache_dropped_bytes", "", Unit::bytes},
        {"memory_pressure_percent", "", Unit::percent},
        {"promotions_paused", ""},
        {"version", ""},
        {"socket", ""}},
       Layout::fields},
      {"targets",
       {{"pid", "PID"},
        {"comm", "COMM"},
        {"rule", ""},
        {"class", ""},
        {"backend", ""},
        {"mode", "MODE"},
        {"home_nodes", ""},
        {"last_interval/seq", "INTERVAL"},
        {"last_interval/regions", "REGIONS"},
        {"last_interval/samples", "SAMPLES"},
        {"last_interval/profiling_percent", "PROFILING", Unit::percent},
        {"last_interval/budget_percent", "BUDGET", Unit::percent},
        {"last_interval/planned_promote_bytes", "PLANNED UP", Unit::bytes},
        {"last_interval/planned_demote_bytes", "PLANNED DOWN", Unit::bytes},
        {"last_interval/promoted_bytes", "PROMOTED", Unit::bytes},
        {"last_interval/demoted_bytes", "DEMOTED", Unit::bytes},
        {"last_interval/moving", ""},
        {"last_interval/moved_since_bytes", ""},
        {"last_interval/degraded", ""},
        {"last_interval/truncated", ""},
        {"last_interval/late", ""}},
       Layout::rows,
       {kTiers, kPins, kGain},
       "none; attach one with 'hmkctl attach PID'"}};
  return kTables;
}

Run make_status(CLI::App& verb) {
  return [args = pid_option(verb)](const Context& context) {
    return show(context, "status", args(), status_tables());
  };
}

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {
namespace {

const std::vector<Table>& gain_tables() {
  static const Table kPairs{"pairs",
                            {{"from_tier", "FROM"},
                             {"to_tier", "TO"},
                             {"promised_ns_per_s", "PROMISED", Unit::ns_per_second},
                             {"saves_ns_per_s", "SAVES", Unit::ns_per_second},
                             {"costs_ns_per_s", "COSTS", Unit::ns_per_second},
                             {"page_ns", "A PAGE", Unit::ns},
                             {"huge_page_ns", "4KiB OF A HUGE PAGE", Unit::ns}},
                            Layout::rows,
                            {},
                            "nothing moved"};
  static const Table kPersistence{"persistence",
                                  {{"intervals", "AFTER INTERVALS"},
                                   {"share_percent", "HEAT LEFT", Unit::percent},
                                   {"beyond_others_percent", "BEYOND OTHERS", Unit::percent}},
                                  Layout::rows,
                                  {},
                                  "not known before the second interval"};
  static const std::vector<Table> kTables{
      {"targets",
       {{"pid", "pid"},
        {"comm", "comm"},
        {"mode", "mode"},
        {"text", "gain"},
        {"saves_ns_per_s", "saves", Unit::ns_per_second},
        {"saves_dev_ns_per_s", "give or take", Unit::ns_per_second},
        {"costs_ns_per_s", "costs", Unit::ns_per_second},
        {"moves_ns_per_s", "of these moves", Unit::ns_per_second},
        {"profiling_ns_per_s", "of these profiling", Unit::ns_per_second},
        {"promised_ns_per_s", "promised", Unit::ns_per_second},
        {"kept", "kept", Unit::decimal},
        {"could_save_ns_per_s", "the newest plan saves", Unit::ns_per_second},
        {"could_cost_ns", "and costs once", Unit::ns},
        {"cpu_ns_per_s", "CPU time of the process", Unit::ns_per_second},
        {"scale", "scale of misses", Unit::decimal},
        {"horizon_intervals", "intervals heat lasts", Unit::decimal},
        {"exchange_horizon_intervals", "longer than other memory's", Unit::decimal},
        {"exchanges_kept", "exchanges kept", Unit::decimal},
        {"governed", "governed"},
        {"promote_limit_divisor", "promote limit divided by"},
        {"saved_ns", "saved so far", Unit::ns},
        {"promised_ns", "promised so far", Unit::ns},
        {"spent_ns", "spent so far", Unit::ns},
        {"displaced_bytes", "lies elsewhere now", Unit::bytes}},
       Layout::fields,
       {kPairs, kPersistence},
       "none; attach one with 'hmkctl attach PID'"}};
  return kTables;
}

}  // namespace

Run make_gain(CLI::App& verb) {
  auto pid = std::make_shared<int>(0);
  verb.add_option("pid", *pid, "of this process only")->check(CLI::Range(1, 4194304));
  return [pid](const Context& context) {
    nlohmann::json args = nlohmann::json::object();
    if (*pid != 0) args["pid"] = *pid;
    return show(context, "gain", args, gain_tables());
  };
}

}  // namespace hmkctl

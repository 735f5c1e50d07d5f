// SPDX-License-Identifier: MIT
#include <algorithm>

#include "mappings.hpp"
#include "region_rows.hpp"
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
                               {"hot_bytes", "", Unit::bytes},
                               {"hot_slow_bytes", "", Unit::bytes},
                               {"samples", "SAMPLES"},
                               {"writes", "WRITES"},
                               {"kind", "KIND"},
                               {"leaf_bytes", "LEAF", Unit::bytes},
                               {"state", "STATE"},
                               {"mapping", "MAPPING"}}};
  static const std::vector<Table> kTables{
      {"targets",
       {{"pid", "PID"}, {"comm", "COMM"}, {"seq", "INTERVAL"}, {"nr_regions", "REGIONS"}},
       Layout::rows,
       {kRegions},
       "none whose addresses this user may see"}};
  return kTables;
}

void name_mappings(nlohmann::json& target, const std::string& root) {
  const Mappings mappings =
      mappings_of(root, target.at("pid").get<int>(), target.at("comm").get<std::string>());
  for (nlohmann::json& region : target.at("regions")) {
    const std::string name = mappings.name(region.at("start").get<std::uint64_t>());
    region["mapping"] = name.empty() ? nlohmann::json() : nlohmann::json(name);
  }
}

Run make_regions(CLI::App& verb) {
  struct Options {
    int pid = 0;
    int limit = 20;
    std::string order = "hotness", root = "/";
  };
  auto options = std::make_shared<Options>();
  verb.add_option("--pid", options->pid, "of this process only");
  verb.add_option("--limit", options->limit, "show the first N; 0 shows all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  std::vector<std::string> words(kRegionOrders.size());
  std::ranges::transform(kRegionOrders, words.begin(), &RegionOrder::word);
  words.insert(words.begin(), options->order);
  verb.add_option("--sort", options->order, "what comes first")
      ->capture_default_str()
      ->check(CLI::IsMember(words));
  verb.add_option("--root", options->root, "look at a machine recorded below this directory")
      ->group("");
  return [options](const Context& context) -> int {
    nlohmann::json args{{"limit", options->limit}, {"order", options->order}};
    if (options->pid != 0) args["pid"] = options->pid;
    Reply reply = ask(context.socket, "regions", args);
    if (reply.exit_code != kOk) return fail(context, reply);
    for (nlohmann::json& target : reply.data.at("targets")) name_mappings(target, options->root);
    print(reply.data, region_tables(), context.as_json);
    return kOk;
  };
}

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include <charconv>
#include <optional>

#include "verb.hpp"

namespace hmkctl {
namespace {

/// "0x7f12" or, as /proc/PID/maps writes them, "7f12".
std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || failed != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

struct Place {
  std::uint64_t start = 0, end = 0;
};

/// An address, or a region as START-END.
std::optional<Place> parse_place(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto start = parse_address(text.substr(0, dash));
  const auto end = dash == text.npos ? start : parse_address(text.substr(dash + 1));
  if (!start || !end || *end < *start) return {};
  return Place{*start, dash == text.npos ? *start + 1 : *end};
}

const std::vector<Table>& why_tables() {
  static const Table kRegion{"region",
                             {{"start", "REGION NOW", Unit::address},
                              {"length", "LENGTH", Unit::bytes},
                              {"whi", "SMOOTHED", Unit::decimal},
                              {"hi", "HOTNESS", Unit::decimal},
                              {"tier", "TIER"},
                              {"resident_bytes", "RESIDENT", Unit::bytes},
                              {"state", "STATE"},
                              {"pin", ""}},
                             Layout::rows,
                             {},
                             "not mapped any more"};
  static const Table kClasses{"classes",
                              {{"class", "PAGES OF CLASS"},
                               {"rate", "ACCESSES/PAGE", Unit::per_second},
                               {"rate_factor", ""},
                               {"tier", "TIER"},
                               {"resident_bytes", "RESIDENT", Unit::bytes}},
                              Layout::rows,
                              {},
                              ""};
  static const Table kIntervals{"intervals",
                                {{"seq", "INTERVAL"},
                                 {"start", "START", Unit::address},
                                 {"length", "LENGTH", Unit::bytes},
                                 {"whi", "SMOOTHED", Unit::decimal},
                                 {"hi", "HOTNESS", Unit::decimal},
                                 {"tier", "TIER"},
                                 {"resident_bytes", "RESIDENT", Unit::bytes},
                                 {"samples", "SAMPLES"}}};
  static const Table kDecisions{"decisions",
                                {{"seq", "INTERVAL"},
                                 {"action", "DECISION"},
                                 {"class", "CLASS"},
                                 {"from_tier", "FROM"},
                                 {"to_tier", "TO"},
                                 {"start", "START", Unit::address},
                                 {"length", "LENGTH", Unit::bytes},
                                 {"whi", "SMOOTHED", Unit::decimal},
                                 {"outcome", "OUTCOME"},
                                 {"moved_bytes", "MOVED", Unit::bytes},
                                 {"promised_ns_per_s", "TO SAVE", Unit::ns_per_second},
                                 {"now/saves_ns_per_s", "SAVES NOW", Unit::ns_per_second},
                                 {"reason", "BECAUSE"}}};
  static const std::vector<Table> kTables{{"targets",
                                           {{"pid", "PID"}, {"comm", "COMM"}},
                                           Layout::rows,
                                           {kRegion, kClasses, kIntervals, kDecisions}}};
  return kTables;
}

}  // namespace

Run make_why(CLI::App& verb) {
  struct Options {
    std::string place;
    int pid = 0;
  };
  auto options = std::make_shared<Options>();
  verb.add_option("place", options->place, "hexadecimal address, or a region START-END")
      ->required()
      ->check([](const std::string& text) {
        return parse_place(text) ? "" : "'" + text + "' is no address and no START-END, in hex";
      });
  verb.add_option("--pid", options->pid, "of this process only");
  return [options](const Context& context) {
    const Place place = *parse_place(options->place);
    nlohmann::json args{{"start", place.start}, {"end", place.end}};
    if (options->pid != 0) args["pid"] = options->pid;
    return show(context, "why", args, why_tables());
  };
}

}  // namespace hmkctl

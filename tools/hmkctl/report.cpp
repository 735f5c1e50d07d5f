// SPDX-License-Identifier: MIT
#include <charconv>
#include <ctime>
#include <sstream>

#include "doctor.hpp"
#include "heat_map.hpp"
#include "report_page.hpp"
#include "trial.hpp"
#include "util/file.hpp"
#include "util/private_file.hpp"
#include "verdict_text.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

constexpr std::size_t kProcesses = 8;  ///< of one page
constexpr std::size_t kRows = 64, kColumns = 64;

struct ReportOptions {
  std::string file, root = "/";
  int pid = 0;
};

/// Asks hmkd, keeping the first refusal; null then.
class Asker {
 public:
  explicit Asker(const Context& context) : context_(context) {}
  json operator()(const std::string& verb, const json& args = json::object()) {
    Reply reply = ask(context_.socket, verb, args);
    if (reply.exit_code == kOk) return std::move(reply.data);
    if (!trouble_) trouble_ = std::move(reply);
    return {};
  }
  const std::optional<Reply>& trouble() const { return trouble_; }

 private:
  const Context& context_;
  std::optional<Reply> trouble_;
};

json row_of(const json& answer, int pid) {
  for (const json& row : answer.value("targets", json::array()))
    if (row.at("pid") == pid) return row;
  return {};
}

std::string made_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char text[32];
  ::gmtime_r(&now, &utc);
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

/// The name of the mapping that holds an address, from /proc/PID/maps.
class Mappings {
 public:
  Mappings(const std::filesystem::path& root, const json& target) {
    const auto proc = root / "proc" / target.at("pid").dump();
    // Of another PID namespace, it would be another's.
    if (hmk::read_text(proc / "comm").value_or("") != target.at("comm").get<std::string>() + "\n")
      return;
    std::istringstream maps(hmk::read_text(proc / "maps").value_or(""));
    for (std::string line; std::getline(maps, line);) add(line);
  }
  std::string name(std::uint64_t address) const {
    const auto after = ends_.upper_bound(address);
    return after == ends_.end() || after->second.first > address ? "" : after->second.second;
  }

 private:
  /// "7f00-7f10 rw-p 00000000 00:00 0    [heap]"
  void add(const std::string& line) {
    std::istringstream words(line);
    std::string range, skipped, name;
    words >> range >> skipped >> skipped >> skipped >> skipped;
    std::getline(words >> std::ws, name);
    std::uint64_t start = 0, end = 0;
    const auto dash = std::from_chars(range.data(), range.data() + range.size(), start, 16).ptr;
    if (dash == range.data() + range.size()) return;
    std::from_chars(dash + 1, range.data() + range.size(), end, 16);
    const bool is_path = name.starts_with('/');
    ends_[end] = {start, name.empty() ? "anonymous"
                         : is_path    ? name.substr(name.rfind('/') + 1)
                                      : name};
  }
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> ends_;
};

/// The intervals that hmkd keeps, oldest first.
std::vector<hmk::RecordedFrame> frames_of(Asker& hmkd, int pid, std::size_t intervals) {
  std::vector<hmk::RecordedFrame> frames;
  for (std::size_t age = intervals; age-- > 0;) {
    const json past = hmkd("history", {{"pid", pid}, {"age", age}}).value("target", json());
    if (!past.is_null()) frames.push_back(frame_of(past));
  }
  return frames;
}

json heat_json(const std::vector<hmk::RecordedFrame>& frames, const json& tiers,
               const Mappings& mappings) {
  std::vector<Span> spans;
  for (const auto& frame : frames) spans = join(spans, frame);
  if (spans.empty()) return {};
  HeatMap map(std::move(spans), kRows, kColumns, frames.size());
  for (const auto& frame : frames) map.add(frame);
  json rows = json::array();
  for (std::size_t r = 0; r < map.rows(); ++r) {
    json cells = json::array();
    for (std::size_t c = 0; c < map.columns(); ++c) {
      const auto heat = map.at(r, c);
      const int tier = heat ? tier_of(tiers, *map.node(r, c)) : -1;
      cells.push_back(heat ? json{*heat, tier < 0 ? json() : json(tier + 1)} : json());
    }
    rows.push_back(
        {{"start", map.address(r)}, {"name", mappings.name(map.address(r))}, {"cells", cells}});
  }
  return {{"intervals", map.frames()},
          {"time_ns", map.time_ns()},
          {"bytes_per_row", map.bytes_per_row()},
          {"rows", rows}};
}

json outlook_of(const json& regions, const json& tiers) {
  if (regions.at("regions").empty()) return {};
  const Outlook outlook =
      look_ahead({.intervals = {seen_interval(regions, tiers)}, .tiers = seen_tiers(tiers)});
  json out = outlook_json(outlook, tiers);
  out["text"] = verdict_text(outlook);
  return out;
}

json process_of(Asker& hmkd, const ReportOptions& options, const json& status, const json& stats) {
  const int pid = status.at("pid");
  const json history = hmkd("history", {{"pid", pid}}).value("target", json());
  const json regions = row_of(hmkd("regions", {{"pid", pid}, {"limit", 0}}), pid);
  const json tiers = hmkd("tiers", {{"pid", pid}}).value("tiers", json());
  if (history.is_null() || regions.is_null() || tiers.empty()) return {};
  const auto frames = frames_of(hmkd, pid, history.at("intervals"));
  return {{"status", status},
          {"stats", row_of(stats, pid)},
          {"history", history},
          {"outlook", outlook_of(regions, tiers)},
          {"heat", heat_json(frames, tiers, Mappings(options.root, status))}};
}

int run_report(const Context& context, const ReportOptions& options) {
  Asker hmkd(context);
  const json status = hmkd("status"), stats = hmkd("stats");
  if (hmkd.trouble()) return fail(context, *hmkd.trouble());
  json processes = json::array();
  std::size_t nr = 0;
  for (const json& target : status.at("targets")) {
    if (options.pid != 0 && target.at("pid") != options.pid) continue;
    if (nr++ < kProcesses) processes.push_back(process_of(hmkd, options, target, stats));
  }
  const std::string pid = std::to_string(options.pid);
  if (nr == 0 && options.pid != 0)
    return fail(context, hmk::Error{"PID " + pid + " is not managed",
                                    "attach it with 'hmkctl attach " + pid + "'"});
  if (hmkd.trouble()) return fail(context, *hmkd.trouble());
  const std::string page =
      report_page({{"version", HMK_VERSION},
                   {"made", made_now()},
                   {"daemon", status.at("daemon")},
                   {"checks", to_json(diagnose(context, options.root)).at("checks")},
                   {"left_out", nr - processes.size()},
                   {"processes", processes}});
  if (const auto done = hmk::replace_private_file(options.file, page); !done)
    return fail(context, done.error());
  static const std::vector<Table> kTables{
      {"report", {{"file", "FILE"}, {"processes", "PROCESSES"}, {"bytes", "SIZE", Unit::bytes}}}};
  print({{"report",
          {{"file", options.file}, {"processes", processes.size()}, {"bytes", page.size()}}}},
        kTables, context.as_json);
  return kOk;
}

}  // namespace

Run make_report(CLI::App& verb) {
  auto options = std::make_shared<ReportOptions>();
  verb.add_option("--output,-o", options->file, "the file to write, for example report.html")
      ->required();
  verb.add_option("pid", options->pid, "this process only (default: all managed ones)")
      ->check(CLI::Range(1, 4194304));
  verb.add_option("--root", options->root, "look at a machine recorded below this directory")
      ->group("");
  return [options](const Context& context) { return run_report(context, *options); };
}

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include <ctime>

#include "doctor.hpp"
#include "heat_picture.hpp"
#include "report_page.hpp"
#include "trial.hpp"
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

/// The intervals that hmkd keeps, oldest first.
std::vector<hmk::RecordedFrame> frames_of(Asker& hmkd, int pid, std::size_t intervals) {
  std::vector<hmk::RecordedFrame> frames;
  for (std::size_t age = intervals; age-- > 0;) {
    const json past = hmkd("history", {{"pid", pid}, {"age", age}}).value("target", json());
    if (!past.is_null()) frames.push_back(frame_of(past));
  }
  return frames;
}

json heat_of(const std::vector<hmk::RecordedFrame>& frames, const hmk::RecordedContext& context) {
  std::vector<Span> spans;
  for (const auto& frame : frames) spans = join(spans, frame);
  if (spans.empty()) return {};
  HeatMap map(std::move(spans), kRows, kColumns, frames.size());
  for (const auto& frame : frames) map.add(frame);
  return heat_figure(HeatScene(
      map, "Heat map: where its memory lies (colour) and how hot it is (strength)", context));
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
          {"heat", heat_of(frames, {{recorded_tiers(tiers)},
                                    mappings_of(options.root, pid, status.at("comm")).all()})}};
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

// SPDX-License-Identifier: MIT
#include "report_page.hpp"

#include <algorithm>
#include <cmath>

#include "chart.hpp"
#include "markup.hpp"
#include "table.hpp"
#include "verdict_text.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

constexpr const char* kUnknown = "not measured";
constexpr std::size_t kDecisions = 40;

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--grid:#8884;--card:#8881}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.3rem;border-top:1px solid var(--grid);padding-top:1rem}
h3{font-size:1.05rem;margin-bottom:.3rem}
figure{margin:1rem 0}figcaption{font-weight:600}
svg{width:100%;height:auto;font:11px system-ui,sans-serif}svg text{fill:currentColor}
.grid{stroke:var(--grid)}.mark{stroke:currentColor;stroke-dasharray:4 3}
.line{fill:none;stroke-width:2}
table{border-collapse:collapse;font-size:.9rem;display:block;overflow-x:auto}
td,th{text-align:left;padding:.2rem .7rem .2rem 0;border-bottom:1px solid var(--grid);vertical-align:top;
white-space:nowrap}td:last-child{white-space:normal}
.verdict{background:var(--card);border-left:4px solid #0077bb;padding:.6rem 1rem;font-size:1.1rem}
.none{opacity:.7}
)";

std::string shown(const json& row, const char* member, Unit unit = Unit::plain) {
  const json::json_pointer where("/" + std::string(member));
  const json value = row.is_object() && row.contains(where) ? row.at(where) : json();
  return value.is_null() ? kUnknown : to_text(value, unit);
}

std::string none(const std::string& why) {
  return "<p class=\"none\">" + escaped(why) + "</p>\n";
}

double number(const json& value) {
  return value.is_number() ? value.get<double>() : 0;
}

std::string tier_name(const json& tiers, std::size_t t) {
  const json latency = t < tiers.size() ? tiers[t].value("latency_ns", json()) : json();
  return "tier " + std::to_string(t + 1) +
         (latency.is_null() ? "" : " (" + latency.dump() + " ns)");
}

// ---- over time -----------------------------------------------------------------------------

struct Sum {
  std::vector<double> accesses;  ///< by tier
  double total = 0, seconds = 0;
};

double seconds_of(const json& moment) {
  return (number(moment.at("end_ns")) - number(moment.at("start_ns"))) / 1e9;
}

template <class From, class To>
Sum sum_of(From from, To to) {
  Sum sum;
  for (; from != to; ++from) {
    const json& tiers = from->at("tiers");
    sum.accesses.resize(std::max(sum.accesses.size(), tiers.size()));
    for (std::size_t t = 0; t < tiers.size(); ++t) {
      sum.accesses[t] += number(tiers[t].at("accesses"));
      sum.total += number(tiers[t].at("accesses"));
    }
    sum.seconds += seconds_of(*from);
  }
  return sum;
}

bool has_moved(const json& moment) {
  return number(moment.at("promoted_bytes")) + number(moment.at("demoted_bytes")) > 0;
}

bool has_plan(const json& moment) {
  return number(moment.at("planned_bytes")) > 0;
}

std::string share_text(const Sum& sum, std::size_t t) {
  return sum.total > 0 && t < sum.accesses.size() ? percent_text(sum.accesses[t] / sum.total)
                                                  : kUnknown;
}

std::string latency_text(const Sum& sum, const json& tiers) {
  double latency = 0;
  for (std::size_t t = 0; t < sum.accesses.size(); ++t) {
    if (t >= tiers.size() || !tiers[t].at("latency_ns").is_number()) return kUnknown;
    latency += sum.accesses[t] * number(tiers[t].at("latency_ns"));
  }
  return sum.total > 0 ? coordinate(std::round(latency / sum.total)) + " ns" : kUnknown;
}

/// Before: until moves were planned for the first time; from then on pages may have moved that are
/// not counted yet. Of intervals told as one it is not known which of them the plan ended. After:
/// the last tenth, when something has moved.
std::string before_and_after(const json& moments, const json& tiers) {
  const auto first = std::ranges::find_if(moments, has_moved);
  const auto last = moments.end() -
                    static_cast<std::ptrdiff_t>(std::min(moments.size() / 10 + 1, moments.size()));
  auto planned = std::ranges::find_if(moments, has_plan);
  if (planned != moments.end() && number(planned->at("intervals")) == 1) ++planned;
  const Sum before = sum_of(moments.begin(), std::min(planned, first));
  const Sum after = first == moments.end() ? Sum{} : sum_of(std::max(first, last), moments.end());
  Rows rows;
  for (std::size_t t = 0; t < tiers.size(); ++t)
    rows.push_back(
        {"served by " + tier_name(tiers, t), share_text(before, t), share_text(after, t)});
  rows.push_back({"mean latency of an access, estimated", latency_text(before, tiers),
                  latency_text(after, tiers)});
  rows.push_back({"over", coordinate(std::round(before.seconds)) + " s",
                  coordinate(std::round(after.seconds)) + " s"});
  return html_table({"", "before anything moved", "after: the last tenth of the time"}, rows) +
         (first == moments.end() ? none("Nothing has been moved, so there is no after.") : "");
}

std::string bytes_label(double bytes) {
  return to_text(bytes, Unit::bytes);
}

Axis time_axis(const json& moments) {
  const double all =
      (number(moments.back().at("end_ns")) - number(moments.front().at("start_ns"))) / 1e9;
  return {0, all, [all](double s) {
            return all >= 7200  ? coordinate(s / 3600) + " h"
                   : all >= 300 ? coordinate(s / 60) + " min"
                                : coordinate(s) + " s";
          }};
}

/// `draw(chart, moment, from, to)` for each, in seconds since the first began.
template <class Draw>
std::string over_time(const std::string& title, const json& moments, Axis y, Draw draw) {
  Chart chart(title, time_axis(moments), std::move(y));
  const double begin = number(moments.front().at("start_ns"));
  for (const json& moment : moments)
    draw(chart, moment, (number(moment.at("start_ns")) - begin) / 1e9,
         (number(moment.at("end_ns")) - begin) / 1e9);
  return chart.svg();
}

std::string shares_over_time(const json& moments, const json& tiers) {
  const Axis percent{0, 100, [](double value) { return coordinate(value) + " %"; }};
  return over_time(
      "Share of its accesses by tier over time, estimated", moments, percent,
      [&](Chart& chart, const json& moment, double from, double to) {
        const Sum sum = sum_of(&moment, &moment + 1);
        double below = 0;
        for (std::size_t t = 0; t < sum.accesses.size() && sum.total > 0; ++t) {
          const double share = 100 * sum.accesses[t] / sum.total;
          chart.bar({from, below}, {to, below + share}, colour(t), tier_name(tiers, t));
          below += share;
        }
      });
}

std::string moves_over_time(const json& moments) {
  double most = 0;
  for (const json& moment : moments)
    most = std::max(most, number(moment.at("promoted_bytes")) + number(moment.at("demoted_bytes")));
  if (most == 0) return none("Nothing has been moved.");
  return over_time(
      "Moved bytes, by interval", moments, {0, most, bytes_label, 4},
      [](Chart& chart, const json& moment, double from, double to) {
        const double up = number(moment.at("promoted_bytes"));
        chart.bar({from, 0}, {to, up}, colour(0), "promoted");
        chart.bar({from, up}, {to, up + number(moment.at("demoted_bytes"))}, colour(2), "demoted");
      });
}

std::string cost_over_time(const json& moments, const json& stats) {
  const double budget = number(stats.value("budget_percent", json()));
  double most = budget;
  const auto used = [](const json& moment) {
    return seconds_of(moment) > 0 ? number(moment.at("profile_ns")) / 1e7 / seconds_of(moment) : 0;
  };
  for (const json& moment : moments) most = std::max(most, used(moment));
  return over_time("Profiling, in percent of one CPU", moments,
                   {0, most, [](double value) { return coordinate(value) + " %"; }, 4},
                   [&](Chart& chart, const json& moment, double from, double to) {
                     chart.bar({from, 0}, {to, used(moment)}, colour(1), "used");
                     if (budget > 0)
                       chart.line({{from, budget}, {to, budget}}, colour(3), "budget");
                   });
}

// ---- the rest --------------------------------------------------------------------------------

std::string costs(const json& stats) {
  return html_table(
      {"cost", ""},
      {{"profiling", shown(stats, "profile_ns", Unit::ns) + " of CPU time, " +
                         shown(stats, "profiling_percent", Unit::percent)},
       {"copying pages", shown(stats, "copy_ns", Unit::ns)},
       {"pages unmapped to be moved", shown(stats, "commit_ns", Unit::ns)},
       {"longest of these", shown(stats, "commit_max_ns", Unit::ns)},
       {"memory of the module", shown(stats, "state_bytes", Unit::bytes)},
       {"promoted", shown(stats, "promoted_bytes", Unit::bytes)},
       {"demoted", shown(stats, "demoted_bytes", Unit::bytes)},
       {"moved back within 8 intervals", shown(stats, "returned_bytes", Unit::bytes)}});
}

std::string waits(const json& stats) {
  const json waits = stats.value("waits", json());
  if (waits.is_null()) return none("Waits for moving pages: not measured; hmkd's log says why.");
  if (waits.at("buckets").empty()) return none("No thread has waited for a moving page.");
  double most = 0, last = 0;
  for (const json& bucket : waits.at("buckets")) {
    most = std::max(most, number(bucket.at("count")));
    last = std::max(last, std::log2(number(bucket.at("below_us"))));
  }
  const int bars = static_cast<int>(last);
  Chart chart("Waits for moving pages: how many, by how long",
              {0, last,
               [](double power) {
                 return power == 0 ? std::string("0") : to_text(1000 * std::exp2(power), Unit::ns);
               },
               bars},
              {0, most, [](double count) { return coordinate(count); }, 4});
  for (const json& bucket : waits.at("buckets")) {
    const double power = std::log2(number(bucket.at("below_us")));
    chart.bar({power - 1 + 0.06, 0}, {power - 0.06, number(bucket.at("count"))}, colour(0), "");
  }
  return chart.svg() + none("Waits: " + shown(waits, "count") + ", together " +
                            shown(waits, "total_ns", Unit::ns) + ", the longest " +
                            shown(waits, "longest_ns", Unit::ns) + ".");
}

std::string size_curve(const json& outlook) {
  const json& curve = outlook.at("curve");
  if (curve.size() < 2 || number(curve.back().at("share_percent")) == 0)
    return none("Size curve: not measured, for it accessed nothing in its last interval.");
  Chart chart("Size curve: share of the accesses that its hottest memory serves, estimated",
              {0, number(curve.back().at("bytes")), bytes_label},
              {0, 100, [](double value) { return coordinate(value) + " %"; }});
  std::vector<Chart::Point> points;
  for (const json& corner : curve)
    points.push_back({number(corner.at("bytes")), number(corner.at("share_percent"))});
  double room = 0;
  for (const json& tier : outlook.at("tiers")) {
    room += number(tier.at("room_bytes"));
    if (room >= number(curve.back().at("bytes"))) break;
    chart.mark(room,
               "room in tier 1" + (tier.at("tier") == 1 ? "" : " to " + tier.at("tier").dump()));
  }
  chart.line(points, colour(0), "");
  return chart.svg();
}

std::string decisions(const json& history) {
  const json& all = history.at("decisions");
  if (all.empty()) return none("Nothing has been decided about its memory.");
  Rows rows;
  for (auto at = all.rbegin(); at != all.rend() && rows.size() < kDecisions; ++at)
    rows.push_back({shown(*at, "seq"), shown(*at, "action"),
                    shown(*at, "from_tier") + " → " + shown(*at, "to_tier"),
                    shown(*at, "start", Unit::address), shown(*at, "length", Unit::bytes),
                    shown(*at, "outcome"), shown(*at, "moved_bytes", Unit::bytes),
                    shown(*at, "reason")});
  return none("The last " + std::to_string(rows.size()) + " of " + shown(history, "nr_decisions") +
              " decisions that hmkd keeps.") +
         html_table(
             {"interval", "decision", "tier", "start", "length", "outcome", "moved", "because"},
             rows);
}

std::string refusals(const json& stats) {
  Rows rows;
  const json refused = stats.value("refused_bytes", json::object());
  for (const auto& [reason, bytes] : refused.items())
    if (number(bytes) > 0) rows.push_back({"refused: " + reason, to_text(bytes, Unit::bytes)});
  const std::vector<std::pair<const char*, const char*>> kStayed{
      {"no_gain_bytes", "hot, but a move would not pay"},
      {"no_room_bytes", "hot, but nothing could make room"},
      {"thrash_bytes", "paused: it moved to and fro"},
      {"backed_off_bytes", "paused: it was refused before"}};
  for (const auto& [member, words] : kStayed) {
    double sum = 0;
    for (const json& tier : stats.value("stayed", json::array())) sum += number(tier.at(member));
    if (sum > 0) rows.push_back({words, to_text(sum, Unit::bytes) + " summed over the intervals"});
  }
  return rows.empty() ? none("Nothing hot was left in place.")
                      : html_table({"left in place", ""}, rows);
}

std::string process(const json& one) {
  const json &status = one.at("status"), &stats = one.at("stats"), &history = one.at("history");
  const json& tiers = status.at("tiers");
  const json& moments = history.at("moments");
  const auto title = status.at("comm").get<std::string>() + ", PID " + status.at("pid").dump();
  std::string html = element("h2", title) + "<p>Mode " + escaped(shown(status, "mode")) +
                     ", managed by the rule " + escaped(shown(status, "rule")) + ", measured by " +
                     escaped(shown(status, "backend")) + ".</p>\n";
  if (moments.empty() || one.at("outlook").is_null())
    return html + none("Its first interval has not ended: nothing is measured yet.");
  const std::string verdict = one.at("outlook").at("text").get<std::string>();
  html += "<p class=\"verdict\">As its memory lies now, " + escaped(verdict) + "</p>\n";
  html += element("h3", "Before and after") + before_and_after(moments, tiers) +
          shares_over_time(moments, tiers) + moves_over_time(moments) + refusals(stats);
  html += element("h3", "How much fast memory it needs") + size_curve(one.at("outlook"));
  html += element("h3", "Where its memory lies") + (one.at("heat").is_null()
                                                        ? none("Heat map: not measured.")
                                                        : one.at("heat").get<std::string>());
  html +=
      element("h3", "What it costs") + cost_over_time(moments, stats) + costs(stats) + waits(stats);
  return html + element("h3", "Decisions") + decisions(history);
}

std::string findings(const json& checks) {
  Rows rows;
  for (const json& check : checks)
    if (check.at("state") != "ok")
      rows.push_back({shown(check, "state"), shown(check, "check"), shown(check, "found"),
                      shown(check, "remedy")});
  return rows.empty() ? none("hmkctl doctor has found nothing to act on.")
                      : html_table({"state", "check", "found", "remedy"}, rows);
}

}  // namespace

std::string report_page(const json& report) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">"
      "<title>HM-Keeper report</title><style>" +
      std::string(kStyle) + "</style></head><body>\n" + element("h1", "HM-Keeper report") + "<p>" +
      escaped("Made " + shown(report, "made") + " by hmkctl " + shown(report, "version") +
              "; hmkd " + shown(report, "daemon/version") + " in mode " +
              shown(report, "daemon/mode") + ", interval " +
              shown(report, "daemon/interval_ns", Unit::ns) + ".") +
      " Shares of accesses are estimated from samples of accessed bits; they do not count cache "
      "misses.</p>\n";
  for (const json& one : report.at("processes")) html += process(one);
  if (report.at("processes").empty()) html += none("hmkd manages no process.");
  if (const auto left = report.value("left_out", 0); left > 0)
    html += none(std::to_string(left) +
                 " more processes are managed and not shown: name one by its PID.");
  return html + element("h2", "The machine") + findings(report.at("checks")) + "</body></html>\n";
}

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
#include "report_page.hpp"

#include <gtest/gtest.h>

#include "heat_picture.hpp"

namespace hmkctl {
namespace {

using nlohmann::json;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t nr = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++nr;
  return nr;
}

/// Until `moved` moments from the end tier 2 serves all, then tier 1 does.
json moments(std::size_t nr, std::size_t moved) {
  json all = json::array();
  for (std::size_t i = 0; i < nr; ++i) {
    const bool is_after = i + moved >= nr;
    all.push_back({{"start_ns", 1'000'000'000 * i},
                   {"end_ns", 1'000'000'000 * (i + 1)},
                   {"intervals", 1},
                   {"managed", is_after},
                   {"profile_ns", 30'000'000 + i},
                   {"promoted_bytes", is_after ? 4096 * (i + 1) : 0},
                   {"demoted_bytes", 0},
                   {"planned_bytes", i + moved + 1 >= nr ? 4096 : 0},
                   {"tiers",
                    {{{"accesses", is_after ? 90.0 : 10.0}, {"resident_bytes", 1}},
                     {{"accesses", is_after ? 10.0 : 90.0}, {"resident_bytes", 1}}}}});
  }
  return all;
}

/// Every cell differs from its neighbours, and every row has a mapping of its own.
json heat(std::size_t rows, std::size_t columns) {
  std::vector<hmk::RecordedFrame> frames;
  hmk::RecordedContext context{{{{{0}, 100}, {{1}, 200}}}, {}};
  for (std::uint64_t r = 0; r < rows; ++r)
    context.mappings.push_back({4096 * r, 4096 * (r + 1), r % 2 != 0 ? "[heap]" : "a<b"});
  for (std::uint64_t c = 0; c < columns; ++c) {
    frames.push_back({c + 1, c, c + 1, 10, {}});
    for (std::uint64_t r = 0; r < rows; ++r)
      frames.back().regions.push_back({4096 * r, 4096, 0, 256,
                                       static_cast<std::int32_t>((r + c) % 2), 1,
                                       static_cast<std::int32_t>((r + c) % 10 * 16)});
  }
  HeatMap map({{0, 4096 * rows}}, rows, columns, columns);
  for (const auto& frame : frames) map.add(frame);
  return heat_figure(HeatScene(map, "Heat map", context));
}

/// All that a page shows of `stats`.
json stats() {
  json all{{"budget_percent", 5.0},
           {"profiling_percent", 3.0},
           {"waits",
            {{"count", 1},
             {"total_ns", 9},
             {"longest_ns", 9},
             {"buckets", {{{"below_us", 8}, {"count", 1}}}}}}};
  for (const char* member : {"profile_ns", "copy_ns", "commit_ns", "commit_max_ns", "state_bytes",
                             "promoted_bytes", "demoted_bytes", "returned_bytes"})
    all[member] = 1;
  return all;
}

json process(const std::string& comm = "redis-server") {
  const json tiers{{{"latency_ns", 100}}, {{"latency_ns", 200}}};
  return {
      {"status",
       {{"pid", 4711},
        {"comm", comm},
        {"rule", "4711"},
        {"backend", "module"},
        {"mode", "manage"},
        {"tiers", tiers}}},
      {"stats", stats()},
      {"history",
       {{"moments", moments(100, 50)},
        {"nr_decisions", 1},
        {"decisions",
         {{{"seq", 7},
           {"action", "promote"},
           {"from_tier", 2},
           {"to_tier", 1},
           {"start", 4096},
           {"length", 4096},
           {"outcome", "moved"},
           {"moved_bytes", 4096},
           {"reason", "hotter than what the faster tier holds"}}}}}},
      {"outlook",
       {{"text", "nothing to gain."},
        {"tiers", {{{"tier", 1}, {"room_bytes", 1000}}, {{"tier", 2}, {"room_bytes", 9000}}}},
        {"curve",
         {{{"bytes", 0}, {"share_percent", 0.0}}, {{"bytes", 4000}, {"share_percent", 100.0}}}}}},
      {"heat", heat(4, 4)}};
}

json report(const json& processes) {
  return {{"version", "0.1.0"},
          {"made", "today"},
          {"daemon", {{"version", "0.1.0"}, {"mode", "manage"}, {"interval_ns", 1'000'000'000}}},
          {"left_out", 0},
          {"checks", json::array()},
          {"processes", processes}};
}

std::string cells_of(const std::string& page, const std::string& first) {
  const std::size_t at = page.find("<td>" + first);
  return page.substr(at, page.find("</tr>", at) - at);
}

TEST(ReportPage, ComparesTheTimeBeforeAnythingMovedWithTheEnd) {
  const std::string page = report_page(report(json::array({process()})));
  EXPECT_EQ(cells_of(page, "served by tier 1"),
            "<td>served by tier 1 (100 ns)</td><td>10 %</td><td>90 %</td>");
  EXPECT_EQ(cells_of(page, "served by tier 2"),
            "<td>served by tier 2 (200 ns)</td><td>90 %</td><td>10 %</td>");
  EXPECT_NE(page.find("<td>190 ns</td><td>110 ns</td>"), page.npos);
  EXPECT_NE(page.find("<td>50 s</td><td>11 s</td>"), page.npos) << "the last tenth and one";
}

TEST(ReportPage, WhatMovedBeforeItWasCountedIsNotBefore) {
  json moves = process();
  json& moments = moves["history"]["moments"];
  moments[48]["planned_bytes"] = 4096;
  moments[49]["tiers"] = moments[50]["tiers"];  // moved, and counted with the next
  const std::string page = report_page(report(json::array({moves})));
  EXPECT_EQ(cells_of(page, "served by tier 1"),
            "<td>served by tier 1 (100 ns)</td><td>10 %</td><td>90 %</td>");
  EXPECT_NE(page.find("<td>49 s</td><td>11 s</td>"), page.npos);
  moments[48]["intervals"] = 2;
  EXPECT_NE(report_page(report(json::array({moves}))).find("<td>48 s</td><td>11 s</td>"), page.npos)
      << "of two told as one, one may be after the plan";
}

TEST(ReportPage, EveryPictureIsLabelledAndEveryPartIsThere) {
  const std::string page = report_page(report(json::array({process()})));
  EXPECT_EQ(count(page, "<svg"), 6u);
  EXPECT_EQ(count(page, "role=\"img\" aria-label=\""), 6u);
  EXPECT_EQ(count(page, "<figcaption>"), 6u);
  for (const char* part :
       {"Share of its accesses", "Moved bytes", "Size curve", "Heat map", "Profiling", "Waits",
        "[heap]", "hotter than what the faster tier holds", "The machine"})
    EXPECT_NE(page.find(part), page.npos) << part;
  EXPECT_EQ(page.find("not measured"), page.npos);
}

TEST(ReportPage, WhatIsNotKnownIsNotMeasured) {
  json unknown = process();
  unknown["stats"]["waits"] = json();
  unknown["heat"] = json();
  unknown["outlook"]["curve"] = json::array();
  unknown["status"]["tiers"][0]["latency_ns"] = json();
  const std::string page = report_page(report(json::array({unknown})));
  for (const char* part : {"Waits for moving pages: not measured", "Heat map: not measured",
                           "Size curve: not measured"})
    EXPECT_NE(page.find(part), page.npos) << part;
  EXPECT_NE(page.find("<td>mean latency of an access, estimated</td><td>not measured</td>"),
            page.npos);
}

TEST(ReportPage, ManagedFromTheBeginningHasNoBefore) {
  json managed = process();
  managed["history"]["moments"] = moments(10, 10);
  EXPECT_NE(report_page(report(json::array({managed})))
                .find("(100 ns)</td><td>not measured</td><td>90 %</td>"),
            std::string::npos);
  managed["history"]["moments"] = moments(10, 0);
  EXPECT_NE(report_page(report(json::array({managed}))).find("there is no after"),
            std::string::npos);
}

TEST(ReportPage, BeforeTheFirstIntervalItSaysSo) {
  json young = process();
  young["history"]["moments"] = json::array();
  young["outlook"] = json();
  const std::string page = report_page(report(json::array({young})));
  EXPECT_NE(page.find("Its first interval has not ended"), page.npos);
  EXPECT_EQ(count(page, "<svg"), 0u);
}

TEST(ReportPage, NamesCannotBecomeMarkup) {
  const std::string page = report_page(report(json::array({process("<script>\"&\n")})));
  EXPECT_EQ(page.find("<script"), page.npos);
  EXPECT_EQ(page.find("a<b"), page.npos);
  EXPECT_NE(page.find("&lt;script>&quot;&amp;\\x0a, PID 4711"), page.npos);
}

TEST(ReportPage, NeedsNoNetworkAndStaysBelowTwoMegabytes) {
  json large = process();
  large["history"]["moments"] = moments(512, 400);
  large["heat"] = heat(64, 64);
  for (int i = 0; i < 200; ++i)
    large["history"]["decisions"].push_back(large["history"]["decisions"][0]);
  const std::string page =
      report_page(report(json::array({large, large, large, large, large, large, large, large})));
  EXPECT_EQ(page.find("http"), page.npos);
  EXPECT_EQ(page.find("url("), page.npos);
  EXPECT_EQ(page.find("<script"), page.npos);
  EXPECT_LT(page.size(), 2'000'000u);
}

}  // namespace
}  // namespace hmkctl

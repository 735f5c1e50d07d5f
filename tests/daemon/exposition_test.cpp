// SPDX-License-Identifier: MIT
//
// The exposition read back by a strict reader of our own: what it takes is OpenMetrics.
#include "metrics/exposition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "bpf/waits.h"
#include "metrics/groups.hpp"

namespace hmk {
namespace {

using nlohmann::json;

/// Samples by their text before the value. Fails the test on any line that the
/// specification forbids: unknown or repeated family, a sample outside its family's
/// block, a counter without _total, a label value with a bare quote, no # EOF.
std::map<std::string, double> parse(const std::string& text) {
  static const std::regex kType(R"(# TYPE ([a-z_:][a-z0-9_:]*) (counter|gauge|histogram))");
  static const std::regex kHelp(R"(# HELP ([a-z_:][a-z0-9_:]*) [^\\\n]+)");
  static const std::regex kSample(
      R"re(([a-z_:][a-z0-9_:]*)(\{[a-z_]+="(?:[^"\\]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\]|\\["\\n])*")*\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?))re");
  std::map<std::string, double> samples;
  std::set<std::string> families;
  std::string family, type;
  bool has_ended = false;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(has_ended) << line;
    if (line == "# EOF") {
      has_ended = true;
    } else if (std::regex_match(line, match, kType)) {
      family = match[1], type = match[2];
      EXPECT_TRUE(families.insert(family).second) << line;
    } else if (std::regex_match(line, match, kHelp)) {
      EXPECT_EQ(match[1], family) << line;
    } else if (std::regex_match(line, match, kSample)) {
      const std::string suffix =
          match[1].str().substr(std::min(family.size(), match[1].str().size()));
      EXPECT_TRUE(match[1].str().starts_with(family)) << line;
      if (type == "histogram")
        EXPECT_TRUE(suffix == "_bucket" || suffix == "_count" || suffix == "_sum") << line;
      else
        EXPECT_EQ(suffix, type == "counter" ? "_total" : "") << line;
      EXPECT_TRUE(samples.emplace(match[1].str() + match[2].str(), std::stod(match[3])).second)
          << line;
    } else {
      ADD_FAILURE() << "not OpenMetrics: " << line;
    }
  }
  EXPECT_TRUE(has_ended && text.ends_with("\n"));
  return samples;
}

const json kVersion{{"version", {{"hmkd", "0.1.0"}, {"abi_version", 7}}}};

TEST(Exposition, WithoutProcessesIsWellFormed) {
  const auto samples = parse(
      to_open_metrics({.status = {{"daemon", {{"mode", "manage"}}}, {"targets", json::array()}},
                       .stats = json::object(),
                       .version = kVersion}));
  EXPECT_EQ(samples, (std::map<std::string, double>{
                         {"hmk_targets", 0},
                         {"process_cpu_seconds_total", 0},
                         {R"(hmk_mode_info{mode="manage"})", 1},
                         {R"(hmk_build_info{version="0.1.0",abi_version="7"})", 1}}));
}

TEST(Exposition, TellsTheReportsInBaseUnits) {
  const json stats{{"targets",
                    {{{"pid", 7},
                      {"comm", "redis"},
                      {"rule", "comm=redis"},
                      {"class", "unit=redis.service"},
                      {"promoted_bytes", 4096},
                      {"profile_ns", 1'500'000'000},
                      {"budget_percent", 5.0},
                      {"gain", {{"saved_ns", -2'000'000'000}, {"spent_ns", 500'000'000}}},
                      {"refused_bytes", {{"pinned", 8192}, {"busy", 0}}},
                      {"huge_joined", 3},
                      {"huge_not_joined", {{"busy", 2}}},
                      {"waits",
                       {{"count", 6},
                        {"total_ns", 2'000'000},
                        {"longest_ns", 1'000'000},
                        {"write_faults", 3},
                        {"buckets",
                         {{{"below_us", 2}, {"count", 1}},
                          {{"below_us", 8}, {"count", 4}},
                          {{"below_us", 2ull << (HMK_WAIT_BUCKETS - 1)}, {"count", 1}}}}}},
                      {"pairs", {{{"from_tier", nullptr}, {"to_tier", 1}, {"moved_bytes", 1}}}}}}}};
  const json status{
      {"daemon", {{"cache_dropped_bytes", 12288}, {"promotions_paused", true}}},
      {"targets",
       {{{"pid", 7},
         {"comm", "redis"},
         {"rule", "comm=redis"},
         {"class", "unit=redis.service"},
         {"backend", "module"},
         {"mode", "manage"},
         {"tiers",
          {{{"tier", 1},
            {"nodes", {0, 2}},
            {"resident_bytes", 10},
            {"accesses_per_s", 100},
            {"total_bytes", 1 << 30},
            {"latency_ns", 250}},
           {{"tier", 2}, {"nodes", {1}}, {"accesses_per_s", 300}, {"latency_ns", nullptr}}}}}}}};
  const auto samples = parse(to_open_metrics(
      {.status = status, .stats = stats, .version = kVersion, .cpu_ns = 2'500'000'000}));
  EXPECT_EQ(samples.at("process_cpu_seconds_total"), 2.5);
  const std::string who = R"({class="unit=redis.service",rule="comm=redis")";
  EXPECT_EQ(samples.at("hmk_processes" + who + R"(,backend="module",mode="manage"})"), 1);
  EXPECT_EQ(samples.at("hmk_cache_dropped_bytes_total"), 12288);
  EXPECT_EQ(samples.at("hmk_promotions_paused"), 1);
  EXPECT_EQ(samples.at("hmk_promoted_bytes_total" + who + "}"), 4096);
  EXPECT_EQ(samples.at("hmk_profile_seconds_total" + who + "}"), 1.5);
  EXPECT_EQ(samples.at("hmk_overhead_budget_ratio" + who + "}"), 0.05);
  EXPECT_EQ(samples.at("hmk_saved_seconds" + who + "}"), -2) << "a gauge: it may fall";
  EXPECT_EQ(samples.at("hmk_spent_seconds_total" + who + "}"), 0.5);
  EXPECT_FALSE(samples.contains("hmk_promised_seconds" + who + "}")) << "latencies unknown";
  EXPECT_EQ(samples.at("hmk_wait_seconds_bucket" + who + R"(,le="2e-06"})"), 1);
  EXPECT_EQ(samples.at("hmk_wait_seconds_bucket" + who + R"(,le="4e-06"})"), 1);
  EXPECT_EQ(samples.at("hmk_wait_seconds_bucket" + who + R"(,le="8e-06"})"), 5);
  EXPECT_EQ(samples.at("hmk_wait_seconds_bucket" + who + R"(,le="8.38861"})"), 5);
  EXPECT_EQ(samples.at("hmk_wait_seconds_bucket" + who + R"(,le="+Inf"})"), 6);
  EXPECT_EQ(samples.at("hmk_wait_seconds_count" + who + "}"), 6);
  EXPECT_EQ(samples.at("hmk_wait_seconds_sum" + who + "}"), 0.002);
  EXPECT_EQ(samples.at("hmk_wait_longest_seconds" + who + "}"), 0.001);
  EXPECT_EQ(samples.at("hmk_write_faults_total" + who + "}"), 3);
  EXPECT_EQ(samples.at("hmk_refused_bytes_total" + who + R"(,reason="pinned"})"), 8192);
  EXPECT_EQ(samples.at("hmk_huge_pages_joined_total" + who + "}"), 3);
  EXPECT_EQ(samples.at("hmk_huge_pages_not_joined_total" + who + R"(,reason="busy"})"), 2);
  EXPECT_EQ(samples.at("hmk_moved_bytes_total" + who + R"(,from_tier="",to_tier="1"})"), 1);
  EXPECT_EQ(samples.at("hmk_resident_bytes" + who + R"(,tier="1",nodes="0,2"})"), 10);
  EXPECT_EQ(samples.at("hmk_tier_bytes" + who + R"(,tier="1",nodes="0,2"})"), 1 << 30);
  EXPECT_EQ(samples.at("hmk_tier_latency_seconds" + who + R"(,tier="1",nodes="0,2"})"), 250e-9);
  EXPECT_FALSE(samples.contains("hmk_tier_latency_seconds" + who + R"(,tier="2",nodes="1"})"));
  EXPECT_EQ(samples.at("hmk_hot_share_ratio" + who + R"(,tier="1",nodes="0,2"})"), 0.25);
  EXPECT_FALSE(samples.contains("hmk_state_bytes" + who + "}")) << "not known is no zero";
}

TEST(Exposition, ANameOfAnyBytesStaysALabel) {
  const json stats{{"targets", {{{"pid", 7}, {"comm", "a\"b\\c\nd\xff"}, {"intervals", 1}}}}};
  const auto samples = parse(to_open_metrics({.status = {{"targets", json::array()}},
                                              .stats = stats,
                                              .version = kVersion,
                                              .by_pid = true}));
  EXPECT_EQ(samples.at(R"(hmk_intervals_total{pid="7",comm="a\"b\\c\\x0ad\\xff"})"), 1);
}

json process(int pid, const char* rule, std::uint64_t promoted, std::uint64_t longest_ns) {
  return {
      {"pid", pid},
      {"comm", "x"},
      {"rule", rule},
      {"class", nullptr},
      {"promoted_bytes", promoted},
      {"state_bytes", 100},
      {"waits",
       {{"longest_ns", longest_ns}, {"count", 1}, {"total_ns", 1}, {"buckets", json::array()}}}};
}

TEST(Exposition, ProcessesOfOneRuleAreOneSeriesAndThoseNamedByPidAnother) {
  const json stats{{"targets",
                    {process(7, "comm=x", 1, 2'000'000'000), process(8, "comm=x", 2, 1'000'000'000),
                     process(9, "9", 4, 0), process(10, "10", 8, 0)}}};
  const auto samples = parse(to_open_metrics(
      {.status = {{"targets", json::array()}}, .stats = stats, .version = kVersion}));
  EXPECT_EQ(samples.at(R"(hmk_promoted_bytes_total{rule="comm=x"})"), 3);
  EXPECT_EQ(samples.at(R"(hmk_promoted_bytes_total{rule="pid"})"), 12);
  EXPECT_EQ(samples.at(R"(hmk_state_bytes{rule="comm=x"})"), 200);
  EXPECT_EQ(samples.at(R"(hmk_wait_longest_seconds{rule="comm=x"})"), 2) << "the longest of both";
}

TEST(Exposition, NoCounterFallsWhenAProcessEndsAndItsGaugesGo) {
  EndedProcesses ended;
  ended.add(process(7, "comm=x", 5, 0));
  ended.add(process(8, "comm=y", 1, 0));
  const Exposed exposed{.status = {{"targets", json::array()}},
                        .stats = {{"targets", {process(9, "comm=x", 2, 0)}}},
                        .version = kVersion,
                        .ended = ended.rows()};
  const auto samples = parse(to_open_metrics(exposed));
  EXPECT_EQ(samples.at(R"(hmk_promoted_bytes_total{rule="comm=x"})"), 7);
  EXPECT_EQ(samples.at(R"(hmk_promoted_bytes_total{rule="comm=y"})"), 1);
  EXPECT_EQ(samples.at(R"(hmk_wait_seconds_count{rule="comm=x"})"), 2);
  EXPECT_EQ(samples.at(R"(hmk_state_bytes{rule="comm=x"})"), 100);
  EXPECT_FALSE(samples.contains(R"(hmk_state_bytes{rule="comm=y"})"));
  Exposed each = exposed;
  each.by_pid = true;
  const auto by_pid = parse(to_open_metrics(each));
  EXPECT_EQ(by_pid.at(R"(hmk_promoted_bytes_total{rule="comm=x",pid="9",comm="x"})"), 2);
  EXPECT_FALSE(by_pid.contains(R"(hmk_promoted_bytes_total{rule="comm=y"})"))
      << "its series has ended";
}

}  // namespace
}  // namespace hmk

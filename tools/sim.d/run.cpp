// SPDX-License-Identifier: MIT
#include "run.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <stdexcept>

#include "served.hpp"

namespace hmk::sim {

namespace {

using nlohmann::ordered_json;

double rounded(double value) {
  return std::round(value * 1e5) / 1e5;
}

ordered_json ranking(const std::vector<Estimate>& list) {
  ordered_json told = ordered_json::array();
  for (const Estimate& r : list) told.push_back({r.start, r.end, r.rate_q8 / 256.0});
  return told;
}

ordered_json run_one(const RunOptions& o, const std::string& name) {
  const std::unique_ptr<Profiler> profiler = make_profiler(name, o.means);
  const std::uint32_t intervals = o.intervals ? o.intervals : o.scenario.intervals;
  ordered_json recall = ordered_json::array(), precision = recall, each = recall, tau = recall,
               serves = recall;
  double most_percent = 0, most_state = 0;
  Outcome last;
  for (std::uint32_t i = 0; i < intervals; i++) {
    const World& world = o.scenario.at(i);
    Outcome out = profiler->step(world, i);
    const Score s = score(world, out.hot);
    const double percent = 100 * out.profiling_ns / (o.means.interval_s * 1e9);
    const double state =
        100 * static_cast<double>(out.state_bytes) / static_cast<double>(world.bytes());
    most_percent = std::max(most_percent, percent);
    most_state = std::max(most_state, state);
    recall.push_back(rounded(s.recall));
    precision.push_back(rounded(s.precision));
    if (o.scenario.ordered && !out.rates.empty())
      tau.push_back(rounded(rank_correlation(world, out.rates)));
    if (o.scenario.fast_share > 0 && !out.rates.empty())
      serves.push_back(rounded(served(world, out.rates, o.scenario.fast_share)));
    ordered_json row = {{"regions", out.regions},
                        {"samples", out.samples},
                        {"profiling_percent", rounded(percent)}};
    if (name == "hm-keeper")
      row.update({{"num_ps", out.num_ps},
                  {"quota_sum", out.quota_sum},
                  {"quota_room", out.quota_room},
                  {"tau1", rounded(out.tau1)},
                  {"degraded", out.degraded},
                  {"flushes", out.flushes},
                  {"dense", out.dense},
                  {"dense_bytes", out.dense_bytes},
                  {"state_bytes", out.state_bytes},
                  {"splits", out.splits},
                  {"merges", out.merges}});
    each.push_back(std::move(row));
    last = std::move(out);
  }
  ordered_json result = {{"profiler", name},
                         {"scenario", o.scenario.name},
                         {"layout", to_string(o.layout)},
                         {"seed", o.means.seed},
                         {"budget_percent", o.means.budget_percent},
                         {"scan_cost_ns", o.means.scan_cost_ns},
                         {"recall", recall},
                         {"precision", precision},
                         {"regions", last.regions},
                         {"samples", last.samples},
                         {"profiling_percent", rounded(most_percent)},
                         {"bytes_per_region", profiler->bytes_per_region()},
                         {"state_percent", rounded(most_state)},
                         {"intervals", each}};
  if (o.has_ranking && name == "hm-keeper") result["ranking"] = ranking(last.rates);
  if (!tau.empty()) result["tau"] = tau;
  if (!serves.empty()) {
    result["served"] = serves;
    result["served_best"] =
        rounded(most_served(o.scenario.at(intervals - 1), o.scenario.fast_share));
  }
  return result;
}

}  // namespace

const std::vector<std::string>& profiler_names() {
  static const std::vector<std::string> names = {"hm-keeper", "damon", "random-window",
                                                 "thermostat"};
  return names;
}

std::unique_ptr<Profiler> make_profiler(std::string_view name, const Means& means) {
  if (name == "hm-keeper") return make_hm_keeper(means);
  if (name == "damon") return make_damon(means);
  if (name == "random-window") return make_random_window(means);
  if (name == "thermostat") return make_thermostat(means);
  throw std::invalid_argument("unknown profiler '" + std::string(name) + "'");
}

Score score(const World& world, const std::vector<Range>& reported) {
  Bytes found = 0, all = 0;
  for (const Range& r : reported) {
    found += world.hot.bytes_in(r.start, r.end);
    all += r.end - r.start;
  }
  const Bytes truth = world.hot.bytes();
  return {.recall = truth ? static_cast<double>(found) / static_cast<double>(truth) : 1,
          .precision = all ? static_cast<double>(found) / static_cast<double>(all) : 0};
}

double rank_correlation(const World& world, const std::vector<Estimate>& published) {
  constexpr Bytes kRanked = HMK_CORE_BASE_REGION;  // at a time
  std::vector<std::pair<int, double>> pieces;  // published, true
  auto next = published.begin();
  for (const Zone& zone : world.zones) {
    for (std::uint64_t at = zone.start; at < zone.end; at += kRanked) {
      while (next != published.end() && next->end <= at) ++next;
      const bool is_there = next != published.end() && next->start <= at;
      pieces.emplace_back(is_there ? next->rate_q8 : INT_MIN, zone.rate);
    }
  }
  std::vector<double> levels;
  for (const Zone& zone : world.zones) levels.push_back(zone.rate);
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  std::ranges::sort(pieces);
  // Goes up the published order, those published alike at once; `below`: of each true level,
  // how many pieces were published to be colder.
  std::vector<double> below(levels.size()), here(levels.size());
  double agree = 0, disagree = 0, tied_published = 0, tied_true = 0;
  for (std::size_t i = 0, end = 0; i < pieces.size(); i = end) {
    std::ranges::fill(here, 0);
    for (end = i; end < pieces.size() && pieces[end].first == pieces[i].first; end++)
      here[static_cast<std::size_t>(std::ranges::lower_bound(levels, pieces[end].second) -
                                    levels.begin())]++;
    double colder = 0, hotter = 0;
    for (const double n : below) hotter += n;
    for (std::size_t level = 0; level < levels.size(); level++) {
      hotter -= below[level];
      agree += here[level] * colder;
      disagree += here[level] * hotter;
      colder += below[level];
    }
    const auto n = static_cast<double>(end - i);
    tied_published += n * (n - 1) / 2;
    for (std::size_t level = 0; level < levels.size(); level++) below[level] += here[level];
  }
  for (const double n : below) tied_true += n * (n - 1) / 2;
  const auto n = static_cast<double>(pieces.size());
  const double pairs = n * (n - 1) / 2;
  const double scale = std::sqrt((pairs - tied_published) * (pairs - tied_true));
  return scale > 0 ? (agree - disagree) / scale : 0;
}

ordered_json run(const RunOptions& options, std::span<const std::string> profilers) {
  ordered_json list = ordered_json::array();
  for (const std::string& name : profilers) list.push_back(run_one(options, name));
  return list;
}

}  // namespace hmk::sim

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <stdexcept>

#include "as_recorded.hpp"
#include "demand.hpp"
#include "plan.hpp"
#include "recorded_heat.hpp"
#include "status_line.hpp"
#include "util/printable.hpp"

namespace hmkctl {
namespace {

using hmk::policy::Schedule;
using nlohmann::json;

/// By the number of a tier, from 1.
template <class Value>
using ByTier = std::map<std::size_t, Value>;

struct BoundOptions {
  std::string file;
  ByTier<std::uint64_t> bytes = {};
  ByTier<hmk::Nanoseconds> latency = {};
  double page_ns = 0;  ///< 0: as recorded
};

struct Tier {
  double latency_ns = 0;
  double bytes = 0;  ///< kNoLimit: as much as is wanted
};

/// What is not given is as recorded: latencies, and the most that the process had of a tier. The
/// last one is as large as needed.
hmk::Result<std::vector<Tier>> tiers_of(const BoundOptions& options, const Frames& frames,
                                        const AsRecorded& lay) {
  const auto& recorded = frames.context->machine.tiers;
  for (const std::size_t tier : {options.bytes.empty() ? 0 : options.bytes.rbegin()->first,
                                 options.latency.empty() ? 0 : options.latency.rbegin()->first})
    if (tier > recorded.size())
      return hmk::Error{"there is no tier " + std::to_string(tier),
                        "the recording tells of " + std::to_string(recorded.size())};
  std::vector<Tier> tiers;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto latency = options.latency.find(i + 1);
    const auto bytes = options.bytes.find(i + 1);
    Tier tier{static_cast<double>(recorded[i].latency_ns), kNoLimit};
    if (i + 1 < recorded.size()) tier.bytes = lay.peak()[i];
    if (latency != options.latency.end())
      tier.latency_ns = static_cast<double>(latency->second.count());
    if (bytes != options.bytes.end()) tier.bytes = static_cast<double>(bytes->second);
    if (tier.latency_ns == 0)
      return hmk::Error{
          options.file + ": does not tell the latency of tier " + std::to_string(i + 1),
          "give it, for example --latency " + std::to_string(i + 1) + "=230ns"};
    tiers.push_back(tier);
  }
  if (tiers.size() >= 2) return tiers;
  return hmk::Error{options.file + ": tells of no two tiers", "record on a machine that has them"};
}

/// Of the accesses whose tier is known, without what its moves took; null without any, and where it
/// had more of a tier than there is to be.
json as_recorded(const AsRecorded& lay, const std::vector<Tier>& tiers, bool tells_moves) {
  const double all = std::accumulate(lay.accesses().begin(), lay.accesses().end(), 0.0);
  for (std::size_t i = 0; i < tiers.size(); ++i)
    if (all == 0 || lay.peak()[i] > tiers[i].bytes) return nullptr;
  double time_ns = 0;
  for (std::size_t i = 0; i < tiers.size(); ++i) time_ns += lay.accesses()[i] * tiers[i].latency_ns;
  return {{"latency_ns", time_ns / all},
          {"tier1_percent", 100 * lay.accesses()[0] / all},
          {"moved_bytes", tells_moves ? json(4096 * lay.moved_pages()) : json()}};
}

json to_json(const Outcome& outcome) {
  return {{"latency_ns", outcome.latency_ns},
          {"tier1_percent", 100 * outcome.shares[0]},
          {"moved_bytes", std::llround(outcome.moved_bytes)}};
}

Schedule best_of(const hmk::policy::Forecast& forecast) {
  StatusLine line;
  return hmk::policy::schedule(forecast, {.on_progress = [&](double part) {
                                 line.show("looking for the best placement: %.0f %%", 100 * part);
                               }});
}

/// What an access could take less on average with a GiB more of tier 1 all the time, at most.
double worth_of_a_gib(const Schedule& best, const hmk::policy::Forecast& forecast,
                      const Demand& demand, double fastest_ns) {
  double worth = 0;  // of a byte
  for (std::uint32_t w = 0; w < forecast.windows; ++w) worth += best.worth_ns[forecast.cell(w, 0)];
  return std::min(worth * kGiB / demand.accesses(),
                  std::max(demand.bound_ns(best) - fastest_ns, 0.0));
}

json answer_of(const Demand& demand, const std::vector<Tier>& tiers, const AsRecorded& lay,
               bool tells_moves) {
  std::vector<double> capacity;
  json rows = json::array();
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    capacity.push_back(tiers[i].bytes);
    rows.push_back({{"tier", i + 1},
                    {"latency_ns", tiers[i].latency_ns},
                    {"bytes", std::isfinite(tiers[i].bytes) ? json(std::llround(tiers[i].bytes))
                                                            : json(nullptr)}});
  }
  hmk::policy::Forecast forecast = demand.forecast(capacity);
  const Schedule moves = best_of(forecast);
  const double worth = worth_of_a_gib(moves, forecast, demand, tiers[0].latency_ns);
  forecast.is_static = true;
  const Schedule stays = best_of(forecast);
  const double bound = demand.bound_ns(moves);
  json placements = json::array();
  const auto add = [&](const char* name, json row) {
    if (row.is_null()) return;
    row["placement"] = name;
    row["of_best_percent"] = 100 * bound / row["latency_ns"].get<double>();
    placements.push_back(std::move(row));
  };
  add("as recorded", as_recorded(lay, tiers, tells_moves));
  add("best that stays", to_json(demand.outcome(stays)));
  add("best that moves", to_json(demand.outcome(moves.cost_ns < stays.cost_ns ? moves : stays)));
  return {{"tiers", rows},
          {"bound_ns", bound},
          {"next_gib_ns", worth},
          {"unknown_percent", 100 * lay.unknown() / demand.accesses()},
          {"placements", placements}};
}

const Table& tier_table() {
  static const Table kTable{
      "tiers",
      {{"tier", "TIER"}, {"latency_ns", "LATENCY", Unit::ns}, {"bytes", "BYTES", Unit::bytes}}};
  return kTable;
}

const Table& placement_table() {
  static const Table kTable{"placements",
                            {{"placement", "PLACEMENT"},
                             {"latency_ns", "LATENCY", Unit::ns},
                             {"of_best_percent", "OF BEST POSSIBLE", Unit::percent},
                             {"tier1_percent", "BY TIER 1", Unit::percent},
                             {"moved_bytes", "MOVED", Unit::bytes}}};
  return kTable;
}

void print_text(const json& answer) {
  const auto text = [&](const char* key, Unit unit) { return to_text(answer.at(key), unit); };
  const json window = answer.at("time_ns").get<double>() / answer.at("windows").get<double>();
  std::printf(
      "%s (PID %d): %s, %s in windows of %s\n\n%s\n%s\nNo placement that changes between windows "
      "takes less than %s an access; another GiB of tier 1 would save at most %s of it.\n",
      hmk::printable(answer["comm"].get<std::string>()).c_str(), answer["pid"].get<int>(),
      text("bytes", Unit::bytes).c_str(), text("time_ns", Unit::ns).c_str(),
      to_text(window, Unit::ns).c_str(), to_text(answer, {tier_table()}).c_str(),
      to_text(answer, {placement_table()}).c_str(), text("bound_ns", Unit::ns).c_str(),
      text("next_gib_ns", Unit::ns).c_str());
  if (answer["unknown_percent"].get<double>() >= 0.01)
    std::printf("%s of the accesses were to memory on nodes of no tier.\n",
                text("unknown_percent", Unit::percent).c_str());
}

int run_bound(const Context& context, const BoundOptions& options) {
  const auto frames = frames_of(options.file);
  if (!frames) return fail(context, frames.error());
  const auto heat = recorded_heat(options.file, *frames);
  if (!heat) return fail(context, heat.error());
  AsRecorded lay(frames->context->machine.tiers);
  if (const auto read = frames->each([&](const auto& frame) { lay.add(frame); }); !read)
    return fail(context, read.error());
  const auto tiers = tiers_of(options, *frames, lay);
  if (!tiers) return fail(context, tiers.error());
  std::vector<double> latency;
  for (const Tier& tier : *tiers) latency.push_back(tier.latency_ns);
  const double page_ns =
      options.page_ns != 0 ? options.page_ns : recorded_page_ns(frames->context->machine);
  const Demand demand(*heat, latency, page_ns);
  json answer;
  try {
    answer = answer_of(demand, *tiers, lay, frames->tells_moves);
  } catch (const std::invalid_argument& problem) {
    return fail(context, hmk::Error{problem.what(), "give one of them more bytes, see --tier"});
  }
  answer.update(about(*frames, *heat));
  answer.update({{"windows", heat->windows()},
                 {"bytes", std::llround(demand.bytes())},
                 {"move_ns", page_ns}});
  if (context.as_json)
    std::fputs(json_text(answer, 2).c_str(), stdout);
  else
    print_text(answer);
  return kOk;
}

/// "1=32GiB,2=64GiB": by the number of a tier what `parse` makes of the rest.
template <class Value, class Parse>
void add_by_tier(CLI::App& verb, const char* name, const char* help, Parse parse,
                 std::function<ByTier<Value>&()> values) {
  verb.add_option_function<std::vector<std::string>>(
          name,
          [=](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const std::size_t equals = std::min(text.find('='), text.size());
              const auto tier = hmk::parse_count(std::string_view(text).substr(0, equals));
              if (!tier || *tier == 0 || equals == text.size())
                throw CLI::ValidationError(name, "'" + text + "' is not NUMBER=VALUE");
              const auto value = parse(std::string_view(text).substr(equals + 1));
              if (!value) throw CLI::ValidationError(name, value.error().line());
              values()[*tier] = *value;
            }
          },
          help)
      ->delimiter(',');
}

}  // namespace

Run make_plan_bound(CLI::App& verb) {
  auto options = std::make_shared<BoundOptions>();
  verb.add_option("FILE", options->file, "what 'hmkctl record' has written")->required();
  add_by_tier<std::uint64_t>(
      verb, "--tier",
      "bytes of tiers, for example 1=32GiB,2=64GiB (default: the most that the process had there; "
      "the last: as much as needed)",
      hmk::parse_size, [options]() -> auto& { return options->bytes; });
  add_by_tier<hmk::Nanoseconds>(
      verb, "--latency", "of an access, for example 1=90ns,2=230ns (default: as recorded)",
      parse_time, [options]() -> auto& { return options->latency; });
  add_parsed(verb, "--move-cost",
             "a move of 4 KiB takes this from the program (default: as recorded, else 2us)",
             hmk::parse_duration, [options](hmk::Nanoseconds time) {
               options->page_ns = static_cast<double>(time.count());
             });
  return [options](const Context& context) { return run_bound(context, *options); };
}

}  // namespace hmkctl

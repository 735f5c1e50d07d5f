// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include "app.hpp"
#include "config/pins.hpp"
#include "gain_report.hpp"
#include "metrics/hot_set.hpp"
#include "page_classes.hpp"
#include "policy/pieces.hpp"

namespace hmk {
namespace {

using nlohmann::json;

/// The pin that names an address; null: none does.
json pin_at(const Target& target, std::uint64_t address) {
  const auto* const at = policy::range_in(std::span(target.pinned()), address, address + 1);
  return at == nullptr ? json() : json(to_string(target.config().pins[at->by]));
}

/// Of each pin that names memory of this process.
json pins_of(const Target& target) {
  const std::vector<Presence> there = target.pins_there();
  std::map<int, std::uint64_t> no_room;  // by tier
  for (const auto& [node, bytes] : target.pinned_no_room())
    no_room[tier_of_node(target.tiers(), node)] += bytes;
  json rows = json::array();
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (std::ranges::find(target.pinned(), i, &policy::Wanted::by) == target.pinned().end())
      continue;
    const Pin& pin = target.config().pins[i];
    rows.push_back({{"pin", to_string(pin)},
                    {"tier", pin.tier + 1},
                    {"bytes", there[i].bytes},
                    {"elsewhere_bytes", there[i].elsewhere_bytes},
                    {"no_room_bytes", std::min(there[i].elsewhere_bytes, no_room[pin.tier])}});
  }
  return rows;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

double from_q16(std::uint32_t q16) {
  return static_cast<double>(q16) / 65536.0;
}

/// Tiers count from 1 for people; null when it is not known.
json tier_number(int index) {
  return index < 0 ? json() : json(index + 1);
}

json or_null(std::uint32_t value) {
  return value == 0 ? json() : json(value);
}

/// Of the nodes of a tier.
template <class Value>
Value sum_over(const std::map<int, Value>& by_node, const std::vector<int>& nodes) {
  Value sum{};
  for (const int node : nodes)
    if (const auto here = by_node.find(node); here != by_node.end()) sum += here->second;
  return sum;
}

/// What of the page cache counts as room of a tier.
std::uint64_t cache_of(const Tier& tier, const App& app) {
  return app.config().reclaim_cache ? tier.cache_bytes : 0;
}

json tiers_of(Target& target, const App& app) {
  const std::map<int, std::uint64_t>& resident = target.resident(app.options().root);
  const std::map<int, double> hot = accesses_by_node(target.parts());
  double all_hot = 0;
  for (const auto& [node, value] : hot) all_hot += value;
  const auto hot_bytes = HotSet(target.parts()).bytes_by_node(target.parts());

  json rows = json::array();
  for (std::size_t t = 0; t < target.tiers().size(); ++t) {
    const Tier& tier = target.tiers()[t];
    const double here = sum_over(hot, tier.nodes);
    rows.push_back({{"tier", t + 1},
                    {"nodes", tier.nodes},
                    {"latency_ns", or_null(tier.latency_ns)},
                    {"resident_bytes", sum_over(resident, tier.nodes)},
                    {"accesses_per_s", std::llround(here)},
                    {"hot_share_percent", all_hot > 0 ? 100.0 * here / all_hot : 0.0},
                    {"hot_bytes", sum_over(hot_bytes, tier.nodes)},
                    {"free_bytes", tier.free_bytes},
                    {"cache_bytes", cache_of(tier, app)},
                    {"total_bytes", tier.total_bytes}});
  }
  return rows;
}

json last_interval_of(const Target& target) {
  if (!target.last()) return json();
  const LastInterval& last = *target.last();
  const hmk_interval& interval = last.interval;
  const std::uint64_t wall_ns = interval.end_ns - interval.start_ns;
  return {{"seq", interval.seq},
          {"regions", interval.nr_regions},
          {"samples", interval.nr_samples},
          {"wall_ns", wall_ns},
          {"profile_ns", interval.profile_ns},
          {"profiling_percent", percent(interval.profile_ns, wall_ns)},
          {"budget_percent", percent(interval.budget_ns, wall_ns)},
          {"planned_promote_bytes", last.planned_promote_bytes},
          {"planned_demote_bytes", last.planned_demote_bytes},
          {"promoted_bytes", last.promoted_bytes},
          {"demoted_bytes", last.demoted_bytes},
          {"moving", target.mover().is_busy()},
          {"moved_since_bytes", target.moved_since_bytes()},
          {"degraded", (interval.flags & HMK_INTERVAL_DEGRADED) != 0},
          {"truncated", (interval.flags & HMK_INTERVAL_TRUNCATED) != 0},
          {"late", (interval.flags & HMK_INTERVAL_LATE) != 0}};
}

std::string mode_of(const Target& target, const App& app) {
  return app.is_paused() ? "paused" : to_string(target.mode());
}

/// The rule of its class; null: it has the settings of all.
json class_of(const Target& target) {
  const std::string& own = target.config().own_class;
  return own.empty() ? json() : json(own);
}

std::string backend_of(const Target& target) {
  const std::string& instead = target.session().instead;
  return instead.empty() ? "module" : instead;
}

template <class Counters>
json refused_of(const Counters& moved) {
  json refused = json::object();
  for (unsigned reason = 0; reason < HMK_REFUSED_NR; ++reason)
    if (const auto name = refusal_name(reason); !name.empty())
      refused[std::string(name)] = moved.refused_bytes[reason];
  return refused;
}

json all_refused_of(const MoveCounters& moved) {
  json refused = refused_of(moved);
  refused["failed"] = moved.failed_bytes;
  return refused;
}

json pairs_of(const MoveCounters& moved) {
  json pairs = json::array();
  for (const auto& [tiers, pair] : moved.pairs) {
    json by_reason = json::object();
    for (std::size_t reason = 0; reason < kReasons; ++reason)
      by_reason[std::string(reason_name(static_cast<policy::Reason>(reason)))] =
          pair.bytes_by_reason[reason];
    pairs.push_back({{"from_tier", tier_number(tiers.first)},
                     {"to_tier", tier_number(tiers.second)},
                     {"moved_bytes", pair.moved_bytes},
                     {"moved_bytes_by_reason", by_reason},
                     {"refused_bytes", refused_of(pair)},
                     {"ranges", pair.ranges}});
  }
  return pairs;
}

json not_joined_of(const JoinCounters& joins) {
  json tries = json::object();
  for (std::size_t why = 0; why < kNotJoined; ++why)
    tries[std::string(not_joined_name(static_cast<NotJoined>(why)))] = joins.not_joined[why];
  return tries;
}

/// Null when nobody counts them.
json waits_of(const Target& target, const App& app) {
  const Waits* const waits = app.options().waits;
  const auto counted = waits == nullptr ? std::nullopt : waits->read(target.pid());
  if (!counted) return json();
  json buckets = json::array();
  for (std::size_t n = 0; n < HMK_WAIT_BUCKETS; ++n)
    if (counted->buckets[n] != 0)
      buckets.push_back({{"below_us", 2ull << n}, {"count", counted->buckets[n]}});
  return {{"count", counted->count},
          {"total_ns", counted->total_ns},
          {"longest_ns", counted->longest_ns},
          {"write_faults", counted->write_faults},
          {"buckets", std::move(buckets)}};
}

json stayed_of(const Target& target) {
  std::map<int, StayedCounters> by_tier;
  for (const auto& [node, stayed] : target.stayed())
    by_tier[tier_of_node(target.tiers(), node)] += stayed;
  json rows = json::array();
  for (const auto& [tier, stayed] : by_tier)
    rows.push_back({{"tier", tier_number(tier)},
                    {"no_gain_bytes", stayed.no_gain_bytes},
                    {"no_room_bytes", stayed.no_room_bytes},
                    {"thrash_bytes", stayed.thrash_bytes},
                    {"backed_off_bytes", stayed.backed_off_bytes}});
  return rows;
}

json numa_balancing_of(const Target& target) {
  const auto& seen = target.numa_balancing().seen();
  if (!seen) return json();
  return {{"on", seen->is_on},
          {"scans", seen->scans},
          {"moved_bytes", seen->moved_pages * HMK_PAGE_SIZE}};
}

/// Null while nobody asks for it.
json page_out_of(const Target& target) {
  const Pager& pager = target.pager();
  if (!pager.is_looking()) return json();
  const auto wakes = pager.cold().wakes_per_s();
  return {{"cold_bytes", pager.cold().bytes()},
          {"expected_refaults_per_s", wakes ? json(*wakes) : json()},
          {"swapped_bytes", pager.swapped_bytes()},
          {"paged_out_bytes", pager.counters().paged_out_bytes},
          {"refaults", pager.counters().refaults},
          {"refaults_per_s", pager.limit().refaults_per_s()},
          {"resting", pager.limit().is_resting()},
          {"refused", pager.counters().refused},
          {"ns", pager.counters().ns}};
}

json stats_of(Target& target, const App& app) {
  const MoveCounters& moved = target.mover().counters();
  const JoinCounters& joins = target.joins();
  json row{{"pid", target.pid()},
           {"comm", target.process().comm},
           {"rule", app.rule_of(target.pid())},
           {"class", class_of(target)},
           {"mode", mode_of(target, app)},
           {"budget_percent", target.config().overhead_bp / 100.0},
           {"planned_promote_bytes", target.planned_promote_bytes()},
           {"planned_demote_bytes", target.planned_demote_bytes()},
           {"promoted_bytes", moved.promoted_bytes},
           {"demoted_bytes", moved.demoted_bytes},
           {"returned_bytes", moved.returned_bytes},
           {"refused_bytes", all_refused_of(moved)},
           {"pairs", pairs_of(moved)},
           {"stayed", stayed_of(target)},
           {"plans_replaced", target.plans_replaced()},
           {"backed_off_ranges", target.mover().back_off().size()},
           {"pages_clean", moved.pages_clean},
           {"pages_recopied", moved.pages_recopied},
           {"pages_sync", moved.pages_sync},
           {"chunks", moved.chunks},
           {"chunks_switched", moved.chunks_switched},
           {"copy_ns", moved.copy_ns},
           {"commit_ns", moved.commit_ns},
           {"commit_max_ns", moved.commit_max_ns},
           {"huge_joined", joins.joined},
           {"huge_not_joined", not_joined_of(joins)},
           {"join_ns", joins.ns},
           {"join_max_ns", joins.longest_ns},
           {"page_out", page_out_of(target)},
           {"numa_balancing", numa_balancing_of(target)},
           {"waits", waits_of(target, app)},
           {"gain", report_gain(target)}};
  // A session that ends at this moment has no figures left: null, not zero.
  const Result<hmk_stats> stats = target.stats();
  if (!stats) return row;
  row["intervals"] = stats->intervals;
  row["profile_ns"] = stats->profile_ns;
  row["wall_ns"] = stats->wall_ns;
  row["profiling_percent"] = percent(stats->profile_ns, stats->wall_ns);
  row["late_intervals"] = stats->late_intervals;
  row["degraded_intervals"] = stats->degraded_intervals;
  row["flushes"] = stats->flushes;
  row["flush_ns"] = stats->flush_ns;
  row["groups"] = stats->groups;
  row["late_groups"] = stats->late_groups;
  row["state_bytes"] = stats->state_bytes;
  row["huge_examined"] = stats->huge_examined;
  row["huge_split"] = stats->huge_split;
  row["huge_left"] = stats->huge_left;
  return row;
}

const char* kind_name(unsigned kind) {
  static constexpr std::array kNames{"anon", "shmem"};
  return kind < kNames.size() ? kNames[kind] : "unknown";
}

json state_of(const hmk_record& record) {
  json states = json::array();
  if (record.flags & HMK_RECORD_STALE) states.push_back("not-sampled");
  return states;
}

json region_of(const hmk_record& record, const std::vector<Tier>& tiers) {
  return {{"start", record.start},
          {"length", record.length},
          {"generation", record.generation},
          {"hi", from_q16(record.hi_q16)},
          {"whi", from_q16(record.whi_q16)},
          {"rate", rate_per_page(record)},
          {"rate_factor", std::exp2(record.rate_dev_q8 / 256.0)},
          {"node", record.node},
          {"tier", tier_number(tier_of_node(tiers, record.node))},
          {"resident_bytes", std::uint64_t{record.resident_pages} * HMK_PAGE_SIZE},
          {"away_bytes", std::uint64_t{record.away_pages} * HMK_PAGE_SIZE},
          {"away_node", record.away_node},
          {"samples", record.samples},
          {"writes", record.writes},
          {"kind", kind_name(record.kind)},
          {"leaf_bytes", record.leaf_shift < 64 ? 1ull << record.leaf_shift : 0},
          {"state", state_of(record)}};
}

json regions_of(const Target& target, std::size_t limit, RegionOrder order) {
  const HotSet hot(target.snapshot().records);
  json rows = json::array();
  for (const hmk_record* const record :
       ordered(target.snapshot().records, order, limit, hot, target.tiers())) {
    json row = region_of(*record, target.tiers());
    row["hot_bytes"] = std::uint64_t{hot.pages(*record)} * HMK_PAGE_SIZE;
    const std::uint64_t hot_slow = hot_slow_bytes(*record, hot, target.tiers());
    row["hot_slow_bytes"] = hot_slow;
    if (hot_slow != 0) row["state"].push_back("hot-slow");
    rows.push_back(std::move(row));
  }
  return rows;
}

json sighting_row(const Sighting& seen, const Target& target) {
  return {{"seq", seen.seq},
          {"start", seen.start},
          {"length", seen.length},
          {"whi", from_q16(seen.whi_q16)},
          {"hi", from_q16(seen.hi_q16)},
          {"tier", tier_number(tier_of_node(target.tiers(), seen.node))},
          {"resident_bytes", std::uint64_t{seen.resident_pages} * HMK_PAGE_SIZE},
          {"samples", seen.samples}};
}

/// As moves name it; null: all pages.
json class_number(std::uint8_t page_class) {
  return page_class == 0 ? json() : json(page_class - 1);
}

json decision_row(const Decision& decision, const Target& target) {
  const policy::Move& move = decision.move;
  return {{"seq", decision.seq},
          {"action", action_name(decision)},
          {"reason", reason_text(move.reason)},
          {"class", class_number(move.page_class)},
          {"start", move.start},
          {"length", move.length},
          {"whi", from_q16(move.whi_q16)},
          {"from_tier", tier_number(tier_of_node(target.tiers(), move.from))},
          {"to_tier", tier_number(tier_of_node(target.tiers(), move.to))},
          {"promised_ns_per_s", target.balance().knows() ? json(move.saved_ns_per_s) : json()},
          {"now", report_gain_at(target, move.start, move.start + move.length)},
          {"outcome", outcome_text(decision)},
          {"moved_bytes", moved_pages(decision.result) * HMK_PAGE_SIZE}};
}

bool holds(const hmk_record& record, std::uint64_t address) {
  return record.start <= address && address - record.start < record.length;
}

/// The region that holds `address` now, and what keeps it from moving.
json region_now(const App& app, const Target& target, std::uint64_t address) {
  const std::vector<hmk_record>& records = target.snapshot().records;
  const auto found = std::ranges::find_if(
      records, [&](const hmk_record& record) { return holds(record, address); });
  if (found == records.end()) return json();
  json row = region_of(*found, target.tiers());
  row["pin"] = pin_at(target, address);
  if (!row["pin"].is_null()) row["state"].push_back("pinned");
  if (app.shared().is_of_another(target.pid(), address)) row["state"].push_back("shared");
  if (target.mover().back_off().is_blocked(found->start, found->length,
                                           target.snapshot().interval.seq))
    row["state"].push_back("backed-off");
  if (target.mover().ping_pong().is_blocked(found->start, found->length,
                                            target.snapshot().interval.seq))
    row["state"].push_back("thrash");
  return row;
}

/// The pages of that region by their hotness, where they are read one by one; the hottest first.
json classes_now(const Target& target, std::uint64_t address) {
  std::vector<hmk_record> classes;
  std::ranges::copy_if(target.parts(), std::back_inserter(classes), [&](const hmk_record& record) {
    return page_class(record) != 0 && holds(record, address);
  });
  std::ranges::stable_sort(classes, std::greater<>{}, page_class);
  json rows = json::array();
  for (const hmk_record& record : classes)
    rows.push_back({{"class", class_number(page_class(record))},
                    {"rate", rate_per_page(record)},
                    {"rate_factor", std::exp2(record.rate_dev_q8 / 256.0)},
                    {"tier", tier_number(tier_of_node(target.tiers(), record.node))},
                    {"resident_bytes", std::uint64_t{record.resident_pages} * HMK_PAGE_SIZE}});
  return rows;
}

}  // namespace

json report_why(const App& app, const Target& target, std::uint64_t start, std::uint64_t end) {
  json seen = json::array(), decided = json::array();
  for (const Sighting& one : target.history().sightings(start))
    seen.push_back(sighting_row(one, target));
  for (const Decision& one : target.history().decisions(start, end))
    decided.push_back(decision_row(one, target));
  return {{"pid", target.pid()},
          {"comm", target.process().comm},
          {"region", region_now(app, target, start)},
          {"classes", classes_now(target, start)},
          {"intervals", seen},
          {"decisions", decided}};
}

namespace {

json moment_row(const Moment& moment, const std::vector<Tier>& tiers) {
  json rows = json::array();
  for (const Tier& tier : tiers)
    rows.push_back({{"accesses", sum_over(moment.accesses, tier.nodes)},
                    {"resident_bytes", sum_over(moment.resident_bytes, tier.nodes)}});
  return {{"start_ns", moment.start_ns},
          {"end_ns", moment.end_ns},
          {"intervals", moment.intervals},
          {"managed", moment.is_managed},
          {"profile_ns", moment.profile_ns},
          {"promoted_bytes", moment.promoted_bytes},
          {"demoted_bytes", moment.demoted_bytes},
          {"planned_bytes", moment.planned_bytes},
          {"tiers", rows}};
}

}  // namespace

json report_history(const Target& target, std::size_t decisions) {
  json moments = json::array(), decided = json::array();
  for (const Moment& moment : target.timeline().moments())
    moments.push_back(moment_row(moment, target.tiers()));
  const auto all = target.history().decisions(0, UINT64_MAX);
  const std::size_t from = all.size() - std::min(all.size(), decisions);
  for (std::size_t d = from; d < all.size(); ++d) decided.push_back(decision_row(all[d], target));
  return {{"pid", target.pid()},
          {"comm", target.process().comm},
          {"intervals", target.history().nr_intervals()},
          {"moments", moments},
          {"nr_decisions", all.size()},
          {"decisions", decided}};
}

json report_past(const Target& target, std::size_t age) {
  const PastInterval* const past = target.history().interval(age);
  if (past == nullptr) return json();
  json rows = json::array();
  for (const Sighting& seen : past->regions)
    rows.push_back({{"start", seen.start},
                    {"length", seen.length},
                    {"hi", from_q16(seen.hi_q16)},
                    {"whi", from_q16(seen.whi_q16)},
                    {"rate", std::exp2(seen.rate_q8 / 256.0)},
                    {"node", seen.node},
                    {"resident_bytes", std::uint64_t{seen.resident_pages} * HMK_PAGE_SIZE}});
  return {{"pid", target.pid()},
          {"seq", past->seq},
          {"start_ns", past->start_ns},
          {"end_ns", past->end_ns},
          {"hotness_max", past->hotness_max},
          {"regions", rows}};
}

json report_daemon(const App& app) {
  const auto pressure = app.pressure().now_bp();
  return {{"version", HMK_VERSION},
          {"mode", to_string(app.config().mode)},
          {"paused", app.is_paused()},
          {"interval_ns", app.config().interval.count()},
          {"cache_dropped_bytes", app.cache_room().dropped_bytes()},
          {"memory_pressure_percent", pressure ? json(*pressure / 100.) : json()},
          {"promotions_paused", app.pressure().is_high()},
          {"socket", app.config().socket}};
}

json report_status(App& app, const std::vector<Target*>& shown) {
  json targets = json::array();
  for (Target* const target : shown)
    targets.push_back({{"pid", target->pid()},
                       {"comm", target->process().comm},
                       {"rule", app.rule_of(target->pid())},
                       {"class", class_of(*target)},
                       {"backend", backend_of(*target)},
                       {"mode", mode_of(*target, app)},
                       {"home_nodes", target->homes()},
                       {"tiers", tiers_of(*target, app)},
                       {"pins", pins_of(*target)},
                       {"gain", report_gain(*target)},
                       {"last_interval", last_interval_of(*target)}});
  return {{"daemon", report_daemon(app)}, {"targets", targets}};
}

json report_values(const App& app, std::span<const std::string_view> names) {
  json rows = json::array();
  for (const std::string_view name : names) {
    const Key& key = *find_key(name);
    const auto found = app.origins().find(name);
    const Origin origin = found == app.origins().end() ? Origin{} : found->second;
    rows.push_back({{"key", name},
                    {"value", key.get(app.config())},
                    {"default", key.get(Config{})},
                    {"source", to_string(origin.kind)},
                    {"place", origin.place.empty() ? json() : json(origin.place)},
                    {"takes_effect", key.is_live ? "now" : "at restart"},
                    {"values", key.help}});
  }
  return rows;
}

json report_gains(const std::vector<Target*>& targets) {
  json rows = json::array();
  for (const Target* const target : targets) rows.push_back(report_gain(*target));
  return {{"targets", rows}};
}

json report_stats(App& app, const std::vector<Target*>& shown) {
  json targets = json::array();
  for (Target* const target : shown) targets.push_back(stats_of(*target, app));
  return {{"targets", targets}};
}

json report_version(const App& app) {
  return {{"version",
           {{"hmkd", HMK_VERSION},
            {"abi_version", app.options().module_info.abi_version},
            {"features", feature_names(app.options().module_info)}}}};
}

json report_tiers(App& app, const Target* target) {
  TierQuestion question;
  question.fixed = app.config().tiers;
  if (target != nullptr) {
    question.homes = target->homes();
    question.mems_allowed = target->process().mems_allowed;
  }
  const Machine machine = app.see_machine();
  json rows = json::array();
  for (const Tier& tier : order_tiers(machine, question))
    rows.push_back({{"tier", rows.size() + 1},
                    {"nodes", tier.nodes},
                    {"latency_ns", or_null(tier.latency_ns)},
                    {"bandwidth_mib", or_null(tier.bandwidth_mib)},
                    {"free_bytes", tier.free_bytes},
                    {"cache_bytes", cache_of(tier, app)},
                    {"reserve_bytes", reserve_for(app.config(), tier.total_bytes)},
                    {"total_bytes", tier.total_bytes}});
  return {{"order", {{"source", tier_source(machine, question)}, {"home_nodes", question.homes}}},
          {"tiers", rows}};
}

json report_plans(const std::vector<Target*>& targets) {
  json rows = json::array();
  for (const Target* const target : targets) {
    if (!target->follower()) continue;
    const Follower& follower = *target->follower();
    rows.push_back(
        {{"pid", target->pid()},
         {"comm", target->process().comm},
         {"made_from",
          {{"pid", follower.plan().made_from.pid}, {"comm", follower.plan().made_from.comm}}},
         {"window", follower.window() + 1},
         {"windows", follower.plan().windows},
         {"window_ns", follower.plan().window_ns},
         {"found_percent", follower.found_percent()},
         {"misplaced_bytes", follower.misplaced_bytes()}});
  }
  return {{"plans", rows}};
}

json report_regions(const std::vector<Target*>& targets, std::size_t limit, RegionOrder order) {
  json rows = json::array();
  for (const Target* const target : targets)
    rows.push_back({{"pid", target->pid()},
                    {"comm", target->process().comm},
                    {"seq", target->snapshot().interval.seq},
                    {"start_ns", target->snapshot().interval.start_ns},
                    {"end_ns", target->snapshot().interval.end_ns},
                    {"hotness_max", target->snapshot().interval.hotness_max},
                    {"nr_regions", target->snapshot().records.size()},
                    {"regions", regions_of(*target, limit, order)}});
  return {{"targets", rows}};
}

}  // namespace hmk

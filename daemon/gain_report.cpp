// SPDX-License-Identifier: MIT
#include "gain_report.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <map>
#include <utility>

#include "config/whom.hpp"

namespace hmk {
namespace {

using nlohmann::json;
using policy::Ledger;

std::string ms(double ns) {
  const double value = ns / 1e6;
  return fmt::format("{:.{}f}", value, std::abs(value) < 10 ? 1 : 0);
}

/// Of what was promised for the memory that lies elsewhere now, the part that it saves.
json kept(const Ledger::Figures& figures) {
  return figures.promised > 0 ? json(figures.realized / figures.promised) : json();
}

/// The pairs of nodes between two tiers, together.
struct TierPair {
  Ledger::Figures figures;
  struct Mean {
    double ns = 0, of = 0;
    void add(double one) {
      ns += one;
      ++of;
    }
    json told() const { return of > 0 ? json(ns / of) : json(); }
  };
  Mean page, huge_page;
};

json pairs_of(const Target& target) {
  std::map<std::pair<int, int>, TierPair> by_tiers;
  const policy::MoveCosts& costs = target.balance().costs();
  for (const auto& [nodes, figures] : target.balance().ledger().pairs()) {
    const auto [from, to] = nodes;
    TierPair& pair =
        by_tiers[{tier_of_node(target.tiers(), from), tier_of_node(target.tiers(), to)}];
    pair.figures.promised += figures.promised;
    pair.figures.realized += figures.realized;
    pair.figures.spent += figures.spent;
    for (const bool is_huge : {false, true})
      if (const double ns = costs.ns_per_page(from, to, is_huge, 0); ns > 0)
        (is_huge ? pair.huge_page : pair.page).add(ns);
  }
  const auto number = [](int tier) { return tier < 0 ? json() : json(tier + 1); };
  json rows = json::array();
  for (const auto& [tiers, pair] : by_tiers)
    rows.push_back({{"from_tier", number(tiers.first)},
                    {"to_tier", number(tiers.second)},
                    {"promised_ns_per_s", pair.figures.promised},
                    {"saves_ns_per_s", pair.figures.realized},
                    {"costs_ns_per_s", pair.figures.spent},
                    {"page_ns", pair.page.told()},
                    {"huge_page_ns", pair.huge_page.told()}});
  return rows;
}

json persistence_of(const policy::Persistence& persistence) {
  json rows = json::array();
  for (std::size_t lag = 0; lag < persistence.stays().known(); ++lag)
    rows.push_back({{"intervals", policy::Persistence::kLags[lag]},
                    {"share_percent", 100 * *persistence.stays().share(lag)},
                    {"beyond_others_percent", 100 * *persistence.stands_out().share(lag)}});
  return rows;
}

}  // namespace

std::string gain_text(const Target& target) {
  const policy::Balance& balance = target.balance();
  if (!target.last()) return "not known before the first interval";
  if (!balance.knows())
    return "not known: the latencies of the tiers are unknown or not in their order";
  if (target.mode() != Mode::manage)
    return fmt::format("could save {} ms/s, for {} ms once", ms(balance.advice().saves),
                       ms(balance.advice().costs));
  const Ledger::Figures& total = balance.ledger().total();
  std::string text = fmt::format("saves {} +- {} ms/s, costs {} ms/s", ms(total.realized),
                                 ms(balance.ledger().realized_dev()),
                                 ms(total.spent + balance.ledger().profiling()));
  if (total.promised > 0)
    text += fmt::format(", kept {:.1f} of what was promised", total.realized / total.promised);
  if (balance.governor().divisor() > 1)
    text += fmt::format(", promote limit 1/{}", balance.governor().divisor());
  return text;
}

json report_gain(const Target& target) {
  const policy::Balance& balance = target.balance();
  const Ledger& ledger = balance.ledger();
  json row{{"pid", target.pid()},
           {"comm", target.process().comm},
           {"mode", to_string(target.mode())},
           {"text", gain_text(target)},
           {"governed", is_governed(target.config(), target.pid(), target.process().comm)},
           {"promote_limit_divisor", balance.governor().divisor()},
           {"horizon_intervals", balance.measured().horizon},
           {"exchange_horizon_intervals", balance.measured().exchange_horizon},
           {"exchanges_kept", balance.exchanges().kept()},
           {"persistence", persistence_of(balance.persistence())},
           {"displaced_bytes", ledger.displaced_bytes()}};
  if (!target.last() || !balance.knows()) return row;
  const Ledger::Figures& total = ledger.total();
  row.update({{"saves_ns_per_s", total.realized},
              {"saves_dev_ns_per_s", ledger.realized_dev()},
              {"promised_ns_per_s", total.promised},
              {"kept", kept(total)},
              {"costs_ns_per_s", total.spent + ledger.profiling()},
              {"moves_ns_per_s", total.spent},
              {"profiling_ns_per_s", ledger.profiling()},
              {"could_save_ns_per_s", balance.advice().saves},
              {"could_cost_ns", balance.advice().costs},
              {"cpu_ns_per_s", balance.cpu()},
              {"scale", balance.measured().scale},
              {"saved_ns", ledger.sums().saved},
              {"promised_ns", ledger.sums().promised},
              {"spent_ns", ledger.sums().spent},
              {"pairs", pairs_of(target)}});
  return row;
}

json report_gain_at(const Target& target, std::uint64_t start, std::uint64_t end) {
  if (!target.balance().knows()) return json();
  const Ledger::Figures figures = target.balance().ledger().figures(start, end);
  if (figures.promised == 0 && figures.realized == 0) return json();
  return {{"promised_ns_per_s", figures.promised}, {"saves_ns_per_s", figures.realized}};
}

}  // namespace hmk

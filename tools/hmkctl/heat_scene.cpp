// SPDX-License-Identifier: MIT
#include "heat_scene.hpp"

#include <algorithm>
#include <cstdio>

#include "table.hpp"

namespace hmkctl {

HeatScene::HeatScene(const HeatMap& map, std::string title, const hmk::RecordedContext& context)
    : map_(map), title_(std::move(title)), mappings_(context.mappings), scale_(make_scale()) {
  for (const hmk::RecordedTier& tier : context.machine.tiers) {
    for (const int node : tier.nodes) place_of_node_.emplace(node, places_.size());
    places_.push_back(
        "tier " + std::to_string(places_.size() + 1) +
        (tier.latency_ns == 0 ? "" : " (" + std::to_string(tier.latency_ns) + " ns)"));
  }
  std::map<int, int> seen;
  for (std::size_t row = 0; row < map.rows(); ++row)
    for (std::size_t column = 0; column < map.columns(); ++column)
      if (const auto node = map.node(row, column)) ++seen[*node];
  for (const auto& [node, cells] : seen)
    if (place_of_node_.emplace(node, places_.size()).second)
      places_.push_back(node < 0 ? "node not known" : "node " + std::to_string(node));
  if (context.machine.tiers.empty())
    notes_.emplace_back("tiers are not known: colours and numbers are of nodes");
  if (mappings_.empty())
    notes_.emplace_back("names of mappings are not known: not recorded, or not shown to this user");
  if (!map.has_rates())
    notes_.emplace_back("rates of access are not known: heat is smoothed hotness");
  if (scale_.is_empty()) notes_.emplace_back("no access was seen");
}

std::optional<double> HeatScene::heat(std::size_t row, std::size_t column) const {
  if (map_.has_rates()) return map_.rate(row, column);
  const auto share = map_.at(row, column);
  return share ? std::optional(100 * *share) : std::nullopt;
}

HeatScale HeatScene::make_scale() const {
  std::vector<double> all;
  for (std::size_t row = 0; row < map_.rows(); ++row)
    for (std::size_t column = 0; column < map_.columns(); ++column)
      if (const auto one = heat(row, column)) all.push_back(*one);
  return {std::move(all),
          map_.has_rates() ? HeatScale::Kind::logarithmic : HeatScale::Kind::linear};
}

std::optional<HeatScene::Cell> HeatScene::cell(std::size_t row, std::size_t column) const {
  const auto value = heat(row, column);
  if (!value) return std::nullopt;
  return Cell{*value, place_of_node_.at(map_.node(row, column).value_or(-1))};
}

std::optional<HeatScene::Name> HeatScene::name(std::size_t row) const {
  if (mappings_.empty()) return std::nullopt;
  std::map<std::string, std::uint64_t> bytes;
  for (Span piece : map_.pieces(row))
    while (piece.start < piece.end) {
      // The mapping that ends first behind it; what lies before that one has no name.
      const auto& all = mappings_.all();
      const auto next = std::ranges::upper_bound(all, piece.start, {}, &Mapping::end);
      const bool is_in = next != all.end() && next->start <= piece.start;
      const std::uint64_t until = std::min(piece.end, next == all.end() ? piece.end
                                                      : is_in           ? next->end
                                                                        : next->start);
      if (is_in) bytes[next->name] += until - piece.start;
      piece.start = until;
    }
  if (bytes.empty()) return Name{"-"};
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; });
  return Name{most->first, bytes.size() - 1};
}

std::string HeatScene::measure() const {
  return map_.has_rates() ? "accesses per second and page" : "smoothed hotness";
}

std::string HeatScene::value_text(double heat) const {
  char text[32];
  std::snprintf(text, sizeof(text),
                !map_.has_rates() ? "%.0f %%"
                : heat < 100      ? "%.2g"
                                  : "%.0f",
                heat);
  return text;
}

std::string HeatScene::size_text() const {
  return std::to_string(map_.frames()) + (map_.frames() == 1 ? " interval in " : " intervals in ") +
         to_text(static_cast<double>(map_.time_ns()), Unit::ns) + ", a row is " +
         to_text(map_.bytes_per_row(), Unit::bytes);
}

}  // namespace hmkctl

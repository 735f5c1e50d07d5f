// SPDX-License-Identifier: MIT
//
// What a picture of a heat map shows besides its cells: places (tiers), names of mappings, a scale,
// and in one line each what is not known. The same for a terminal, an SVG and a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heat_map.hpp"
#include "heat_scale.hpp"
#include "mappings.hpp"

namespace hmkctl {

class HeatScene {
 public:
  /// `context`: what is empty there is not known, and said so. `map` must outlive it.
  HeatScene(const HeatMap& map, std::string title, const hmk::RecordedContext& context);

  struct Cell {
    double heat = 0;        ///< as scale() takes it
    std::size_t place = 0;  ///< index of places()
  };
  /// None where no memory was.
  std::optional<Cell> cell(std::size_t row, std::size_t column) const;
  struct Name {
    std::string most;        ///< the mapping that holds most of the row, "-" where none is
    std::size_t others = 0;  ///< further mappings in it
  };
  /// None where names are not known.
  std::optional<Name> name(std::size_t row) const;

  const HeatMap& map() const { return map_; }
  const std::string& title() const { return title_; }
  const Mappings& mappings() const { return mappings_; }
  /// "tier 1 (90 ns)"; "node 3" where tiers are not known or hold no such node.
  const std::vector<std::string>& places() const { return places_; }
  const HeatScale& scale() const { return scale_; }
  /// "accesses per second and page" or "smoothed hotness"; a value of it as text.
  std::string measure() const;
  std::string value_text(double heat) const;
  /// "12 intervals in 12.0s, a row is 2.0MiB"
  std::string size_text() const;
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::optional<double> heat(std::size_t row, std::size_t column) const;
  HeatScale make_scale() const;

  const HeatMap& map_;
  std::string title_;
  Mappings mappings_;
  std::vector<std::string> places_, notes_;
  std::map<int, std::size_t> place_of_node_;
  HeatScale scale_;
};

}  // namespace hmkctl

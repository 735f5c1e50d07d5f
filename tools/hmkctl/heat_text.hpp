// SPDX-License-Identifier: MIT
//
// A heat map as text: in colours one character a cell, its brightness the heat and its hue the
// tier, with the tier's number where a run of one tier begins; without colours two, a shade and the
// number.
#pragma once

#include <cstdint>
#include <string>

#include "heat_scene.hpp"

namespace hmkctl {

inline constexpr std::size_t kHeatLevels = 5;
/// xterm's colours of a place, dark to bright; those of many places repeat the last.
std::uint8_t heat_colour(std::size_t place, std::size_t level);

/// Columns beside the cells; lines besides the rows, at most.
inline constexpr std::size_t kHeatMargin = 36, kHeatLinesBeside = 12;
/// Characters of a cell.
constexpr std::size_t heat_cell_width(bool is_coloured) {
  return is_coloured ? 1 : 2;
}

std::string draw_text(const HeatScene& scene, bool is_coloured);

}  // namespace hmkctl

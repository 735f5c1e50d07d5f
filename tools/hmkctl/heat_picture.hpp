// SPDX-License-Identifier: MIT
//
// A heat map as SVG: hue is the tier, strength the heat; borders and names of mappings at the side,
// a dashed line at each hole, time below. In the colour of the page around it.
#pragma once

#include <string>

#include "heat_scene.hpp"

namespace hmkctl {

/// For an HTML page: with its caption.
std::string heat_figure(const HeatScene& scene);
/// A file of its own, on white.
std::string heat_svg(const HeatScene& scene);

}  // namespace hmkctl

// SPDX-License-Identifier: MIT
//
// The simulator beside figures of guests, which are its licence to speak.
//
//   [{"workload": "gups-stable", "system": "first-touch", "ns_per_op": 161.4, "tier1_share":
//   0.456}]
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hmk::sim {

struct GuestFigure {
  std::string workload, system;
  double ns_per_op = 0;
  double tier1_share = 0;
};

/// Throws std::invalid_argument with one line when it is no such list.
std::vector<GuestFigure> read_guest_figures(const std::string& path);

/// Prints those of `guest` that `simulated` (to_json()) has, beside it, and names the others.
/// Whether all that were compared agree within kMostApart, and one at least was.
inline constexpr double kMostApart = 0.10;
bool lay_beside(const std::vector<GuestFigure>& guest, const nlohmann::ordered_json& simulated);

}  // namespace hmk::sim
